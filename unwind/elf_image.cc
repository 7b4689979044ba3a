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
namespace {

/// Frames that an image remembers; a program blocks in far fewer places.
constexpr std::size_t kMaxKeptFrames = 65536;
constexpr std::size_t kMaxKeptBytes = std::size_t{32} << 20;

/// An ELF handle for as long as it is read.
struct ElfCloser {
    void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, ElfCloser>;

}  // namespace

ElfImage::~ElfImage() = default;

std::unique_ptr<ElfImage> ElfImage::from_file(UniqueFd fd) {
    elf_version(EV_CURRENT);
    std::unique_ptr<ElfImage> image(new ElfImage);
    ElfHandle elf(elf_begin(fd.get(), ELF_C_READ, nullptr));
    if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF) return image;
    image->load(elf.get());
    image->debug_name_ = debug_name(elf.get());
    image->lines_ = ElfLines::open(elf.release(), std::move(fd), AltLink::Refused);
    return image;
}

void ElfImage::add_debug_file(UniqueFd fd, AltLink alt_link) {
    give_up_debug_file();
    ElfHandle elf(elf_begin(fd.get(), ELF_C_READ, nullptr));
    if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF) return;
    // Addresses are the program's own; its segments tell where they are mapped.
    code_.add(elf.get());
    if (variables_) variables_->add(elf.get());
    has_debug_file_ = true;
    lines_ = ElfLines::open(elf.release(), std::move(fd), alt_link);
    frames_.clear();
    frames_bytes_ = 0;
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

UserFramePtr ElfImage::make_frame(std::uint64_t file_offset, bool return_address,
                                  const std::string& path) {
    auto frame = std::make_shared<UserFrame>();
    frame->module = module_name(path);
    frame->path = path;
    frame->offset = file_offset;
    const auto address = address_of(file_offset);
    if (!address) return frame;
    const std::uint64_t look_up = *address - (return_address ? 1 : 0);
    // Without a name the address as the file counts it, for addr2line.
    frame->offset = *address;
    if (const ElfSymbols::Symbol* symbol = code_.find(look_up)) {
        frame->symbol = demangle(code_.name_of(*symbol));
        frame->offset = *address - symbol->address;
    }
    set_place(*frame, look_up);
    return frame;
}

/// A call stands in the line of the function that it was inlined into: lines
/// move up by one function.
void ElfImage::set_place(UserFrame& frame, std::uint64_t address) {
    if (lines_ == nullptr) return;
    auto place = lines_->place_at(address);
    if (!place) return;
    SourceLine line = std::move(place->line);
    for (InlinedCall& call : place->inlined) {
        frame.inlined.push_back({std::move(call.function), std::move(line.file), line.line});
        line = std::move(call.call);
    }
    frame.file = std::move(line.file);
    frame.line = line.line;
}

UserFramePtr ElfImage::frame_at(std::uint64_t file_offset, bool return_address,
                                const std::string& path) {
    const std::uint64_t key = file_offset << 1 | (return_address ? 1 : 0);
    const auto found = frames_.find(key);
    // One file may be mapped under several paths: the frame keeps the latest.
    if (found != frames_.end() && found->second->path == path) return found->second;
    UserFramePtr frame = make_frame(file_offset, return_address, path);
    const std::size_t bytes = bytes_of(*frame);
    if (frames_.size() >= kMaxKeptFrames || frames_bytes_ + bytes > kMaxKeptBytes) {
        frames_.clear();
        frames_bytes_ = 0;
    }
    frames_bytes_ += bytes;
    return frames_[key] = std::move(frame);
}

std::optional<std::uint64_t> ElfImage::address_in(const Mapping& code,
                                                  std::uint64_t address) const {
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

void ElfImage::load_variables(const UniqueFd& fd) {
    variables_.emplace(ElfSymbols::Of::Data);
    const ElfHandle elf(fd ? elf_begin(fd.get(), ELF_C_READ, nullptr) : nullptr);
    if (elf != nullptr && elf_kind(elf.get()) == ELF_K_ELF) variables_->add(elf.get());
    if (has_debug_file_ && lines_ != nullptr) variables_->add(lines_->elf());
}

std::string ElfImage::variable_at(std::uint64_t address) const {
    const ElfSymbols::Symbol* symbol = variables_ ? variables_->find(address) : nullptr;
    if (symbol == nullptr) return "";
    const std::uint64_t offset = address - symbol->address;
    std::string name = demangle(variables_->name_of(*symbol));
    return offset == 0 ? name : fmt::format("{}+{:#x}", name, offset);
}

std::size_t ElfImage::bytes() const {
    return sizeof(*this) + code_.bytes() + (variables_ ? variables_->bytes() : 0) +
           (lines_ == nullptr ? 0 : lines_->bytes()) + frames_bytes_;
}

}  // namespace lattop
