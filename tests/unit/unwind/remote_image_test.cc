// SPDX-License-Identifier: GPL-2.0-or-later
//
// Images that `lattop image-reader` reads: as those read in this process, and what hostile files
// cost.
#include "unwind/remote_image.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <optional>
#include <thread>

#include "lattop/clock.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"
#include "unwind/elf_header.h"
#include "unwind/image_messages.h"
#include "unwind/image_server.h"
#include "unwind/nanoseconds.h"
#include "unwind/reader_clock.h"
#include "unwind/reader_share.h"
#include "unwind/symbolizer.h"

namespace lattop::test {
namespace {

const std::string kPrograms = LATTOP_TEST_PROGRAMS;
constexpr int kLines = 10;

std::shared_ptr<ImageSource> readers() {
    return remote_images({LATTOP_TEST_LATTOP, "image-reader"});
}

UniqueFd opened(const std::string& path) {
    return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

template <typename T>
void append(std::string& bytes, const T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

/// A program with one function, waits() at 0x1000, whose debug information has `units` units, all
/// of them with the same list of `ranges` ranges.
[[maybe_unused]] std::string program_with_ranges(std::uint32_t units, std::size_t ranges) {
    constexpr std::uint64_t kWaitsAt = 0x1000;
    static constexpr std::string_view kNames(
        "\0.symtab\0.strtab\0.debug_info\0.debug_abbrev\0.debug_ranges\0.shstrtab\0", 67);
    const auto name = [](std::string_view section) {
        return static_cast<Elf64_Word>(kNames.find(section));
    };
    std::string info;
    for (std::uint32_t i = 0; i < units; ++i) {
        append<std::uint32_t>(info, 12);
        append<std::uint16_t>(info, 4);  // version
        append<std::uint32_t>(info, 0);  // abbreviations
        append<std::uint8_t>(info, 8);   // bytes of an address
        append<std::uint8_t>(info, 1);
        append<std::uint32_t>(info, 0);  // offset of the list
    }
    info.back() = '\0';
    // DW_TAG_compile_unit without children, of DW_AT_ranges as DW_FORM_sec_offset
    const std::string abbrev("\x01\x11\x00\x55\x17\x00\x00\x00", 8);
    std::string list;
    for (std::size_t i = 0; i < ranges; ++i) {
        append<std::uint64_t>(list, 1);
        append<std::uint64_t>(list, 2);
    }
    list.append(16, '\0');
    std::string symbols(sizeof(Elf64_Sym), '\0');
    Elf64_Sym waits{};
    waits.st_name = 1;
    waits.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    waits.st_shndx = 1;
    waits.st_value = kWaitsAt;
    waits.st_size = 64;
    append(symbols, waits);

    std::string bytes(sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), '\0');
    std::vector<Elf64_Shdr> sections(1);
    const auto add = [&](std::string_view section, Elf64_Word type, std::string_view content,
                         Elf64_Xword entry = 0) {
        bytes.resize((bytes.size() + 7) / 8 * 8);
        Elf64_Shdr header{};
        header.sh_name = name(section);
        header.sh_type = type;
        header.sh_offset = bytes.size();
        header.sh_size = content.size();
        header.sh_entsize = entry;
        header.sh_addralign = 1;
        header.sh_link = 2;  // .strtab, of .symtab
        sections.push_back(header);
        bytes += content;
    };
    add(".symtab", SHT_SYMTAB, symbols, sizeof(Elf64_Sym));
    add(".strtab", SHT_STRTAB, std::string_view("\0waits\0", 7));
    add(".debug_info", SHT_PROGBITS, info);
    add(".debug_abbrev", SHT_PROGBITS, abbrev);
    add(".debug_ranges", SHT_PROGBITS, list);
    add(".shstrtab", SHT_STRTAB, kNames);
    bytes.resize(std::max<std::size_t>((bytes.size() + 7) / 8 * 8, 2 * kWaitsAt));

    Elf64_Ehdr header = new_elf_header(ET_EXEC);
    header.e_phoff = sizeof(header);
    header.e_phnum = 1;
    header.e_shnum = static_cast<Elf64_Half>(sections.size());
    header.e_shstrndx = static_cast<Elf64_Half>(sections.size() - 1);
    header.e_shoff = bytes.size();
    Elf64_Phdr segment{};
    segment.p_type = PT_LOAD;
    segment.p_flags = PF_R | PF_X;
    segment.p_filesz = segment.p_memsz = 2 * kWaitsAt;
    for (const Elf64_Shdr& section : sections)
        append(bytes, section);
    std::memcpy(bytes.data(), &header, sizeof(header));
    std::memcpy(bytes.data() + sizeof(header), &segment, sizeof(segment));
    return bytes;
}

/// That file, and where this process has mapped it.
struct MappedProgram {
    MappedProgram(const std::string& path, const std::string& bytes) {
        std::ofstream(path, std::ios::binary) << bytes;
        const UniqueFd fd = opened(path);
        at = ::mmap(nullptr, kBytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd.get(), 0);
        REQUIRE(at != MAP_FAILED);
    }
    MappedProgram(const MappedProgram&) = delete;
    MappedProgram& operator=(const MappedProgram&) = delete;
    ~MappedProgram() { ::munmap(at, kBytes); }

    /// Within waits().
    [[nodiscard]] std::uint64_t waits() const {
        return reinterpret_cast<std::uint64_t>(at) + 0x1010;
    }

    static constexpr std::size_t kBytes = 0x2000;
    void* at = nullptr;
};

[[maybe_unused]] TaskRef this_task() {
    const auto pid = static_cast<std::uint32_t>(::getpid());
    return {.pid = pid, .tgid = pid, .start_ns = start_ns_of(::getpid())};
}

}  // namespace

TEST_CASE("a reader says of programs what is found in this process") {
    const auto [program] = GENERATE(table<const char*>({{"symbols_pie"},
                                                        {"symbols_compressed"},
                                                        {"symbols_stripped"},
                                                        {"symbols_by_id"},
                                                        {"symbols_by_link"},
                                                        {"symbols_mini"}}));
    INFO(program);
    const Child child(kPrograms + "/" + program, kLines);
    Symbolizer here({.folder = "/nowhere"}, "/proc", {}, local_images());
    Symbolizer there({.folder = "/nowhere"}, "/proc", {}, readers());
    for (const char* place : {"take", "plain", "libc"}) {
        const std::array<std::uint64_t, 2> addresses = {child.address(place),
                                                        child.address(place) + 1};
        const Naming a = here.name(child.task(), addresses, 1);
        const Naming b = there.name(child.task(), addresses, 1);
        CHECK(a.result == b.result);
        for (std::size_t i = 0; i < addresses.size(); ++i) {
            const UserFrame& one = *a.stack.frames.at(i);
            const UserFrame& other = *b.stack.frames.at(i);
            CHECK(one.symbol == other.symbol);
            CHECK(one.offset == other.offset);
            CHECK(one.file == other.file);
            CHECK(one.line == other.line);
            CHECK(one.path == other.path);
            REQUIRE(one.inlined.size() == other.inlined.size());
            for (std::size_t j = 0; j < one.inlined.size(); ++j) {
                CHECK(one.inlined[j].symbol == other.inlined[j].symbol);
                CHECK(one.inlined[j].line == other.inlined[j].line);
            }
        }
    }
}

TEST_CASE("the time that a reader has used is known while it reads and when it has ended") {
    auto source = readers();
    const ReadingTime time = source->reading_time();
    CHECK(time() == 0);
    const std::uint64_t before = ReaderClock::all_ns();
    CHECK(source->name_of(opened(kPrograms + "/symbols_by_id")));
    const std::uint64_t reading = time();
    CHECK(reading > 0);
    CHECK(ReaderClock::all_ns() >= before + reading);
    source = nullptr;
    const std::uint64_t ended = time();
    CHECK(ended >= reading);
    CHECK(time() == ended);
    CHECK(ReaderClock::all_ns() == before + ended);
}

TEST_CASE("what lattop takes of a CPU holds what its readers took") {
    const auto source = readers();
    CHECK(source->name_of(opened(kPrograms + "/symbols_by_id")));
    const std::uint64_t own = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    const std::uint64_t of_readers = ReaderClock::all_ns();
    CHECK(SystemClock().cpu_ns() >= own + of_readers);
}

TEST_CASE("readers that run at the same time take less the more they are") {
    std::optional<ReaderShare> first(std::in_place);
    const ReaderShare second;
    CHECK(second.memory() == first->memory() / 2);
    const std::uint64_t most = first->memory();
    first.reset();
    CHECK(ReaderShare().memory() == most);

    const auto source = readers();
    CHECK(source->budget() == SIZE_MAX);
    CHECK(source->name_of(opened(kPrograms + "/symbols_by_id")));
    CHECK(source->budget() == most / 4);

    constexpr std::uint64_t kMiB = 1 << 20;
    CHECK(reader_memory(1024 * kMiB, 0) == 512 * kMiB);
    CHECK(reader_memory(4096 * kMiB, 0) == 1024 * kMiB);
    CHECK(reader_memory(65536 * kMiB, 0) == 2048 * kMiB);
    std::uint64_t together = 0;
    for (unsigned place = 0; place < 17; ++place)
        together += reader_memory(65536 * kMiB, place);
    CHECK(together < 5632 * kMiB);
    CHECK(reader_memory(65536 * kMiB, 1000) == 128 * kMiB);
}

TEST_CASE("a reader that cannot be started costs names for now") {
    const Child child(kPrograms + "/symbols_pie", kLines);
    Symbolizer symbolizer({}, "/proc", {}, remote_images({"/no/such/program"}));
    const std::array<std::uint64_t, 1> addresses = {child.address("plain")};
    const Naming naming = symbolizer.name(child.task(), addresses, 1);
    CHECK(naming.result == Naming::Result::Partly);
    CHECK(naming.stack.frames.at(0)->symbol.empty());
    CHECK(naming.stack.frames.at(0)->module == "symbols_pie");
}

TEST_CASE("a reader that ends when it is spoken to costs a file's names, and nothing waits") {
    Symbolizer symbolizer({}, "/proc", {}, remote_images({"/bin/true"}));
    const Child child(kPrograms + "/symbols_pie", kLines);
    const std::array<std::uint64_t, 1> addresses = {child.address("plain")};
    for (std::uint64_t round = 1; round < 4; ++round)
        CHECK(symbolizer.name(child.task(), addresses, round).stack.frames.at(0)->symbol.empty());
}

// Its memory is not limited under the sanitizers, which take all addresses there are.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("debug information that takes all memory costs a file its lines, and others nothing") {
    const TempFolder folder;
    const MappedProgram hostile(folder.path() + "/hostile", program_with_ranges(1000, 1U << 20));
    const MappedProgram honest(folder.path() + "/honest", program_with_ranges(1, 1));
    Symbolizer symbolizer({.folder = "/nowhere"}, "/proc", {}, readers());
    const TaskRef task = this_task();
    const std::array<std::uint64_t, 2> both = {honest.waits(), hostile.waits()};
    const Naming first = symbolizer.name(task, both, 1);
    CHECK(first.result == Naming::Result::Partly);
    const Naming second = symbolizer.name(task, both, 2);
    CHECK(second.result == Naming::Result::Named);
    CHECK(second.stack.frames.at(0)->symbol == "waits");
    CHECK(second.stack.frames.at(1)->symbol == "waits");
    CHECK(second.stack.frames.at(1)->module == "hostile");
}
#endif

TEST_CASE("messages that are none end a reader, and tell the asking side nothing") {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0);
    const UniqueFd own(ends[0]);
    const UniqueFd its(ends[1]);
    std::thread server([&] { serve_images(its.get()); });
    const std::array<std::uint8_t, 3> message = {200, 1, 2};
    CHECK(send_message(own.get(), message));
    server.join();

    CHECK(!request_of(message));
    const ImageRequest request{.op = ImageOp::Place, .image = 7, .flag = true, .address = 5};
    auto bytes = to_message(request);
    const auto again = request_of(bytes);
    REQUIRE(again);
    CHECK(again->image == 7);
    CHECK(again->flag);
    CHECK(again->address == 5);
    bytes.pop_back();
    CHECK(!request_of(bytes));

    MessageWriter odd;
    write(odd, DebugName{.build_id = "../../x", .link = "a"});
    ByteReader reader(odd.bytes());
    CHECK(read_debug_name(reader).empty());
    MessageWriter other;
    write(other, DebugName{.build_id = "abcd", .link = "../a"});
    ByteReader other_reader(other.bytes());
    CHECK(read_debug_name(other_reader).empty());
}

}  // namespace lattop::test
