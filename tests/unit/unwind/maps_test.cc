// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/maps.h"

#include <fmt/format.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <string>

#include "tests/unit/support/catch.h"

namespace lattop::test {

TEST_CASE("executable mappings are parsed, the others left out") {
    const auto maps = parse_maps(
        "00400000-00452000 r-xp 00001000 08:02 173521      /usr/bin/dbus-daemon\n"
        "00651000-00652000 r--p 00051000 08:02 173521      /usr/bin/dbus-daemon\n"
        "7ffc1000-7ffc2000 r-xp 00000000 00:00 0           [vdso]\n"
        "7ffd0000-7ffd1000 rwxp 00000000 00:00 0 \n");
    REQUIRE(maps.size() == 3);
    CHECK(maps[0].start == 0x400000);
    CHECK(maps[0].end == 0x452000);
    CHECK(maps[0].offset == 0x1000);
    CHECK(maps[0].device == ::makedev(8, 2));
    CHECK(maps[0].inode == 173521);
    CHECK(maps[0].path == "/usr/bin/dbus-daemon");
    CHECK(maps[1].path == "[vdso]");
    CHECK(maps[2].path.empty());
}

TEST_CASE("paths may hold anything") {
    const auto maps = parse_maps(
        "1000-2000 r-xp 0 08:02 1 /a b (deleted)\n"
        "2000-3000 r-xp 0 08:02 1 /new\\012line\n"
        "3000-4000 r-xp 0 08:02 1 /\xff\x1b[2J\n"
        "4000-5000 r-xp 0 08:02 1 /no newline at the end");
    REQUIRE(maps.size() == 4);
    CHECK(maps[0].path == "/a b (deleted)");
    CHECK(maps[0].deleted);
    CHECK(maps[1].path == "/new\nline");
    CHECK(!maps[1].deleted);
    CHECK(maps[2].path == "/\xff\x1b[2J");
    CHECK(maps[3].path == "/no newline at the end");
    CHECK(module_name(maps[0].path) == "a b");
}

TEST_CASE("lines that are no mappings are skipped") {
    for (const char* text :
         {"", "\n\n", "x", "1000", "1000-", "1000-2000", "1000-2000 r-xp", "1000-2000 r-xp 0 08:02",
          "2000-1000 r-xp 0 08:02 1 /a", "1000-2000 r 0 08:02 1 /a", "zzzz-2000 r-xp 0 08:02 1 /a",
          "11112222333344445-9 r-xp 0 0:0 1 /a"})
        CHECK(parse_maps(text).empty());
}

TEST_CASE("of a path longer than any that can be opened the end is kept") {
    const std::string line = "1000-2000 r-xp 00000000 08:02 1                          ";
    const std::string longest = "/" + std::string(kMaxMappedPath - 1, 'a');
    CHECK(parse_maps(line + longest).at(0).path == longest);
    CHECK(parse_maps(line + "/" + longest).at(0).path == "..." + longest);

    std::string folders;
    while (folders.size() < (std::size_t{16} << 20))
        folders += "/" + std::string(255, 'f');
    const auto deep = parse_maps(line + folders + "/end (deleted)\n3000-4000 r-xp 0 08:02 1 /next");
    REQUIRE(deep.size() == 2);
    CHECK(deep[0].path.size() == 3 + kMaxMappedPath);
    CHECK(module_name(deep[0].path) == "end");
    CHECK(deep[0].deleted);
    CHECK(deep[1].path == "/next");
}

TEST_CASE("paths of newlines take no longer than others") {
    // Taken out one by one, each by moving what is behind it, this would be a day
    std::string newlines = "1000-2000 r-xp 0 08:02 1 /";
    while (newlines.size() < (std::size_t{64} << 20))
        newlines += "\\012";
    CHECK(parse_maps(newlines).at(0).path == "..." + std::string(kMaxMappedPath, '\n'));
}

TEST_CASE("maps are the same in whatever pieces they come") {
    std::string text;
    for (int i = 1; i <= 40; ++i)
        text += fmt::format("{}000-{}fff r-xp 0 08:02 {} /{}\\012b\n", i, i, i,
                            std::string(static_cast<std::size_t>(i) * 1000, 'a'));
    text += "50000-60000 r-xp 0 08:02 1 /last";
    const auto whole = parse_maps(text);
    REQUIRE(whole.size() == 41);
    for (const std::size_t piece : {1U, 7U, 255U, 4096U, 16384U}) {
        MapsParser parser;
        for (std::size_t at = 0; at < text.size(); at += piece)
            parser.add(std::string_view(text).substr(at, piece));
        const auto maps = parser.finish();
        REQUIRE(maps.size() == whole.size());
        CHECK(std::ranges::equal(maps, whole, same_mapping));
        CHECK(parser.finish().empty());
    }
}

TEST_CASE("an address is found in the mapping that holds it") {
    const auto maps = parse_maps(
        "3000-4000 r-xp 0 0:0 1 /b\n"
        "1000-2000 r-xp 0 0:0 1 /a\n");
    const std::vector<std::pair<std::uint64_t, const char*>> cases = {
        {0xfff, nullptr}, {0x1000, "/a"}, {0x1fff, "/a"},    {0x2000, nullptr},
        {0x3000, "/b"},   {0x3fff, "/b"}, {0x4000, nullptr},
    };
    for (const auto& [address, path] : cases) {
        const Mapping* mapping = find_mapping(maps, address);
        CHECK((mapping != nullptr) == (path != nullptr));
        if (mapping != nullptr) CHECK(mapping->path == path);
    }
    CHECK(find_mapping({}, 1) == nullptr);
}

}  // namespace lattop::test
