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
        const PerfMap::Function* function = map.find(address);
        return function == nullptr ? "" : std::string(function->name);
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

TEST_CASE("a map that moves keeps its names") {
    MapFile file;
    file.write("1 1 a\n");
    file.read();
    const PerfMap moved = std::move(file.map);
    REQUIRE(moved.find(1) != nullptr);
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
