// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/symbolizer.h"

#include <fcntl.h>
#include <libelf.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "tests/unit/support/catch.h"
#include "tests/unit/support/symbol_programs.h"
#include "unwind/elf_header.h"

namespace lattop::test {

TEST_CASE("of a source file's path no more is kept than the kernel would take") {
    CHECK(source_line("a.cc", 1).file == "a.cc");
    const std::string path(100'000, 'a');
    CHECK(source_line(path.c_str(), 1).file == path.substr(0, PATH_MAX));
}

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
    const Child child(kSymbolPrograms + "/" + program, kSymbolLines);
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

TEST_CASE("variables are named in every kind of program, by symbol and offset") {
    const std::string program =
        GENERATE(std::string("symbols_pie"), "symbols_no_pie", "symbols_stripped");
    INFO(program);
    const bool stripped = program == "symbols_stripped";
    const Child child(kSymbolPrograms + "/" + program, kSymbolLines);
    Symbolizer symbolizer;
    const auto name = [&](std::uint64_t address) {
        return symbolizer.variable(child.task(), address, 1);
    };
    CHECK(name(child.address("zeros")) == (stripped ? "" : "known::queue_lock+0x8"));
    CHECK(name(child.address("data")) == "shared_lock");
    CHECK(name(child.address("stdout")) == "_IO_2_1_stdout_");
    CHECK(name(child.address("zeros") + (1U << 20)).empty());
    CHECK(name(child.address("plain")).empty());
    CHECK(name(child.address("jit")).empty());
    CHECK(name(0).empty());
    CHECK(name(~std::uint64_t{0}).empty());
}

TEST_CASE("an image holds no variables until one is asked for") {
    const std::string path = kSymbolPrograms + "/symbols_no_pie";
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const auto image = ElfImage::from_file(UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)));
    const std::size_t before = image->bytes();
    CHECK(!image->has_variables());
    image->load_variables(std::move(fd));
    CHECK(image->has_variables());
    CHECK(image->bytes() > before);
    CHECK(image->variable_at(0).empty());
}

TEST_CASE("the vdso's functions have names") {
    const Child child(kSymbolPrograms + "/symbols_pie", kSymbolLines);
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
    const Child child(kSymbolPrograms + "/symbols_pie", kSymbolLines);
    Symbolizer symbolizer;
    const std::uint64_t start = child.address("plain");
    const std::array<std::uint64_t, 2> addresses = {start, start};
    const Naming naming = symbolizer.name(child.task(), addresses, 1);
    REQUIRE(naming.stack.frames.size() == 2);
    CHECK(naming.stack.frames[0]->symbol == "plain_function");
    CHECK(naming.stack.frames[1]->symbol != "plain_function");
}

TEST_CASE("the program's own innermost frame is known") {
    const Child child(kSymbolPrograms + "/symbols_pie", kSymbolLines);
    Symbolizer symbolizer;
    const std::array<std::uint64_t, 3> addresses = {
        child.address("libc"), child.address("plain") + 1, child.address("take") + 1};
    CHECK(symbolizer.name(child.task(), addresses, 1).stack.own == 1);
}

TEST_CASE("a program that was replaced or deleted is named by what it still runs") {
    const TempFolder folder;
    const std::string path = folder.path() + "/program";
    std::filesystem::copy_file(kSymbolPrograms + "/symbols_pie", path);
    const Child child(path, kSymbolLines);
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
    Child child(kSymbolPrograms + "/symbols_pie", kSymbolLines);
    Symbolizer symbolizer;
    const std::array<std::uint64_t, 1> addresses = {child.address("plain")};
    TaskRef other = child.task();
    other.start_ns += 1'000'000'000;
    CHECK(symbolizer.name(other, addresses, 1).result == Naming::Result::Gone);
    child.finish();
    CHECK(symbolizer.name(child.task(), addresses, 1).result == Naming::Result::Gone);
}

TEST_CASE("an address outside all mappings stays bare and may be asked again") {
    const Child child(kSymbolPrograms + "/symbols_pie", kSymbolLines);
    Symbolizer symbolizer;
    const std::array<std::uint64_t, 2> addresses = {child.address("plain"), 0x10};
    const Naming naming = symbolizer.name(child.task(), addresses, 1);
    CHECK(naming.result == Naming::Result::Partly);
    REQUIRE(naming.stack.frames.size() == 2);
    CHECK(naming.stack.frames[1]->module.empty());
    CHECK(naming.stack.frames[1]->offset == 0x10);
}

