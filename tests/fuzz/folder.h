// SPDX-License-Identifier: GPL-2.0-or-later
//
// A folder of files that hold what the fuzzer says, as a machine's /proc or /var
// would. Written anew only where they change, by descriptors that stay open: a call
// of the kernel costs more than most of what is tried.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "tests/fuzz/require.h"

namespace lattop::fuzz {

/// Removed when the fuzzer ends; one that it stopped in is left behind.
class Folder {
public:
    Folder() {
        const char* place = std::getenv("TMPDIR");
        path_ = std::string(place == nullptr ? "/tmp" : place) + "/lattop-fuzz-XXXXXX";
        REQUIRE(::mkdtemp(path_.data()) != nullptr);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] const std::string& path() const { return path_; }

    void write(const std::string& name, std::string_view text) {
        if (!changed(name, text)) return;
        const auto [found, added] = files_.try_emplace(name, -1);
        if (added)
            found->second = ::open(place(name).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        REQUIRE(::pwrite(found->second, text.data(), text.size(), 0) == std::ssize(text));
        REQUIRE(::ftruncate(found->second, std::ssize(text)) == 0);
    }

    /// A link to `target`; none where a link cannot lead there.
    void link(const std::string& name, std::string_view target) {
        if (!changed(name, target)) return;
        const std::string link = place(name);
        const std::string path(target.substr(0, target.find('\0')));
        ::unlink(link.c_str());
        // One that is too long for the kernel leads nowhere
        if (!path.empty()) static_cast<void>(::symlink(path.c_str(), link.c_str()) == 0);
    }

private:
    bool changed(const std::string& name, std::string_view text) {
        const auto [found, added] = written_.try_emplace(name);
        if (!added && found->second == text) return false;
        found->second = text;
        return true;
    }
    std::string place(const std::string& name) {
        std::string path = path_ + "/" + name;
        const std::string_view folder(path.data(), path.rfind('/'));
        if (folders_.emplace(folder).second) std::filesystem::create_directories(folder);
        return path;
    }

    std::string path_;
    std::map<std::string, std::string> written_;
    std::map<std::string, int> files_;  // closed with the fuzzer
    std::set<std::string, std::less<>> folders_;
};

}  // namespace lattop::fuzz
