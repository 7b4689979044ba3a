// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/mini_debug.h"

#include <fcntl.h>
#include <gelf.h>
#include <lzma.h>

#include <array>
#include <cstring>
#include <fstream>
#include <string>

#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"
#include "unwind/elf_image.h"
#include "unwind/symbolizer.h"

namespace lattop::test {
namespace {

constexpr int kMiniLines = 7;
const std::string kMiniProgram = std::string(LATTOP_TEST_PROGRAMS) + "/symbols_mini";

std::vector<char> bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Where the compressed section begins in a file: xz's magic.
std::size_t start_of_xz(const std::vector<char>& bytes) {
    const std::string_view text(bytes.data(), bytes.size());
    return text.find(
        std::string_view("\xfd"
                         "7zXZ\0",
                         6));
}

/// What is in the section of `file`.
std::vector<char> mini_of(std::vector<char> file) {
    elf_version(EV_CURRENT);
    Elf* elf = elf_memory(file.data(), file.size());
    REQUIRE(elf != nullptr);
    auto mini = mini_debug_info(elf);
    elf_end(elf);
    return mini;
}

}  // namespace

TEST_CASE("a stripped program's functions are named from its .gnu_debugdata") {
    const Child child(kMiniProgram, kMiniLines);
    Symbolizer symbolizer({.folder = "/nowhere"});
    const std::array<std::uint64_t, 2> addresses = {child.address("take"),
                                                    child.address("libc") + 1};
    const Naming naming = symbolizer.name(child.task(), addresses, 1);
    REQUIRE(naming.stack.frames.size() == 2);
    // Hidden, in no table of the program itself: as symbols_stripped, where it has no name
    CHECK(naming.stack.frames[0]->symbol == "known::Pool::take(int)");
    CHECK(naming.stack.frames[0]->line == 0);
    CHECK(naming.stack.frames[1]->symbol == "puts");
}

TEST_CASE("a .gnu_debugdata that is damaged or cut costs its names, no more") {
    const std::vector<char> whole = bytes_of(kMiniProgram);
    const std::size_t start = start_of_xz(whole);
    REQUIRE(start != std::string_view::npos);
    CHECK(!mini_of(whole).empty());
    for (std::size_t at = start; at < start + 600; at += 7) {
        std::vector<char> bytes = whole;
        bytes.at(at) = static_cast<char>(~bytes.at(at));
        CHECK(mini_of(bytes).empty());
        CHECK(ElfImage::from_memory(std::move(bytes))->frame_at(0x1100, true, "x")->path == "x");
    }
}

TEST_CASE("a small .gnu_debugdata that uncompresses to far too much is left alone") {
    const std::vector<std::uint8_t> zeros(kMaxMiniDebugBytes + 1);
    std::vector<std::uint8_t> packed(lzma_stream_buffer_bound(zeros.size()));
    std::size_t packed_bytes = 0;
    REQUIRE(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, nullptr, zeros.data(), zeros.size(),
                                    packed.data(), &packed_bytes, packed.size()) == LZMA_OK);
    // In place of the program's own, to the file's end; the section is made as long.
    std::vector<char> bytes = bytes_of(kMiniProgram);
    const std::size_t start = bytes.size();
    bytes.insert(bytes.end(), packed.begin(),
                 packed.begin() + static_cast<std::ptrdiff_t>(packed_bytes));
    Elf64_Ehdr header{};
    std::memcpy(&header, bytes.data(), sizeof(header));
    const std::size_t old = start_of_xz(bytes);
    bool found = false;
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
        Elf64_Shdr section{};
        char* at = bytes.data() + header.e_shoff + i * sizeof(section);
        std::memcpy(&section, at, sizeof(section));
        if (section.sh_offset != old) continue;
        found = true;
        section.sh_offset = start;
        section.sh_size = packed_bytes;
        std::memcpy(at, &section, sizeof(section));
    }
    REQUIRE(found);
    CHECK(mini_of(bytes).empty());
}

}  // namespace lattop::test