TEST_CASE("functions inlined at a place come before the one they are in") {
    const Child child(kSymbolPrograms + "/symbols_pie", kSymbolLines);
    Symbolizer symbolizer;
    const UserFrame frame = frame_of(symbolizer, child, child.address("merged"));
    CHECK(frame.symbol == "known::merging(int)");
    REQUIRE(frame.inlined.size() == 1);
    CHECK(frame.inlined[0].symbol == "known::merged(int)");
    CHECK(frame.inlined[0].file.ends_with("symbols_program.cc"));
    CHECK(frame.file.ends_with("symbols_program.cc"));
    // The call stands some lines below what is called.
    CHECK(frame.inlined[0].line != 0);
    CHECK(frame.line > frame.inlined[0].line);
    CHECK(frame_of(symbolizer, child, child.address("take")).inlined.empty());
    // A function of a type that is local to another one
    const UserFrame lambda = frame_of(symbolizer, child, child.address("lambda"));
    CHECK(lambda.symbol.find("within") != std::string::npos);
    REQUIRE(lambda.inlined.size() == 1);
    CHECK(lambda.inlined[0].symbol == "known::merged(int)");
}

TEST_CASE("a label names what is behind it, up to the next symbol, and nothing in a function") {
    const Child child(kSymbolPrograms + "/symbols_pie", kSymbolLines);
    Symbolizer symbolizer;
    const std::uint64_t begin = child.address("labels");
    const std::array<const char*, 8> names = {"label_before",    "label_before",   "sized_function",
                                              "sized_function",  "sized_function", "",
                                              "$s4main4waityyF", "$s4main4waityyF"};
    for (std::size_t i = 0; i < names.size(); ++i) {
        INFO(i);
        CHECK(frame_of(symbolizer, child, begin + i).symbol == names.at(i));
    }
}

TEST_CASE("code that a JIT made is named by the map it left") {
    const Child child(kSymbolPrograms + "/symbols_pie", kSymbolLines);
    const std::string map = "/tmp/perf-" + std::to_string(child.task().pid) + ".map";
    const std::uint64_t jit = child.address("jit");
    Symbolizer symbolizer;
    CHECK(frame_of(symbolizer, child, jit + 0x18).symbol.empty());
    std::ofstream(map) << std::hex << jit + 0x10 << " 20 JS:~work /srv/app.js:7\n";
    const std::array<std::uint64_t, 1> at = {jit + 0x18};
    CHECK(symbolizer.name(child.task(), at, 1).stack.frames.at(0)->symbol.empty());  // not again
    const auto frame = symbolizer.name(child.task(), at, 2).stack.frames.at(0);
    std::ofstream(map, std::ios::app) << std::hex << jit + 0x10 << " 20 in its place\n";
    CHECK(symbolizer.name(child.task(), at, 3).stack.frames.at(0)->symbol == "in its place");
    std::filesystem::remove(map);
    CHECK(frame->symbol == "JS:~work /srv/app.js:7");
    CHECK(frame->offset == 8);
    CHECK(frame->module == "[anon]");
}

TEST_CASE("a link where a JIT's map would be is not followed") {
    const Child child(kSymbolPrograms + "/symbols_pie", kSymbolLines);
    const std::string map = "/tmp/perf-" + std::to_string(child.task().pid) + ".map";
    const std::string target = map + ".target";
    const std::uint64_t jit = child.address("jit");
    std::ofstream(target) << std::hex << jit + 0x10 << " 20 JS:~work /srv/app.js:7\n";
    std::filesystem::create_symlink(target, map);
    Symbolizer symbolizer;
    CHECK(frame_of(symbolizer, child, jit + 0x18).symbol.empty());
    std::filesystem::remove(map);
    std::filesystem::rename(target, map);
    Symbolizer again;
    CHECK(frame_of(again, child, jit + 0x18).symbol == "JS:~work /srv/app.js:7");
    std::filesystem::remove(map);
}

TEST_CASE("frames of one file are shared by the processes that map it") {
    const Child first(kSymbolPrograms + "/symbols_pie", kSymbolLines);
    const Child second(kSymbolPrograms + "/symbols_pie", kSymbolLines);
    Symbolizer symbolizer;
    const std::array<std::uint64_t, 1> in_first = {first.address("plain")};
    const std::array<std::uint64_t, 1> in_second = {second.address("plain")};
    const auto a = symbolizer.name(first.task(), in_first, 1).stack.frames.at(0);
    const auto b = symbolizer.name(second.task(), in_second, 1).stack.frames.at(0);
    CHECK(a == b);
}

