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
#include <map>
#include <string>
#include <string_view>

#include "tests/fuzz/bytes.h"
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
        Item* item = changed(name, text);
        if (item == nullptr) return;
        if (item->fd < 0)
            item->fd = ::open(item->path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        write_over(item->fd, text, item->text.size());
        item->text = text;
    }

    /// A link to `target`; none where a link cannot lead there.
    void link(const std::string& name, std::string_view target) {
        Item* item = changed(name, target);
        if (item == nullptr) return;
        item->text = target;
        ::unlink(item->path.c_str());
        const std::string path(target.substr(0, target.find('\0')));
        // One that is too long for the kernel leads nowhere
        if (!path.empty()) static_cast<void>(::symlink(path.c_str(), item->path.c_str()) == 0);
    }

private:
    struct Item {
        std::string path;
        std::string text;  // or where it leads
        int fd = -1;       // of a file; closed with the fuzzer
    };

    /// What is to be written anew, and to have that text then; nullptr where it is as it should be.
    Item* changed(const std::string& name, std::string_view text) {
        const auto [found, added] = items_.try_emplace(name);
        Item& item = found->second;
        if (!added && item.text == text) return nullptr;
        if (added) {
            item.path = path_ + "/" + name;
            std::filesystem::create_directories(std::filesystem::path(item.path).parent_path());
        }
        return &item;
    }

    std::string path_;
    std::map<std::string, Item> items_;
};

}  // namespace lattop::fuzz
