// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/perf_map.h"

#include <fcntl.h>

#include <fstream>

#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"

namespace lattop::test {
namespace {

/// A perf map with that text.
struct MapFile {
    void write(const std::string& text) { std::ofstream(path, std::ios::trunc) << text; }
    void append(const std::string& text) { std::ofstream(path, std::ios::app) << text; }
    void read() { map.read(UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC))); }
    std::string name_at(std::uint64_t address) const {
        const auto function = map.find(address);
        return function ? std::string(function->name) : "";
    }

    TempFolder folder;
    std::string path = folder.path() + "/perf-1.map";
    PerfMap map;
};

}  // namespace

TEST_CASE("a perf map names the code between start and end") {
    MapFile file;
    file.write("7f00 10 LazyCompile:~run /srv/app.js:3\n0x8000 0x20 with 0x\n");
    file.read();
    CHECK(file.name_at(0x7eff).empty());
    CHECK(file.name_at(0x7f00) == "LazyCompile:~run /srv/app.js:3");
    CHECK(file.name_at(0x7f0f) == "LazyCompile:~run /srv/app.js:3");
    CHECK(file.name_at(0x7f10).empty());
    CHECK(file.name_at(0x801f) == "with 0x");
}

TEST_CASE("what a JIT appends is read, a line half written is not yet") {
    MapFile file;
    file.write("1000 10 first\n2000 10 seco");
    file.read();
    CHECK(file.name_at(0x1000) == "first");
    CHECK(file.name_at(0x2000).empty());
    file.append("nd\n1000 20 in its place\n");
    file.read();
    CHECK(file.name_at(0x2000) == "second");
    CHECK(file.name_at(0x1010) == "in its place");
    file.write("3000 10 new\n");
    file.read();
    CHECK(file.name_at(0x1000).empty());
    CHECK(file.name_at(0x3000) == "new");
}

TEST_CASE("of code that was made where other code was, the last line is right") {
    MapFile file;
    file.write("1000 200 first\n1100 40 within\n3000 100 gone\n2f80 180 in its place\n");
    file.read();
    CHECK(file.name_at(0x10ff) == "first");
    CHECK(file.name_at(0x1110) == "within");
    CHECK(file.name_at(0x1140) == "first");
    CHECK(file.name_at(0x3000) == "in its place");
    CHECK(file.name_at(0x30ff) == "in its place");
    file.append("1000 180 again\n");
    file.read();
    CHECK(file.name_at(0x1110) == "again");
}

TEST_CASE("a map that was written anew is read anew, whatever its size") {
    const std::string many = [] {
        std::string text;
        for (int i = 0; i < 1'000; ++i)
            text += "900000" + std::to_string(1000 + i) + " 1 some function\n";
        return text;
    }();
    struct Case {
        std::string before;
        std::string after;
    };
    const auto [before, after] = GENERATE_COPY(values<Case>({
        {"1000 10 old\n", "2000 10 new\n"},
        {"1000 10 old\n", "2000 10 new\n3000 10 more\n"},
        {"1000 10 old\n" + many, "2000 10 new\n" + many},            // only its beginning differs
        {many + "1000 10 old\n", many + "2000 10 new\n3 1 more\n"},  // only its end
    }));
    MapFile file;
    file.write(before);
    file.read();
    REQUIRE(file.name_at(0x1000) == "old");
    file.write(after);
    file.read();
    CHECK(file.name_at(0x1000).empty());
    CHECK(file.name_at(0x2000) == "new");
}

TEST_CASE(
    "lines beyond what is taken are as if they were not there, in how many parts it is read") {
    const bool in_parts = GENERATE(false, true);
    MapFile file;
    file.map = PerfMap(3);
    file.write("3000 10 first\nno function\n1000 10 second\n");
    if (in_parts) file.read();
    file.append("3000 10 in its pla");
    if (in_parts) file.read();
    file.append("ce\n3000 10 fourth\n2000 10 fifth\n");
    file.read();
    CHECK(file.name_at(0x1000) == "second");
    CHECK(file.name_at(0x2000).empty());
    CHECK(file.name_at(0x3000) == "in its place");
    file.write("2000 10 another\n");
    file.read();
    CHECK(file.name_at(0x2000) == "another");
}

TEST_CASE("a map of the shortest lines takes no more than a few times its size") {
    MapFile file;
    std::string text;
    for (int i = 0; i < 100'000; ++i)
        text += "0 1 a\n";
    file.map = PerfMap(1 << 10);
    file.write(text);
    file.read();
    CHECK(file.map.bytes() < 2 * text.size());
    CHECK(file.name_at(0) == "a");
}

TEST_CASE("of an endless name the beginning is kept") {
    MapFile file;
    file.write("10 1 " + std::string(3 * kMaxPerfMapName, 'x') + "\n20 1 next\n");
    file.read();
    CHECK(file.name_at(0x10) == std::string(kMaxPerfMapName, 'x'));
    CHECK(file.name_at(0x20) == "next");
}

TEST_CASE("a map that moves keeps its names") {
    MapFile file;
    file.write("1 1 a\n");
    file.read();
    const PerfMap moved = std::move(file.map);
    REQUIRE(moved.find(1));
    CHECK(moved.find(1)->name == "a");
}

TEST_CASE("lines that make no sense are skipped") {
    MapFile file;
    file.write(
        "\n \nx y z\n10\n10 \n10 10\n10 10 \n10 0 none\nffffffffffffffff 10 wraps\n"
        "1ffffffffffffffff 1 long\n-1 1 sign\n20 10 right\n");
    file.read();
    CHECK(file.name_at(0x10).empty());
    CHECK(file.name_at(0x20) == "right");
    CHECK(file.name_at(UINT64_MAX).empty());
    file.map.read(UniqueFd());
    CHECK(file.name_at(0x20) == "right");
}

}  // namespace lattop::test
