// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/elf_lines.h"

#include <gelf.h>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/support/catch.h"
#include "unwind/elf_inlines.h"

namespace lattop::test {
namespace {

std::vector<char> program(const std::string& name) {
    std::ifstream file(LATTOP_TEST_PROGRAMS "/" + name, std::ios::binary);
    REQUIRE(file.is_open());
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Where a section's last byte is in the file; 0 where it has no such section.
std::size_t last_byte_of(std::vector<char>& bytes, std::string_view wanted) {
    elf_version(EV_CURRENT);
    Elf* elf = elf_memory(bytes.data(), bytes.size());
    REQUIRE(elf != nullptr);
    std::size_t names = 0;
    REQUIRE(elf_getshdrstrndx(elf, &names) == 0);
    std::size_t last = 0;
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
        GElf_Shdr header;
        REQUIRE(gelf_getshdr(section, &header) != nullptr);
        if (elf_strptr(elf, names, header.sh_name) == wanted)
            last = header.sh_offset + header.sh_size - 1;
    }
    elf_end(elf);
    return last;
}

bool has_lines(std::vector<char>& bytes) {
    elf_version(EV_CURRENT);
    const auto lines = ElfLines::open(ElfHandle(elf_memory(bytes.data(), bytes.size())), UniqueFd(),
                                      AltLink::Refused);
    return lines != nullptr;
}

}  // namespace

TEST_CASE("debug information whose last string has no end is not read") {
    std::vector<char> bytes = program("symbols_no_pie");
    REQUIRE(has_lines(bytes));
    const std::string section = GENERATE(".debug_str", ".debug_line_str", ".debug_info");
    INFO(section);
    const std::size_t last = last_byte_of(bytes, section);
    REQUIRE(last != 0);
    REQUIRE(bytes[last] == 0);
    bytes[last] = 'x';
    CHECK(!has_lines(bytes));
}

TEST_CASE("compressed debug information is read") {
    std::vector<char> bytes = program("symbols_compressed");
    CHECK(has_lines(bytes));
}

TEST_CASE("the names of inlined calls that a frame keeps are bounded, the calls stay") {
    std::vector<InlinedCall> calls(256, {std::string(65000, 'f'), {std::string(4000, '/'), 7}});
    calls[0].function = "innermost()";
    bound_texts(calls);
    std::size_t bytes = 0;
    for (const InlinedCall& call : calls)
        bytes += call.function.size() + call.call.file.size();
    REQUIRE(calls.size() == 256);
    CHECK(bytes <= std::size_t{32} << 10);
    CHECK(calls[0].function == "innermost()");
    CHECK(calls[1].function == std::string(4096, 'f'));
    CHECK(calls[255].function.empty());
    CHECK(calls[255].call.line == 7);
}

}  // namespace lattop::test
