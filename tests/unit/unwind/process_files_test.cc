// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which file stands for a mapping.
#include "unwind/process_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"

namespace lattop::test {
namespace {

ProcessFiles own_files() {
    auto files = ProcessFiles::open("/proc", static_cast<std::uint32_t>(::getpid()),
                                    start_ns_of(::getpid()));
    REQUIRE(files);
    return *std::move(files);
}

/// One that this process has not got (any more), of the file that has this path by now.
Mapping gone(const std::string& path, std::uint64_t inode) {
    return {.start = 0x1000, .end = 0x2000, .inode = inode, .path = path};
}

std::uint64_t inode_of(const std::string& path) {
    struct stat info {};
    REQUIRE(::stat(path.c_str(), &info) == 0);
    return info.st_ino;
}

}  // namespace

TEST_CASE("a mapping that has gone is the file of its path, where that is the same one") {
    const TempFolder folder;
    const std::string path = folder.path() + "/mapped";
    std::ofstream(path) << "bytes";
    const ProcessFiles files = own_files();
    CHECK(files.mapped_file(gone(path, inode_of(path))));
    CHECK_FALSE(files.mapped_file(gone(path, inode_of(path) + 1)));
    std::filesystem::remove(path);
    CHECK_FALSE(files.mapped_file(gone(path, 1)));
}

TEST_CASE("a file of /proc is never the mapped one by its path") {
    // The process mounts there what it likes, and a server of FUSE chooses the inode's number
    for (const std::string path : {"/proc/version", "/proc/kmsg"}) {
        if (!std::filesystem::exists(path)) continue;
        CHECK_FALSE(own_files().mapped_file(gone(path, inode_of(path))));
    }
}

}  // namespace lattop::test
