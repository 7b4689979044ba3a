// SPDX-License-Identifier: GPL-2.0-or-later
//
// See elf_image.h.
#include "unwind/elf_image.h"

#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>

#include "unwind/demangle.h"
#include "unwind/elf_lines.h"
#include "unwind/maps.h"
#include "unwind/mini_debug.h"

namespace lattop {

ElfImage::~ElfImage() = default;

std::unique_ptr<ElfImage> ElfImage::names_of(UniqueFd fd) {
    elf_version(EV_CURRENT);
    std::unique_ptr<ElfImage> image(new ElfImage);
    ElfHandle elf(elf_begin(fd.get(), ELF_C_READ, nullptr));
    if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF) return image;
    image->load(elf.get());
    image->set_debug_name(debug_name(elf.get()));
    image->elf_ = std::move(elf);
    image->fd_ = std::move(fd);
    return image;
}

std::unique_ptr<ElfImage> ElfImage::from_file(UniqueFd fd) {
    auto image = names_of(std::move(fd));
    image->open_lines();
    return image;
}

bool ElfImage::open_lines() {
    if (elf_ != nullptr) lines_ = ElfLines::open(std::move(elf_), std::move(fd_), AltLink::Refused);
    return lines_ != nullptr;
}

void ElfImage::forget_lines() {
    elf_.reset();
    fd_.reset();
}

void ElfImage::read_debug_file(UniqueFd fd, AltLink alt_link) {
    ElfHandle elf(elf_begin(fd.get(), ELF_C_READ, nullptr));
    if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF) return;
    // Addresses are the program's own; its segments tell where they are mapped.
    code_.add(elf.get());
    if (variables_) variables_->add(elf.get());
    has_debug_file_ = true;
    lines_ = ElfLines::open(std::move(elf), std::move(fd), alt_link);
}

std::unique_ptr<ElfImage> ElfImage::from_memory(std::vector<char> bytes) {
    elf_version(EV_CURRENT);
    std::unique_ptr<ElfImage> image(new ElfImage);
    const ElfHandle elf(elf_memory(bytes.data(), bytes.size()));
    if (elf != nullptr && elf_kind(elf.get()) == ELF_K_ELF) image->load(elf.get());
    return image;
}

void ElfImage::load(Elf* elf) {
    load_segments(elf);
    code_.add(elf);
    std::vector<char> mini = mini_debug_info(elf);
    const ElfHandle inner(mini.empty() ? nullptr : elf_memory(mini.data(), mini.size()));
    if (inner != nullptr && elf_kind(inner.get()) == ELF_K_ELF) code_.add(inner.get());
}

void ElfImage::load_segments(Elf* elf) {
    std::size_t count = 0;
    if (elf_getphdrnum(elf, &count) != 0) return;
    for (std::size_t i = 0; i < count; ++i) {
        GElf_Phdr header;
        if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr) return;
        if (header.p_type == PT_LOAD)
            segments_.push_back({header.p_offset, header.p_filesz, header.p_vaddr, header.p_memsz,
                                 (header.p_flags & PF_X) != 0});
    }
}

std::optional<std::uint64_t> ElfImage::address_of(std::uint64_t file_offset) const {
    for (const Segment& segment : segments_)
        if (file_offset >= segment.offset && file_offset - segment.offset < segment.bytes)
            return file_offset - segment.offset + segment.address;
    return std::nullopt;
}

UserFrame ElfImage::symbol_at(std::uint64_t file_offset, bool return_address) const {
    UserFrame frame;
    frame.offset = file_offset;
    const auto address = address_of(file_offset);
    if (!address) return frame;
    // For addr2line.
    frame.offset = *address;
    if (const ElfSymbols::Symbol* symbol = code_.find(*address - (return_address ? 1 : 0))) {
        frame.symbol = demangle(code_.name_of(*symbol));
        frame.offset = *address - symbol->address;
    }
    return frame;
}

std::optional<SourcePlace> ElfImage::place_at(std::uint64_t file_offset, bool return_address) {
    const auto address = address_of(file_offset);
    if (!address || lines_ == nullptr) return std::nullopt;
    return lines_->place_at(*address - (return_address ? 1 : 0));
}

UserFrame ElfImage::read_frame(std::uint64_t file_offset, bool return_address) {
    UserFrame frame = symbol_at(file_offset, return_address);
    if (auto place = place_at(file_offset, return_address)) set_place(frame, *std::move(place));
    return frame;
}

std::optional<std::uint64_t> ElfImage::address_in(const Mapping& code, std::uint64_t address) {
    const auto mapped = std::ranges::find_if(segments_, [&](const Segment& segment) {
        return segment.executable && code.offset < segment.offset + segment.bytes &&
               segment.offset < code.offset + (code.end - code.start);
    });
    if (mapped == segments_.end()) return std::nullopt;
    // From a process's addresses to the file's; may wrap around 0.
    const std::uint64_t own = address - code.start + code.offset - mapped->offset + mapped->address;
    const bool covered = std::ranges::any_of(segments_, [&](const Segment& segment) {
        return own >= segment.address && own - segment.address < segment.memory_bytes;
    });
    return covered ? std::optional(own) : std::nullopt;
}

void ElfImage::load_variables(UniqueFd fd) {
    variables_.emplace(ElfSymbols::Of::Data);
    const ElfHandle elf(fd ? elf_begin(fd.get(), ELF_C_READ, nullptr) : nullptr);
    if (elf != nullptr && elf_kind(elf.get()) == ELF_K_ELF) variables_->add(elf.get());
    if (has_debug_file_ && lines_ != nullptr) variables_->add(lines_->elf());
}

std::string ElfImage::variable_at(std::uint64_t address) {
    const ElfSymbols::Symbol* symbol = variables_ ? variables_->find(address) : nullptr;
    if (symbol == nullptr) return "";
    const std::uint64_t offset = address - symbol->address;
    std::string name = demangle(variables_->name_of(*symbol));
    return offset == 0 ? name : fmt::format("{}+{:#x}", name, offset);
}

std::size_t ElfImage::held() const {
    return sizeof(*this) + code_.bytes() + (variables_ ? variables_->bytes() : 0) +
           (lines_ == nullptr ? 0 : lines_->bytes());
}

}  // namespace lattop
