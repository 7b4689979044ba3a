// SPDX-License-Identifier: GPL-2.0-or-later
//
// See elf_image.h.
#include "unwind/elf_image.h"

#include <gelf.h>
#include <libelf.h>

#include <algorithm>

#include "unwind/demangle.h"
#include "unwind/elf_lines.h"
#include "unwind/maps.h"
#include "unwind/mini_debug.h"

namespace lattop {
namespace {

/// Symbols and their names of one file; a browser with all its symbols has a
/// tenth.
constexpr std::size_t kMaxSymbols = std::size_t{16} << 20;
constexpr std::size_t kMaxSymbolNameBytes = std::size_t{1} << 30;

/// Frames that an image remembers; a program blocks in far fewer places.
constexpr std::size_t kMaxKeptFrames = 65536;

/// Nested symbols that find() looks through for one that covers an address.
constexpr int kMaxNesting = 16;

/// An ELF handle for as long as it is read.
struct ElfCloser {
    void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, ElfCloser>;

/// Which of several names of one function to show: the one that people write
/// ("nanosleep", not "__nanosleep"), then what is visible outside.
std::uint32_t preference_of(std::string_view name, unsigned char info) {
    const auto first = std::min(name.find_first_not_of('_'), name.size());
    const auto underscores = static_cast<std::uint32_t>(std::min<std::size_t>(first, 15));
    const unsigned binding = GELF_ST_BIND(info);
    const std::uint32_t scope = binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : 2;
    const auto length = static_cast<std::uint32_t>(std::min<std::size_t>(name.size(), 0xffff));
    return underscores << 24 | scope << 16 | length;
}

bool names_code(const GElf_Sym& symbol, const std::vector<GElf_Shdr>& sections) {
    const unsigned type = GELF_ST_TYPE(symbol.st_info);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name == 0) return false;
    if (type == STT_FUNC || type == STT_GNU_IFUNC) return true;
    // Assembly: labels without a type, in code.
    return type == STT_NOTYPE && symbol.st_shndx < sections.size() &&
           (sections[symbol.st_shndx].sh_flags & SHF_EXECINSTR) != 0;
}

/// Where a symbol without a size ends at the latest.
std::uint64_t section_end(const GElf_Sym& symbol, const std::vector<GElf_Shdr>& sections) {
    if (symbol.st_shndx >= sections.size()) return symbol.st_value + 1;
    const GElf_Shdr& section = sections[symbol.st_shndx];
    return section.sh_addr + section.sh_size;
}

std::vector<GElf_Shdr> section_headers(Elf* elf) {
    std::vector<GElf_Shdr> headers(1);  // section 0 is none
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
        GElf_Shdr header{};
        gelf_getshdr(section, &header);
        headers.push_back(header);
    }
    return headers;
}

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
    load_symbols(elf.get());
    lines_ = ElfLines::open(elf.release(), std::move(fd), alt_link);
    frames_.clear();
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
    load_symbols(elf);
    std::vector<char> mini = mini_debug_info(elf);
    const ElfHandle inner(mini.empty() ? nullptr : elf_memory(mini.data(), mini.size()));
    if (inner != nullptr && elf_kind(inner.get()) == ELF_K_ELF) load_symbols(inner.get());
}

void ElfImage::load_segments(Elf* elf) {
    std::size_t count = 0;
    if (elf_getphdrnum(elf, &count) != 0) return;
    for (std::size_t i = 0; i < count; ++i) {
        GElf_Phdr header;
        if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr) return;
        if (header.p_type == PT_LOAD)
            segments_.push_back({header.p_offset, header.p_filesz, header.p_vaddr});
    }
}

void ElfImage::load_table(Elf* elf, std::size_t section) {
    const std::vector<GElf_Shdr> sections = section_headers(elf);
    const GElf_Shdr& header = sections.at(section);
    Elf_Data* data = elf_getdata(elf_getscn(elf, section), nullptr);
    if (data == nullptr || header.sh_entsize == 0) return;
    const std::size_t count = data->d_size / header.sh_entsize;
    for (std::size_t i = 0; i < count && symbols_.size() < kMaxSymbols; ++i) {
        GElf_Sym symbol;
        if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) return;
        if (!names_code(symbol, sections)) continue;
        const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
        if (name == nullptr || *name == '\0' || *name == '$') continue;
        const std::string_view text(name);
        if (names_.size() + text.size() + 1 > kMaxSymbolNameBytes) return;
        const std::uint64_t end =
            symbol.st_size != 0 ? symbol.st_value + symbol.st_size : section_end(symbol, sections);
        symbols_.push_back({symbol.st_value, end, static_cast<std::uint32_t>(names_.size()),
                            preference_of(text, symbol.st_info)});
        names_.append(text);
        names_ += '\0';
    }
}

void ElfImage::load_symbols(Elf* elf) {
    const std::vector<GElf_Shdr> sections = section_headers(elf);
    for (std::size_t i = 1; i < sections.size(); ++i)
        if (sections[i].sh_type == SHT_SYMTAB || sections[i].sh_type == SHT_DYNSYM)
            load_table(elf, i);
    order_symbols();
}

/// Sorts by address and keeps the best name at each, with the farthest end.
void ElfImage::order_symbols() {
    std::ranges::sort(symbols_, [](const Symbol& a, const Symbol& b) {
        return a.address != b.address ? a.address < b.address : a.preference < b.preference;
    });
    std::size_t kept = 0;
    for (const Symbol& symbol : symbols_) {
        if (kept != 0 && symbols_[kept - 1].address == symbol.address)
            symbols_[kept - 1].end = std::max(symbols_[kept - 1].end, symbol.end);
        else
            symbols_[kept++] = symbol;
    }
    symbols_.resize(kept);
    symbols_.shrink_to_fit();
    names_.shrink_to_fit();
}

std::optional<std::uint64_t> ElfImage::address_of(std::uint64_t file_offset) const {
    for (const Segment& segment : segments_)
        if (file_offset >= segment.offset && file_offset - segment.offset < segment.bytes)
            return file_offset - segment.offset + segment.address;
    return std::nullopt;
}

const ElfImage::Symbol* ElfImage::find(std::uint64_t address) const {
    auto at = std::ranges::upper_bound(symbols_, address, {}, &Symbol::address);
    for (int i = 0; i < kMaxNesting && at != symbols_.begin(); ++i) {
        --at;
        if (address < at->end) return &*at;
    }
    return nullptr;
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
    if (const Symbol* symbol = find(look_up)) {
        frame->symbol = demangle(names_.data() + symbol->name);
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
    if (frames_.size() >= kMaxKeptFrames) frames_.clear();
    return frames_[key] = make_frame(file_offset, return_address, path);
}

std::size_t ElfImage::bytes() const {
    return sizeof(*this) + symbols_.capacity() * sizeof(Symbol) + names_.capacity() +
           (lines_ == nullptr ? 0 : lines_->bytes());
}

}  // namespace lattop
