// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/debug_files.h"

#include <fcntl.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"

namespace lattop::test {
namespace {

/// A program beside its folder .debug, with no build id.
struct LinkedProgram {
    LinkedProgram(const std::string& beside, const std::string& in_debug) {
        std::filesystem::create_directory(folder.path() + "/.debug");
        std::ofstream(folder.path() + "/p.debug") << beside;
        std::ofstream(folder.path() + "/.debug/p.debug") << in_debug;
    }

    [[nodiscard]] DebugFileSearch search(off_t most) const {
        // CRC-32 of "123456789", as every description of it has it.
        return {{.link = "p.debug", .link_crc = 0xcbf43926},
                folder.path() + "/p",
                "/nowhere",
                [](const UniqueFd&) { return DebugName{}; },
                most};
    }

    TempFolder folder;
};

UniqueFd open_debug_file(const std::string& path) {
    return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

}  // namespace

TEST_CASE("a debug file is known by its checksum, of so many bytes at most") {
    const LinkedProgram program("another one", "123456789");
    CHECK(program.search(20).find(open_debug_file));
    CHECK(!program.search(19).find(open_debug_file));
    CHECK(!LinkedProgram("another one", "too").search(100).find(open_debug_file));
}

TEST_CASE("a file that is not the debug file is read once, by whatever root it is found") {
    const TempFolder folder;
    std::ofstream(folder.path() + "/p.debug") << "another one";
    int read = 0;
    const IdentifyFile identify = [&](const UniqueFd&) {
        ++read;
        return DebugName{.build_id = "abcd"};
    };
    DebugFileSearch search({.build_id = "1234", .link = "p.debug"}, folder.path() + "/p",
                           "/nowhere", identify);
    CHECK(!search.find(open_debug_file));
    CHECK(!search.find(open_debug_file));
    CHECK(read == 1);
}

}  // namespace lattop::test
