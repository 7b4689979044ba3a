// SPDX-License-Identifier: GPL-2.0-or-later
//
// See frame_sections.h. What libelf gets is written here:
//
//	+-------------+-----------+-----------+-----+----------------------------+
//	| Elf64_Ehdr  | section 1 | section 2 | ... | Elf64_Shdr: none, 1, 2, ..., |
//	|             |           |           |     | names                        |
//	+-------------+-----------+-----------+-----+----------------------------+
#include "unwind/frame_sections.h"

#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "unwind/cfi_check.h"

namespace lattop {
namespace {

/// A browser's .eh_frame has 20 MB.
constexpr std::uint64_t kMaxSectionBytes = std::uint64_t{128} << 20;

struct Part {
    std::string_view name;
    ElfBytes::Section section;
};

class ImageWriter {
public:
    std::vector<std::uint8_t> write(const std::vector<Part>& parts);

private:
    std::uint64_t append(const void* bytes, std::size_t count) {
        image_.resize((image_.size() + 7) / 8 * 8);
        const std::uint64_t offset = image_.size();
        const auto* first = static_cast<const std::uint8_t*>(bytes);
        image_.insert(image_.end(), first, first + count);
        return offset;
    }
    Elf64_Word name(std::string_view text) {
        const auto offset = static_cast<Elf64_Word>(names_.size());
        names_.append(text).push_back('\0');
        return offset;
    }

    std::vector<std::uint8_t> image_;
    std::string names_ = std::string(1, '\0');
};

Elf64_Ehdr make_header() {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof(Elf64_Ehdr);
    header.e_shentsize = sizeof(Elf64_Shdr);
    return header;
}

std::vector<std::uint8_t> ImageWriter::write(const std::vector<Part>& parts) {
    Elf64_Ehdr header = make_header();
    append(&header, sizeof(header));
    std::vector<Elf64_Shdr> table(1);
    for (const Part& part : parts) {
        Elf64_Shdr entry{};
        entry.sh_name = name(part.name);
        entry.sh_type = SHT_PROGBITS;
        entry.sh_flags = part.section.flags & (SHF_ALLOC | SHF_COMPRESSED);
        entry.sh_addr = part.section.address;
        entry.sh_offset = append(part.section.bytes.data(), part.section.bytes.size());
        entry.sh_size = part.section.bytes.size();
        entry.sh_addralign = 8;
        table.push_back(entry);
    }
    Elf64_Shdr names{};
    names.sh_name = name(".shstrtab");
    names.sh_type = SHT_STRTAB;
    names.sh_addralign = 1;
    names.sh_size = names_.size();
    names.sh_offset = append(names_.data(), names_.size());
    header.e_shstrndx = static_cast<Elf64_Half>(table.size());
    table.push_back(names);
    header.e_shnum = static_cast<Elf64_Half>(table.size());
    header.e_shoff = append(table.data(), table.size() * sizeof(Elf64_Shdr));
    std::memcpy(image_.data(), &header, sizeof(header));
    return std::move(image_);
}

Elf* open_image(std::vector<std::uint8_t>& image) {
    elf_version(EV_CURRENT);
    return elf_memory(reinterpret_cast<char*>(image.data()), image.size());
}

SearchTable make_table(std::uint64_t address, const CfiEntries& entries) {
    constexpr std::int64_t kReach = std::numeric_limits<std::int32_t>::max();
    SearchTable table{address, {}};
    for (const auto& [code, entry] : entries.starts)
        if (std::abs(code) <= kReach && entry <= kReach)
            table.entries.push_back(
                {static_cast<std::int32_t>(code), static_cast<std::int32_t>(entry)});
    std::ranges::sort(table.entries, {}, &SearchTable::Entry::start);
    return table;
}

/// Whether a compressed section says a size that may be unpacked.
bool may_unpack(const ElfBytes::Section& section) {
    Elf64_Chdr header;
    if (section.bytes.size() < sizeof(header)) return false;
    std::memcpy(&header, section.bytes.data(), sizeof(header));
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

FrameSections::~FrameSections() {
    dwarf_cfi_end(eh_frame_);
    dwarf_end(dwarf_);  // and debug_frame_ with it
    elf_end(eh_elf_);
    elf_end(debug_elf_);
}

void FrameSections::open_eh_frame(const ElfBytes& file) {
    auto frames = file.section(".eh_frame", kMaxSectionBytes);
    if (!frames || frames->bytes.empty()) return;
    CfiEntries entries;
    if (!check_cfi(frames->bytes, CfiFormat::EhFrame, entries)) {
        damaged_ = true;
        return;
    }
    const std::uint64_t address = frames->address;
    std::vector<Part> parts;
    parts.push_back({".eh_frame", *std::move(frames)});
    // The table only makes it faster: one that is not sound is left out.
    auto table = file.section(".eh_frame_hdr", kMaxSectionBytes);
    if (table && check_cfi_table(table->bytes, table->address, address, entries))
        parts.insert(parts.begin(), {".eh_frame_hdr", *std::move(table)});
    else
        table_ = make_table(address, entries);
    eh_image_ = ImageWriter().write(parts);
    eh_elf_ = open_image(eh_image_);
    if (eh_elf_ != nullptr) eh_frame_ = dwarf_getcfi_elf(eh_elf_);
    bytes_ += eh_image_.size() + table_.entries.size() * sizeof(SearchTable::Entry);
}

void FrameSections::open_debug_frame(const ElfBytes& file) {
    auto frames = file.section(".debug_frame", kMaxSectionBytes);
    if (!frames || frames->bytes.empty()) return;
    if ((frames->flags & SHF_COMPRESSED) != 0 && !may_unpack(*frames)) return;
    std::vector<Part> parts;
    parts.push_back({".debug_frame", *std::move(frames)});
    debug_image_ = ImageWriter().write(parts);
    debug_elf_ = open_image(debug_image_);
    if (debug_elf_ == nullptr) return;
    CfiEntries entries;
    const auto bytes = unpacked(debug_elf_);
    damaged_ = damaged_ || !check_cfi(bytes, CfiFormat::DebugFrame, entries);
    if (damaged_ || entries.functions.empty()) return;
    dwarf_ = dwarf_begin_elf(debug_elf_, DWARF_C_READ, nullptr);
    if (dwarf_ != nullptr) debug_frame_ = dwarf_getcfi(dwarf_);
    bytes_ += debug_image_.size() + bytes.size();
}

}  // namespace lattop
