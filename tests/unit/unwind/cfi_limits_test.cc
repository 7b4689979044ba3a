// SPDX-License-Identifier: GPL-2.0-or-later
//
// What one file's call-frame information may cost: memory, as it is counted, and time.
#include <dwarf.h>
#include <elf.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"
#include "unwind/cfi_rows.h"
#include "unwind/elf_header.h"
#include "unwind/process_code.h"

namespace lattop::test {
namespace {

// With a sanitizer memory is not what it is without.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMemoryIsItsOwn = false;
#else
constexpr bool kMemoryIsItsOwn = true;
#endif

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t kCode = 0x1000;  // and of its file
constexpr std::size_t kMiB = std::size_t{1} << 20;

template <typename T>
void append(Bytes& bytes, const T& value) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(&value);
    bytes.insert(bytes.end(), first, first + sizeof(value));
}

void append_entry(Bytes& bytes, std::uint32_t second, const Bytes& body) {
    append(bytes, static_cast<std::uint32_t>(body.size() + sizeof(second)));
    append(bytes, second);
    bytes.insert(bytes.end(), body.begin(), body.end());
}

/// cfa = sp + 8, return address at cfa - 8.
Bytes common_body() {
    return {1,
            'z',
            'R',
            0,
            1,
            0x78,
            16,
            1,
            DW_EH_PE_pcrel | DW_EH_PE_sdata4,
            DW_CFA_def_cfa,
            7,
            8,
            DW_CFA_offset + 16,
            1};
}

/// A CIE, and as many FDEs as there is room for, of 17 bytes each, for code far away.
Bytes many_functions(std::size_t bytes) {
    Bytes section;
    section.reserve(bytes);
    append_entry(section, 0, common_body());
    const Bytes body = {0, 0, 0, 0x10, 1, 0, 0, 0, 0};
    while (section.size() + 8 + body.size() <= bytes)
        append_entry(section, static_cast<std::uint32_t>(section.size() + 4), body);
    return section;
}

/// As many CIEs as there is room for.
Bytes many_common(std::size_t bytes) {
    Bytes section;
    section.reserve(bytes);
    while (section.size() + 8 + common_body().size() <= bytes)
        append_entry(section, UINT32_MAX, common_body());
    return section;
}

struct Part {
    std::string_view name;
    const Bytes& bytes;
};

/// A library of some code and these sections.
void write_library(const std::string& path, const std::vector<Part>& parts) {
    std::string names(1, '\0');
    std::vector<Elf64_Shdr> table(1);
    std::uint64_t place = kCode + 0x1000;
    const auto add = [&](std::string_view name, Elf64_Word type, std::size_t bytes) {
        Elf64_Shdr section{};
        section.sh_name = static_cast<Elf64_Word>(names.size());
        names.append(name).push_back('\0');
        section.sh_type = type;
        section.sh_addr = section.sh_offset = place;
        section.sh_size = bytes;
        place += (bytes + 7) / 8 * 8;
        table.push_back(section);
    };
    for (const Part& part : parts)
        add(part.name, SHT_PROGBITS, part.bytes.size());
    add(".shstrtab", SHT_STRTAB, names.size() + sizeof(".shstrtab"));

    Elf64_Ehdr header = new_elf_header(ET_DYN);
    header.e_phoff = sizeof(header);
    header.e_phnum = 1;
    header.e_shoff = place;
    header.e_shnum = static_cast<Elf64_Half>(table.size());
    header.e_shstrndx = static_cast<Elf64_Half>(table.size() - 1);
    Elf64_Phdr segment{};
    segment.p_type = PT_LOAD;
    segment.p_filesz = segment.p_memsz = place;

    std::ofstream file(path, std::ios::binary);
    const auto write_at = [&](std::uint64_t offset, const void* bytes, std::size_t count) {
        file.seekp(static_cast<std::streamoff>(offset));
        file.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(count));
    };
    write_at(0, &header, sizeof(header));
    write_at(header.e_phoff, &segment, sizeof(segment));
    for (std::size_t i = 0; i < parts.size(); ++i)
        write_at(table[i + 1].sh_offset, parts[i].bytes.data(), parts[i].bytes.size());
    write_at(table.back().sh_offset, names.data(), names.size());
    write_at(place, table.data(), table.size() * sizeof(Elf64_Shdr));
}

