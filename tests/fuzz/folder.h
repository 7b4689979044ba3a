// SPDX-License-Identifier: GPL-2.0-or-later
//
// A folder of files that hold what the fuzzer says, as a machine's /proc or /var
// would. Written anew only where they change.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
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
        std::ofstream(place(name), std::ios::binary | std::ios::trunc) << text;
    }

    /// A link to `target`; none where a link cannot lead there.
    void link(const std::string& name, std::string_view target) {
        if (!changed(name, target)) return;
        std::error_code ignored;
        std::filesystem::remove(place(name), ignored);
        const std::string_view path = target.substr(0, target.find('\0'));
        if (!path.empty()) std::filesystem::create_symlink(path, place(name), ignored);
    }

private:
    bool changed(const std::string& name, std::string_view text) {
        const auto [found, added] = written_.try_emplace(name);
        if (!added && found->second == text) return false;
        found->second = text;
        return true;
    }
    std::string place(const std::string& name) {
        const std::filesystem::path path = path_ + "/" + name;
        std::filesystem::create_directories(path.parent_path());
        return path;
    }

    std::string path_;
    std::map<std::string, std::string> written_;
};

}  // namespace lattop::fuzz
