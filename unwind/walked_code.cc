// SPDX-License-Identifier: GPL-2.0-or-later
//
// See walked_code.h.
#include "unwind/walked_code.h"

#include <algorithm>

namespace lattop {

std::span<const std::uint8_t> WalkedCode::page_at(std::uint64_t address) {
    return address >= kOurTable ? page_of_table(address - kOurTable) : code_.page_at(address);
}

std::span<const std::uint8_t> WalkedCode::page_of_table(std::uint64_t offset) const {
    if (file_ == nullptr) return {};
    const auto& entries = file_->search_table().entries;
    const std::span bytes(reinterpret_cast<const std::uint8_t*>(entries.data()),
                          entries.size() * sizeof(entries.front()));
    if (offset >= bytes.size()) return {};
    const std::span rest = bytes.subspan(static_cast<std::size_t>(offset));
    return rest.first(std::min(rest.size(), kWalkPageBytes));
}

/// .eh_frame_hdr in memory: version, three encodings, address of .eh_frame, count, then the
/// entries.
std::optional<WalkTable> WalkedCode::table_in_memory(std::uint64_t header) {
    constexpr std::uint64_t kPlainEncodings = 0x3b031b01;  // what every linker writes
    constexpr std::uint64_t kTableOffset = 12;
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    if (!code_.read_word(header, first) || !code_.read_word(header + sizeof(first), second))
        return std::nullopt;
    if ((first & UINT32_MAX) != kPlainEncodings) return std::nullopt;
    return WalkTable{
        .base = header, .entries = header + kTableOffset, .count = second & UINT32_MAX};
}

/// Made from .eh_frame: the entries it leads to are read from the process's memory all the same.
std::optional<WalkTable> WalkedCode::table_of(const CodeFiles::File& file,
                                              std::uint64_t load_bias) {
    const SearchTable& table = file->search_table();
    if (table.entries.empty()) return std::nullopt;
    file_ = file;
    return WalkTable{
        .base = load_bias + table.address, .entries = kOurTable, .count = table.entries.size()};
}

std::optional<WalkTable> WalkedCode::table_at(std::uint64_t pc) {
    const auto [mapping, file] = code_.code_at(pc);
    if (mapping == nullptr || file == nullptr) return std::nullopt;
    const auto address = file->file().address_of(pc - mapping->start + mapping->offset);
    if (!address) return std::nullopt;
    std::optional<WalkTable> table;
    for (const Elf64_Phdr& segment : file->file().segments())
        if (segment.p_type == PT_GNU_EH_FRAME)
            table = table_in_memory(pc - *address + segment.p_vaddr);
    if (!table) table = table_of(file, pc - *address);
    if (!table) return std::nullopt;
    table->start = mapping->start;
    table->end = mapping->end;
    return table;
}

}  // namespace lattop
