// SPDX-License-Identifier: GPL-2.0-or-later
//
// See image_writer.h. What it writes:
//
//	+-------------+-----------+-----------+-----+------------------------------+
//	| Elf64_Ehdr  | section 1 | section 2 | ... | names | Elf64_Shdr: none, ..., |
//	|             |           |           |     |       | 2, 1, names            |
//	+-------------+-----------+-----------+-----+------------------------------+
#include "unwind/image_writer.h"

#include <utility>

#include "unwind/elf_header.h"

namespace lattop {

ImageWriter::ImageWriter(std::size_t bytes) {
    constexpr std::size_t kOwnBytes = 1024;  // headers, names
    image_.reserve(bytes + kOwnBytes);
    make_room(sizeof(Elf64_Ehdr));
}

std::optional<std::span<const std::uint8_t>> ImageWriter::add(std::string_view name_text,
                                                              const ElfBytes::Section& section,
                                                              const ElfBytes& file) {
    Elf64_Shdr entry{};
    entry.sh_name = name(name_text);
    entry.sh_type = SHT_PROGBITS;
    entry.sh_flags = section.flags & (SHF_ALLOC | SHF_COMPRESSED);
    entry.sh_addr = section.address;
    entry.sh_offset = make_room(section.bytes);
    entry.sh_size = section.bytes;
    entry.sh_addralign = 8;
    sections_.push_back(entry);
    const std::span<std::uint8_t> bytes(image_.data() + entry.sh_offset, section.bytes);
    if (!file.read(section.offset, bytes)) return std::nullopt;
    return bytes;
}

void ImageWriter::drop_last() {
    image_.resize(sections_.back().sh_offset);
    sections_.pop_back();
}

std::vector<std::uint8_t> ImageWriter::finish() {
    Elf64_Ehdr header = new_elf_header(ET_DYN);
    std::vector<Elf64_Shdr> table(1);
    // The last one first: libdw wants .eh_frame_hdr before .eh_frame.
    table.insert(table.end(), sections_.rbegin(), sections_.rend());
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

}  // namespace lattop