std::unique_ptr<CfiRows> open_rows(const std::string& path) {
    return CfiRows::from_file(UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)));
}

/// Of this process, the most it ever was.
std::size_t most_resident() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

/// Of this process, from malloc, now.
std::size_t allocated() {
    const struct mallinfo2 info = ::mallinfo2();
    return info.uordblks + info.hblkhd;
}

/// What `look` gives in a process of its own, or a negative number.
int in_another_process(const std::function<int()>& look) {
    const pid_t pid = ::fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
        int result = 255;
        try {
            result = look();
        } catch (...) {
        }
        ::_exit(result);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) != 255 ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a file that is nothing but entries is refused before it takes memory") {
    if (!kMemoryIsItsOwn) return;
    const TempFolder folder;
    const std::string path = folder.path() + "/library";
    const auto [name, bytes] = GENERATE(table<std::string_view, Bytes>({
        {".eh_frame", many_functions(60 * kMiB)},
        {".debug_frame", many_common(60 * kMiB)},
        {".eh_frame", many_functions(120 * kMiB)},
    }));
    write_library(path, {{name, bytes}});
    const int cause = in_another_process([&] {
        const std::size_t before = most_resident();
        const auto rows = open_rows(path);
        const BuiltRow row = rows->row_at(kCode + 1, false);
        const bool little = most_resident() - before < 128 * kMiB && rows->bytes() < kMiB;
        return little ? static_cast<int>(row.cannot) : 100;
    });
    CHECK((cause == static_cast<int>(CannotCause::BadCfi) ||
           cause == static_cast<int>(CannotCause::NoCfi)));
}

TEST_CASE(
    "a file that takes more than there is room for is not kept, nor read where that shows before") {
    if (!kMemoryIsItsOwn) return;
    const TempFolder folder;
    const std::string path = folder.path() + "/library";
    write_library(path, {{".eh_frame", many_functions(16 * kMiB)}});
    const auto open = [&](std::size_t most) {
        return CfiRows::from_file(UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), most);
    };
    CHECK(open(256 * kMiB) != nullptr);
    CHECK(open(17 * kMiB) == nullptr);
    const bool little =
        in_another_process([&] {
            const std::size_t before = most_resident();
            return open(15 * kMiB) == nullptr && most_resident() - before < 8 * kMiB ? 1 : 0;
        }) == 1;
    CHECK(little);
}

TEST_CASE("room for what is to be read of a file is made before that, which may take for ever") {
    const TempFolder folder;
    const auto read = [&](CodeFiles& files, std::string_view name, std::size_t bytes,
                          std::uint64_t inode) {
        const std::string path = folder.path() + "/library";
        const Bytes garbage(bytes, 0xfe);  // nothing of it is kept
        write_library(path, {{name, garbage}});
        return files.read({1, inode, 0, 0, 0}, {},
                          UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)));
    };
    std::atomic<std::size_t> held = 0;
    CodeFiles files(kMiB, SIZE_MAX, &held);
    const std::weak_ptr<CfiRows> small = read(files, ".debug_frame", 4096, 1);
    CHECK(!small.expired());
    const std::size_t one = held;
    const std::weak_ptr<CfiRows> large = read(files, ".debug_frame", kMiB, 2);
    CHECK(!large.expired());
    CHECK(small.expired());
    CHECK(held == one);
    files.set_budget(kMiB / 2);
    CHECK(read(files, ".debug_frame", kMiB, 3) == nullptr);
    CHECK(!large.expired());
    CHECK(held == one);
}

TEST_CASE("what a file's entries take is counted, once libdw has come by all of them") {
    if (!kMemoryIsItsOwn) return;
    const TempFolder folder;
    const std::string path = folder.path() + "/library";
    const Bytes bytes = many_functions(16 * kMiB);
    write_library(path, {{".eh_frame", bytes}});
    const int percent = in_another_process([&] {
        const std::size_t before = allocated();
        const auto rows = open_rows(path);
        if (rows->row_at(kCode + 1, false).cannot != CannotCause::NoCfi) return 254;
        return static_cast<int>((allocated() - before) * 100 / rows->bytes());
    });
    CHECK(percent >= 90);
    CHECK(percent <= 110);
}

}  // namespace lattop::test
