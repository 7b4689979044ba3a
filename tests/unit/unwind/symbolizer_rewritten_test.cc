// SPDX-License-Identifier: GPL-2.0-or-later
//
// A file that is another one by now, though its inode, size and time say the same.
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"
#include "unwind/symbolizer.h"

namespace lattop::test {

TEST_CASE("a file that was written over is named anew, whatever time it says") {
    constexpr int kLines = 10;
    constexpr std::string_view kBefore = "plain_function";
    constexpr std::string_view kBehind = "other_function";
    const TempFolder folder;
    const std::string path = folder.path() + "/program";
    std::filesystem::copy_file(std::string(LATTOP_TEST_PROGRAMS) + "/symbols_pie", path);
    const auto time = std::filesystem::last_write_time(path);
    Symbolizer symbolizer;
    const auto name = [&] {
        const Child child(path, kLines);
        const std::array<std::uint64_t, 1> addresses = {child.address("plain")};
        const Naming naming = symbolizer.name(child.task(), addresses, 1);
        REQUIRE(naming.stack.frames.size() == 1);
        return naming.stack.frames[0]->symbol;
    };
    CHECK(name() == kBefore);

    std::string bytes = content_of(path);
    for (std::size_t at = 0; (at = bytes.find(kBefore, at)) != bytes.npos;)
        bytes.replace(at, kBefore.size(), kBehind);
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << bytes;
    std::filesystem::last_write_time(path, time);
    CHECK(name() == kBehind);
}

}  // namespace lattop::test
