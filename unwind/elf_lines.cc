// SPDX-License-Identifier: GPL-2.0-or-later
//
// See elf_lines.h. Units are found by their own ranges: .debug_aranges, which
// libdw's dwarf_addrdie() goes by, is not written by all compilers.
#include "unwind/elf_lines.h"

#include <dwarf.h>
#include <gelf.h>

#include <algorithm>
#include <string_view>

#include "unwind/program_image.h"

namespace lattop {
namespace {

/// Bytes of a section when it is uncompressed.
std::uint64_t section_bytes(Elf_Scn* section, const GElf_Shdr& header) {
    if ((header.sh_flags & SHF_COMPRESSED) == 0) return header.sh_size;
    GElf_Chdr compressed;
    if (gelf_getchdr(section, &compressed) == nullptr) return UINT64_MAX;
    return compressed.ch_size;
}

/// Bytes of all debug sections; nothing where there are none, or too many, or
/// in the old compressed form, which does not say its size in a header, or
/// where they lead on to another file and may not.
std::optional<std::uint64_t> debug_bytes(Elf* elf, AltLink alt_link) {
    std::size_t names = 0;
    if (elf_getshdrstrndx(elf, &names) != 0) return std::nullopt;
    std::uint64_t total = 0;
    bool has_info = false;
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == nullptr) return std::nullopt;
        const char* name = elf_strptr(elf, names, header.sh_name);
        if (name == nullptr || header.sh_type == SHT_NOBITS) continue;
        const std::string_view text(name);
        if (text.starts_with(".zdebug_")) return std::nullopt;
        if (text == ".gnu_debugaltlink" && alt_link == AltLink::Refused) return std::nullopt;
        if (!text.starts_with(".debug_")) continue;
        has_info = has_info || text == ".debug_info";
        const std::uint64_t bytes = section_bytes(section, header);
        if (bytes > kMaxDebugBytes - total) return std::nullopt;
        total += bytes;
    }
    if (!has_info) return std::nullopt;
    return total;
}

/// Whether a 0 ends each section that libdw takes strings from. It takes them to their 0 (0.188: of
/// .debug_str and .debug_line_str, and the last attribute's in .debug_info), wherever that is.
bool strings_end(Elf* elf) {
    std::size_t names = 0;
    if (elf == nullptr || elf_getshdrstrndx(elf, &names) != 0) return false;
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == nullptr) return false;
        const char* name = elf_strptr(elf, names, header.sh_name);
        if (name == nullptr || header.sh_type == SHT_NOBITS) continue;
        const std::string_view text(name);
        if (text != ".debug_str" && text != ".debug_line_str" && text != ".debug_info" &&
            text != ".debug_types")
            continue;
        const Elf_Data* data = elf_getdata(section, nullptr);
        if (data == nullptr) return false;
        if (data->d_size != 0 && static_cast<const char*>(data->d_buf)[data->d_size - 1] != 0)
            return false;
    }
    return true;
}

/// In a file, and in the one that it leads on to.
bool strings_end(Dwarf* dwarf) {
    Dwarf* alt = dwarf_getalt(dwarf);
    return strings_end(dwarf_getelf(dwarf)) && (alt == nullptr || strings_end(dwarf_getelf(alt)));
}

SourceLine line_in(Dwarf_Die& unit, std::uint64_t address) {
    Dwarf_Line* found = dwarf_getsrc_die(&unit, address);
    if (found == nullptr) return {};
    int line = 0;
    const char* file = dwarf_linesrc(found, nullptr, nullptr);
    if (file == nullptr || dwarf_lineno(found, &line) != 0 || line <= 0) return {};
    return source_line(file, static_cast<std::uint32_t>(line));
}

}  // namespace

ElfLines::ElfLines(ElfHandle elf, Dwarf* dwarf, UniqueFd fd, std::size_t bytes)
    : fd_(std::move(fd)), elf_(std::move(elf)), dwarf_(dwarf), bytes_(bytes) {}

std::unique_ptr<ElfLines> ElfLines::open(ElfHandle elf, UniqueFd fd, AltLink alt_link) {
    const auto bytes = debug_bytes(elf.get(), alt_link);
    Dwarf* dwarf = bytes ? dwarf_begin_elf(elf.get(), DWARF_C_READ, nullptr) : nullptr;
    if (dwarf == nullptr || !strings_end(dwarf)) {
        dwarf_end(dwarf);
        return nullptr;
    }
    return std::unique_ptr<ElfLines>(new ElfLines(std::move(elf), dwarf, std::move(fd), *bytes));
}

ElfLines::~ElfLines() {
    dwarf_end(dwarf_);
}

void ElfLines::index_units() {
    indexed_ = true;
    Dwarf_CU* unit = nullptr;
    Dwarf_Die die;
    std::uint8_t type = 0;
    while (dwarf_get_units(dwarf_, unit, &unit, nullptr, &type, &die, nullptr) == 0) {
        if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
        Dwarf_Addr base = 0;
        Dwarf_Addr start = 0;
        Dwarf_Addr end = 0;
        std::ptrdiff_t next = 0;
        while ((next = dwarf_ranges(&die, next, &base, &start, &end)) > 0)
            if (start < end) units_.push_back({start, end, dwarf_dieoffset(&die)});
    }
    std::ranges::sort(units_, {}, &UnitRange::start);
}

std::optional<SourcePlace> ElfLines::place_at(std::uint64_t address) {
    if (!indexed_) index_units();
    const auto behind = std::ranges::upper_bound(units_, address, {}, &UnitRange::start);
    if (behind == units_.begin() || address >= std::prev(behind)->end) return std::nullopt;
    Dwarf_Die unit;
    if (dwarf_offdie(dwarf_, std::prev(behind)->unit, &unit) == nullptr) return std::nullopt;
    return SourcePlace{line_in(unit, address), inlined_at(unit, address)};
}

}  // namespace lattop
