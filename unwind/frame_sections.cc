// SPDX-License-Identifier: GPL-2.0-or-later
//
// See frame_sections.h.
#include "unwind/frame_sections.h"

#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "unwind/cfi_check.h"
#include "unwind/image_writer.h"

namespace lattop {
namespace {

/// A browser's .eh_frame has 20 MB.
constexpr std::uint64_t kMaxSectionBytes = std::uint64_t{64} << 20;

/// .eh_frame_hdr: four encodings, address of .eh_frame, count; then two words an FDE.
constexpr std::size_t kTableHeadBytes = 12;
constexpr std::size_t kTableEntryBytes = 8;

/// What libdw (0.188) keeps of an FDE that it came by, and of a CIE: a structure, a node
/// of a tree, and for a CIE the state that it begins with, of 128 registers at most.
constexpr std::size_t kFunctionBytes = 80;
constexpr std::size_t kCommonBytes = 2304;

ElfHandle open_image(std::vector<std::uint8_t>& image) {
    elf_version(EV_CURRENT);
    return ElfHandle(elf_memory(reinterpret_cast<char*>(image.data()), image.size()));
}

SearchTable make_table(std::uint64_t address, const CfiEntries& entries) {
    constexpr std::int64_t kReach = std::numeric_limits<std::int32_t>::max();
    SearchTable table{address, {}};
    table.entries.reserve(entries.starts.size());
    for (const auto& [code, entry] : entries.starts)
        if (std::abs(code) <= kReach && entry <= kReach)
            table.entries.push_back(
                {static_cast<std::int32_t>(code), static_cast<std::int32_t>(entry)});
    std::ranges::sort(table.entries, {}, &SearchTable::Entry::start);
    return table;
}

/// Of libdw, once it came by all of them.
std::size_t cost_of(const CfiEntries& entries) {
    return entries.functions.size() * kFunctionBytes + entries.common * kCommonBytes;
}

/// Whether a compressed section says a size that may be unpacked.
bool may_unpack(std::span<const std::uint8_t> packed) {
    Elf64_Chdr header;
    if (packed.size() < sizeof(header)) return false;
    std::memcpy(&header, packed.data(), sizeof(header));
    return header.ch_size <= kMaxSectionBytes;
}

/// The first section's bytes, unpacked if need be.
std::span<const std::uint8_t> unpacked(Elf* elf) {
    Elf_Scn* section = elf_getscn(elf, 1);
    GElf_Shdr header;
    if (section == nullptr || gelf_getshdr(section, &header) == nullptr) return {};
    if ((header.sh_flags & SHF_COMPRESSED) != 0 && elf_compress(section, 0, 0) < 0) return {};
    const Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return {};
    return {static_cast<const std::uint8_t*>(data->d_buf), data->d_size};
}

}  // namespace

FrameSections::FrameSections(const ElfBytes& file) {
    if (!file.usable()) return;
    open_eh_frame(file);
    open_debug_frame(file);
}

std::size_t FrameSections::bytes_to_read(const ElfBytes& file) {
    std::size_t bytes = 0;
    if (!file.usable()) return bytes;
    for (const char* name : {".eh_frame", ".eh_frame_hdr", ".debug_frame"})
        if (const auto section = file.section(name, kMaxSectionBytes)) bytes += section->bytes;
    return bytes;
}

FrameSections::~FrameSections() {
    dwarf_cfi_end(eh_frame_);
    dwarf_end(dwarf_);  // and debug_frame_ with it
}

void FrameSections::open_eh_frame(const ElfBytes& file) {
    const auto section = file.section(".eh_frame", kMaxSectionBytes);
    if (!section || section->bytes == 0) return;
    const auto table = file.section(".eh_frame_hdr", kMaxSectionBytes);
    ImageWriter writer(section->bytes + (table ? std::min(table->bytes, section->bytes) : 0));
    const auto frames = writer.add(".eh_frame", *section, file);
    if (!frames) return;
    CfiEntries entries;
    if (!check_cfi(*frames, CfiFormat::EhFrame, entries)) {
        damaged_ = true;
        return;
    }
    if (table) add_table(writer, *table, section->address, entries, file);
    if (!has_table_) table_ = make_table(section->address, entries);
    eh_image_ = writer.finish();
    eh_elf_ = open_image(eh_image_);
    if (eh_elf_ != nullptr) eh_frame_ = dwarf_getcfi_elf(eh_elf_.get());
    common_ = entries.common;
    bytes_ += eh_image_.capacity() + table_.entries.size() * sizeof(SearchTable::Entry);
    if (!has_table_) bytes_ += cost_of(entries);
}

/// The table only makes it faster: one that is not sound is left out.
void FrameSections::add_table(ImageWriter& writer, const ElfBytes::Section& table,
                              std::uint64_t address, const CfiEntries& entries,
                              const ElfBytes& file) {
    if (table.bytes > kTableHeadBytes + kTableEntryBytes * entries.functions.size()) return;
    const auto bytes = writer.add(".eh_frame_hdr", table, file);
    has_table_ = bytes && check_cfi_table(*bytes, table.address, address, entries);
    if (!has_table_) writer.drop_last();
}

void FrameSections::open_debug_frame(const ElfBytes& file) {
    if (damaged_) return;
    const auto section = file.section(".debug_frame", kMaxSectionBytes);
    if (!section || section->bytes == 0) return;
    ImageWriter writer(section->bytes);
    const auto packed = writer.add(".debug_frame", *section, file);
    if (!packed || ((section->flags & SHF_COMPRESSED) != 0 && !may_unpack(*packed))) return;
    debug_image_ = writer.finish();
    debug_elf_ = open_image(debug_image_);
    if (debug_elf_ == nullptr) return;
    CfiEntries entries;
    const auto bytes = unpacked(debug_elf_.get());
    damaged_ = !check_cfi(bytes, CfiFormat::DebugFrame, entries);
    if (damaged_ || entries.functions.empty()) {
        debug_elf_.reset();
        debug_image_ = {};
        return;
    }
    dwarf_ = dwarf_begin_elf(debug_elf_.get(), DWARF_C_READ, nullptr);
    if (dwarf_ != nullptr) debug_frame_ = dwarf_getcfi(dwarf_);
    bytes_ += debug_image_.capacity() + bytes.size() + cost_of(entries);
}

/// libdw comes by one where the table leads it to one, which is counted by rows, and
/// otherwise by all of them on its way to a pc that none is for.
std::size_t FrameSections::bytes() const {
    if (!has_table_) return bytes_;
    return bytes_ + looks_ * kFunctionBytes + std::min(looks_, common_) * kCommonBytes;
}

}  // namespace lattop
