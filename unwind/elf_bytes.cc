// SPDX-License-Identifier: GPL-2.0-or-later
//
// See elf_bytes.h. The format: System V ABI, "Object Files"; <elf.h>.
#include "unwind/elf_bytes.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "unwind/pread_all.h"

namespace lattop {
namespace {

constexpr std::size_t kMaxSegments = 256;
constexpr std::size_t kMaxNameBytes = std::size_t{1} << 20;

bool is_our_kind(const Elf64_Ehdr& header) {
    return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
           header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
           header.e_machine == EM_X86_64 && header.e_phentsize == sizeof(Elf64_Phdr) &&
           header.e_phnum <= kMaxSegments;
}

template <typename T>
std::span<std::uint8_t> bytes_of(T* first, std::size_t count) {
    return {reinterpret_cast<std::uint8_t*>(first), count * sizeof(T)};
}

}  // namespace

ElfBytes ElfBytes::from_file(UniqueFd fd) {
    ElfBytes elf;
    elf.fd_ = std::move(fd);
    elf.load();
    return elf;
}

ElfBytes ElfBytes::from_memory(std::vector<char> bytes) {
    ElfBytes elf;
    elf.memory_ = std::move(bytes);
    elf.load();
    return elf;
}

bool ElfBytes::read(std::uint64_t offset, std::span<std::uint8_t> bytes) const {
    if (offset > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max()) - bytes.size())
        return false;
    if (!fd_) {
        if (offset > memory_.size() || bytes.size() > memory_.size() - offset) return false;
        std::memcpy(bytes.data(), memory_.data() + offset, bytes.size());
        return true;
    }
    return pread_all(fd_, std::as_writable_bytes(bytes), offset) == bytes.size();
}

bool ElfBytes::load_tables() {
    if (!read(0, bytes_of(&header_, 1)) || !is_our_kind(header_)) return false;
    segments_.resize(header_.e_phnum);
    if (!read(header_.e_phoff, bytes_of(segments_.data(), segments_.size()))) return false;
    // Without section headers there are segments still. e_shnum has 16 bits.
    if (header_.e_shentsize != sizeof(Elf64_Shdr) || header_.e_shstrndx >= header_.e_shnum)
        return true;
    sections_.resize(header_.e_shnum);
    if (!read(header_.e_shoff, bytes_of(sections_.data(), sections_.size()))) sections_.clear();
    if (sections_.empty()) return true;
    const Elf64_Shdr& names = sections_.at(header_.e_shstrndx);
    if (names.sh_size <= kMaxNameBytes) {
        names_.resize(static_cast<std::size_t>(names.sh_size));
        if (!read(names.sh_offset, names_)) names_.clear();
    }
    return true;
}

void ElfBytes::load() {
    usable_ = load_tables();
    if (!usable_) segments_.clear();
}

std::optional<ElfBytes::Section> ElfBytes::section(std::string_view name,
                                                   std::uint64_t max_bytes) const {
    for (const Elf64_Shdr& header : sections_) {
        if (header.sh_type == SHT_NOBITS || header.sh_name >= names_.size()) continue;
        const std::string_view rest(reinterpret_cast<const char*>(names_.data()) + header.sh_name,
                                    names_.size() - header.sh_name);
        if (rest.substr(0, rest.find('\0')) != name) continue;
        if (header.sh_size > max_bytes) return std::nullopt;
        return Section{header.sh_addr, header.sh_flags, header.sh_offset,
                       static_cast<std::size_t>(header.sh_size)};
    }
    return std::nullopt;
}

std::optional<std::uint64_t> ElfBytes::address_of(std::uint64_t file_offset) const {
    for (const Elf64_Phdr& segment : segments_)
        if (segment.p_type == PT_LOAD && file_offset >= segment.p_offset &&
            file_offset - segment.p_offset < segment.p_filesz)
            return file_offset - segment.p_offset + segment.p_vaddr;
    return std::nullopt;
}

}  // namespace lattop