TEST_CASE("maps are remembered by what they take") {
    const Child first(kSymbolPrograms + "/symbols_pie", kSymbolLines);
    const Child second(kSymbolPrograms + "/symbols_no_pie", kSymbolLines);
    Symbolizer all;
    Symbolizer few({}, "/proc", {.maps_bytes = 1});
    for (Symbolizer* symbolizer : {&all, &few})
        for (const Child* child : {&first, &second})
            frame_of(*symbolizer, *child, child->address("plain"));
    CHECK(all.maps_bytes() > 2 * 5 * sizeof(Mapping));
    CHECK(few.maps_bytes() < all.maps_bytes());
}

TEST_CASE("maps of processes that are not asked for any more are forgotten") {
    Symbolizer symbolizer;
    std::size_t at_first = 0;
    const Child stays(kSymbolPrograms + "/symbols_pie", kSymbolLines);
    for (std::uint64_t round = 1; round <= 1'200; ++round) {
        const std::array<std::uint64_t, 1> address = {stays.address("plain")};
        CHECK(symbolizer.name(stays.task(), address, round).stack.frames.at(0)->symbol ==
              "plain_function");
        if (round % 20 != 0) continue;
        const Child passing(kSymbolPrograms + "/symbols_no_pie", kSymbolLines);
        const std::array<std::uint64_t, 1> its = {passing.address("plain")};
        symbolizer.name(passing.task(), its, round);
        if (round == 400) at_first = symbolizer.maps_bytes();
    }
    CHECK(symbolizer.maps_bytes() <= at_first);
}

TEST_CASE("caches smaller than what is asked for still give every name") {
    const Child first(kSymbolPrograms + "/symbols_pie", kSymbolLines);
    const Child second(kSymbolPrograms + "/symbols_no_pie", kSymbolLines);
    Symbolizer symbolizer({}, "/proc", {.image_bytes = 1, .maps_bytes = 1, .perf_map_bytes = 1});
    for (int i = 0; i < 3; ++i)
        for (const Child* child : {&first, &second}) {
            CHECK(frame_of(symbolizer, *child, child->address("plain")).symbol == "plain_function");
            CHECK(frame_of(symbolizer, *child, child->address("libc")).symbol == "puts");
        }
}

TEST_CASE("files that are not ELF, or cut anywhere, give frames without names") {
    std::ifstream whole_file(kSymbolPrograms + "/symbols_no_pie", std::ios::binary);
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

TEST_CASE("of a file with thousands of symbol tables only the first few are looked at") {
    constexpr std::size_t kTables = 40'000, kSymbols = 1000;
    Elf64_Ehdr header = new_elf_header(ET_EXEC);
    header.e_shnum = kTables;
    header.e_shoff = sizeof(header) + kSymbols * sizeof(Elf64_Sym);
    Elf64_Shdr table{};  // all of them the same symbols, none of which has a name
    table.sh_type = SHT_SYMTAB;
    table.sh_offset = sizeof(header);
    table.sh_size = kSymbols * sizeof(Elf64_Sym);
    table.sh_entsize = sizeof(Elf64_Sym);
    std::vector<char> bytes(header.e_shoff + kTables * sizeof(table));
    std::memcpy(bytes.data(), &header, sizeof(header));
    for (std::size_t i = 1; i < kTables; ++i)
        std::memcpy(bytes.data() + header.e_shoff + i * sizeof(table), &table, sizeof(table));
    elf_version(EV_CURRENT);
    Elf* elf = elf_memory(bytes.data(), bytes.size());
    REQUIRE(elf != nullptr);
    ElfSymbols symbols(ElfSymbols::Of::Data);
    symbols.add(elf);
    elf_end(elf);
    CHECK(symbols.count() == 0);
    CHECK(symbols.looked_at() >= kSymbols);
    CHECK(symbols.looked_at() <= 4 * kSymbols);
}

TEST_CASE("damaged ELF files never do harm") {
    std::ifstream whole_file(kSymbolPrograms + "/symbols_stripped", std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(whole_file)), {});
    for (std::size_t at = 0; at < whole.size(); at += at < 1024 ? 3 : 401) {
        std::vector<char> bytes(whole.begin(), whole.end());
        bytes[at] = static_cast<char>(~bytes[at]);
        ElfSymbols variables(ElfSymbols::Of::Data);
        if (Elf* elf = elf_memory(bytes.data(), bytes.size())) {
            variables.add(elf);
            elf_end(elf);
        }
        if (const auto* found = variables.find(0x4000)) CHECK(variables.name_of(*found) != nullptr);
        const auto image = ElfImage::from_memory(std::move(bytes));
        CHECK(image->frame_at(0x1100, true, "x")->path == "x");
    }
}

}  // namespace lattop::test
