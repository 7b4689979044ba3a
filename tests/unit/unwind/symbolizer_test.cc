// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/symbolizer.h"

#include <fcntl.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <vector>

#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"

namespace lattop::test {
namespace {

constexpr int kLines = 5;
const std::string kPrograms = LATTOP_TEST_PROGRAMS;

UserFrame frame_of(Symbolizer& symbolizer, const Child& child, std::uint64_t address) {
    const std::array<std::uint64_t, 1> addresses = {address};
    const Naming naming = symbolizer.name(child.task(), addresses, 1);
    REQUIRE(naming.result == Naming::Result::Named);
    REQUIRE(naming.stack.frames.size() == 1);
    return *naming.stack.frames[0];
}

}  // namespace

TEST_CASE("functions are named in every kind of program") {
    struct Case {
        const char* program;
        const char* take;  ///< "" where the file has no name for it
        bool lines;
    };
    const auto [program, take, lines] = GENERATE(values<Case>({
        {"symbols_pie", "known::Pool::take(int)", true},
        {"symbols_no_pie", "known::Pool::take(int)", true},
        {"symbols_stripped", "", false},
    }));
    INFO(program);
    const Child child(kPrograms + "/" + program, kLines);
    Symbolizer symbolizer;

    const UserFrame plain = frame_of(symbolizer, child, child.address("plain") + 1);
    CHECK(plain.symbol == "plain_function");
    CHECK(plain.offset == 1);
    CHECK(plain.module == program);

    const UserFrame method = frame_of(symbolizer, child, child.address("take"));
    CHECK(method.symbol == take);
    CHECK(method.file.ends_with("symbols_program.cc") == lines);
    CHECK((method.line != 0) == lines);

    CHECK(frame_of(symbolizer, child, child.address("alias")).symbol == "two_names");
    const UserFrame libc = frame_of(symbolizer, child, child.address("libc"));
    CHECK(libc.symbol == "puts");
    CHECK(libc.module == "libc.so.6");
}

TEST_CASE("the vdso's functions have names") {
    const Child child(kPrograms + "/symbols_pie", kLines);
    Symbolizer symbolizer;
    // Somewhere in its code is a function of a name that all have.
    bool found = false;
    for (std::uint64_t offset = 0; offset < 0x2000 && !found; offset += 16) {
        const std::array<std::uint64_t, 1> at = {child.address("vdso") + offset};
        const Naming naming = symbolizer.name(child.task(), at, 1);
        REQUIRE(naming.stack.frames.size() == 1);
        CHECK(naming.stack.frames[0]->module == "[vdso]");
        found = naming.stack.frames[0]->symbol == "clock_gettime";
    }
    CHECK(found);
}

TEST_CASE("a return address is named by the byte before it") {
    const Child child(kPrograms + "/symbols_pie", kLines);
    Symbolizer symbolizer;
    const std::uint64_t start = child.address("plain");
    const std::array<std::uint64_t, 2> addresses = {start, start};
    const Naming naming = symbolizer.name(child.task(), addresses, 1);
    REQUIRE(naming.stack.frames.size() == 2);
    CHECK(naming.stack.frames[0]->symbol == "plain_function");
    CHECK(naming.stack.frames[1]->symbol != "plain_function");
}

TEST_CASE("the program's own innermost frame is known") {
    const Child child(kPrograms + "/symbols_pie", kLines);
    Symbolizer symbolizer;
    const std::array<std::uint64_t, 3> addresses = {
        child.address("libc"), child.address("plain") + 1, child.address("take") + 1};
    CHECK(symbolizer.name(child.task(), addresses, 1).stack.own == 1);
}

TEST_CASE("a program that was replaced or deleted is named by what it still runs") {
    const TempFolder folder;
    const std::string path = folder.path() + "/program";
    std::filesystem::copy_file(kPrograms + "/symbols_pie", path);
    const Child child(path, kLines);
    SECTION("replaced") {
        std::filesystem::remove(path);
        std::ofstream(path) << "not ELF at all";
    }
    SECTION("deleted") {
        std::filesystem::remove(path);
    }
    Symbolizer symbolizer;
    const UserFrame frame = frame_of(symbolizer, child, child.address("plain"));
    CHECK(frame.symbol == "plain_function");
    CHECK(frame.module == "program");
}

TEST_CASE("a task that has ended, or whose pid was used again, gives nothing") {
    Child child(kPrograms + "/symbols_pie", kLines);
    Symbolizer symbolizer;
    const std::array<std::uint64_t, 1> addresses = {child.address("plain")};
    TaskRef other = child.task();
    other.start_ns += 1'000'000'000;
    CHECK(symbolizer.name(other, addresses, 1).result == Naming::Result::Gone);
    child.finish();
    CHECK(symbolizer.name(child.task(), addresses, 1).result == Naming::Result::Gone);
}

TEST_CASE("an address outside all mappings stays bare and may be asked again") {
    const Child child(kPrograms + "/symbols_pie", kLines);
    Symbolizer symbolizer;
    const std::array<std::uint64_t, 2> addresses = {child.address("plain"), 0x10};
    const Naming naming = symbolizer.name(child.task(), addresses, 1);
    CHECK(naming.result == Naming::Result::Partly);
    REQUIRE(naming.stack.frames.size() == 2);
    CHECK(naming.stack.frames[1]->module.empty());
    CHECK(naming.stack.frames[1]->offset == 0x10);
}

TEST_CASE("frames of one file are shared by the processes that map it") {
    const Child first(kPrograms + "/symbols_pie", kLines);
    const Child second(kPrograms + "/symbols_pie", kLines);
    Symbolizer symbolizer;
    const std::array<std::uint64_t, 1> in_first = {first.address("plain")};
    const std::array<std::uint64_t, 1> in_second = {second.address("plain")};
    const auto a = symbolizer.name(first.task(), in_first, 1).stack.frames.at(0);
    const auto b = symbolizer.name(second.task(), in_second, 1).stack.frames.at(0);
    CHECK(a == b);
}

TEST_CASE("caches smaller than what is asked for still give every name") {
    const Child first(kPrograms + "/symbols_pie", kLines);
    const Child second(kPrograms + "/symbols_no_pie", kLines);
    Symbolizer symbolizer("/proc", {.image_bytes = 1, .processes = 1});
    for (int i = 0; i < 3; ++i)
        for (const Child* child : {&first, &second}) {
            CHECK(frame_of(symbolizer, *child, child->address("plain")).symbol == "plain_function");
            CHECK(frame_of(symbolizer, *child, child->address("libc")).symbol == "puts");
        }
}

TEST_CASE("files that are not ELF, or cut anywhere, give frames without names") {
    std::ifstream whole_file(kPrograms + "/symbols_no_pie", std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(whole_file)), {});
    const TempFolder folder;
    const std::string path = folder.path() + "/cut";
    std::vector<std::size_t> sizes = {0, 1, 4, 16, 63, 64, 65, 200};
    for (std::size_t size = 512; size < whole.size(); size += whole.size() / 50)
        sizes.push_back(size);
    for (const std::size_t size : sizes) {
        std::ofstream(path, std::ios::binary | std::ios::trunc)
            .write(whole.data(), static_cast<std::streamsize>(size));
        const auto image =
            ElfImage::from_file(UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)));
        REQUIRE(image != nullptr);
        for (const std::uint64_t offset : {0UL, 0x1100UL, 0x2000UL, ~0UL})
            CHECK(image->frame_at(offset, true, path)->module == "cut");
    }
}

TEST_CASE("damaged ELF files never do harm") {
    std::ifstream whole_file(kPrograms + "/symbols_stripped", std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(whole_file)), {});
    for (std::size_t at = 0; at < whole.size(); at += at < 1024 ? 3 : 401) {
        std::vector<char> bytes(whole.begin(), whole.end());
        bytes[at] = static_cast<char>(~bytes[at]);
        const auto image = ElfImage::from_memory(std::move(bytes));
        CHECK(image->frame_at(0x1100, true, "x")->path == "x");
    }
}

}  // namespace lattop::test
