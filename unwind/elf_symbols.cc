// SPDX-License-Identifier: GPL-2.0-or-later
//
// See elf_symbols.h.
#include "unwind/elf_symbols.h"

#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <string_view>

namespace lattop {
namespace {

/// Symbols and their names of one file.
struct Most {
    std::size_t symbols, name_bytes;
};
/// A browser with all its symbols has a tenth.
constexpr Most kMostCode{std::size_t{16} << 20, std::size_t{1} << 30};
/// Few futexes have a name at all: variables are worth less memory.
constexpr Most kMostData{std::size_t{1} << 20, std::size_t{64} << 20};

/// A file has one of each kind (gABI, Sections). Tens of thousands may be the same bytes, of which
/// libelf keeps a copy for each.
constexpr std::size_t kMaxTables = 4;

/// Nested symbols that find() looks through for one that covers an address.
constexpr int kMaxNesting = 16;

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

/// Of a symbol without a size, which is worse than any that has one: where that ends is known.
constexpr std::uint32_t kUnsized = std::uint32_t{1} << 31;

/// Of ARM and RISC-V: where code, and data in it, begin.
bool is_mapping_symbol(std::string_view name) {
    return name.size() >= 2 && name[0] == '$' &&
           std::string_view("adtx").find(name[1]) != std::string_view::npos &&
           (name.size() == 2 || name[2] == '.');
}

bool names_code(const GElf_Sym& symbol, const std::vector<GElf_Shdr>& sections) {
    const unsigned type = GELF_ST_TYPE(symbol.st_info);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name == 0) return false;
    if (type == STT_FUNC || type == STT_GNU_IFUNC) return true;
    // Assembly: labels without a type, in code.
    return type == STT_NOTYPE && symbol.st_shndx < sections.size() &&
           (sections[symbol.st_shndx].sh_flags & SHF_EXECINSTR) != 0;
}

/// One without a size would cover all that is behind it.
bool names_data(const GElf_Sym& symbol) {
    return GELF_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_shndx != SHN_UNDEF &&
           symbol.st_name != 0 && symbol.st_size != 0;
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

struct ElfSymbols::File {
    Elf* elf;
    std::vector<GElf_Shdr> sections;
};

void ElfSymbols::add_table(const File& file, std::size_t section) {
    const auto& [elf, sections] = file;
    const GElf_Shdr& header = sections.at(section);
    const Most& most = of_ == Of::Code ? kMostCode : kMostData;
    if (header.sh_size > most.symbols * sizeof(GElf_Sym)) return;  // libelf would copy it
    Elf_Data* data = elf_getdata(elf_getscn(elf, section), nullptr);
    if (data == nullptr || header.sh_entsize == 0) return;
    const std::size_t count = data->d_size / header.sh_entsize;
    for (std::size_t i = 0; i < count && looked_at_ < most.symbols; ++i, ++looked_at_) {
        GElf_Sym symbol;
        if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) return;
        if (!(of_ == Of::Code ? names_code(symbol, sections) : names_data(symbol))) continue;
        const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
        if (name == nullptr || *name == '\0' || is_mapping_symbol(name)) continue;
        const std::string_view text(name);
        if (names_.size() + text.size() + 1 > most.name_bytes) return;
        const bool sized = symbol.st_size != 0;
        const std::uint64_t end =
            sized ? symbol.st_value + symbol.st_size : section_end(symbol, sections);
        symbols_.push_back({symbol.st_value, end, static_cast<std::uint32_t>(names_.size()),
                            preference_of(text, symbol.st_info) | (sized ? 0 : kUnsized)});
        names_.append(text);
        names_ += '\0';
    }
}

void ElfSymbols::add(Elf* elf) {
    const File file{elf, section_headers(elf)};
    std::size_t tables = 0;
    for (std::size_t i = 1; i < file.sections.size() && tables < kMaxTables; ++i)
        if (file.sections[i].sh_type == SHT_SYMTAB || file.sections[i].sh_type == SHT_DYNSYM) {
            add_table(file, i);
            ++tables;
        }
    order();
}

/// Sorts by address and keeps the best name at each, with the farthest end that a size says.
void ElfSymbols::order() {
    std::ranges::sort(symbols_, [](const Symbol& a, const Symbol& b) {
        return a.address != b.address ? a.address < b.address : a.preference < b.preference;
    });
    const auto is_unsized = [](const Symbol& symbol) {
        return (symbol.preference & kUnsized) != 0;
    };
    std::size_t kept = 0;
    for (const Symbol& symbol : symbols_) {
        Symbol* same = kept != 0 && symbols_[kept - 1].address == symbol.address
                           ? &symbols_[kept - 1]
                           : nullptr;
        if (same == nullptr)
            symbols_[kept++] = symbol;
        else if (is_unsized(*same) == is_unsized(symbol))
            same->end = std::max(same->end, symbol.end);
    }
    symbols_.resize(kept);
    // A label in a function is not what its code is called, nor is what is behind the next symbol.
    std::uint64_t sized_end = 0;
    std::size_t told = 0;
    for (std::size_t i = 0; i < kept; ++i) {
        Symbol symbol = symbols_[i];
        if (!is_unsized(symbol))
            sized_end = std::max(sized_end, symbol.end);
        else if (symbol.address < sized_end)
            continue;
        else if (i + 1 < kept)
            symbol.end = std::min(symbol.end, symbols_[i + 1].address);
        symbols_[told++] = symbol;
    }
    symbols_.resize(told);
    symbols_.shrink_to_fit();
    names_.shrink_to_fit();
}

const ElfSymbols::Symbol* ElfSymbols::find(std::uint64_t address) const {
    auto at = std::ranges::upper_bound(symbols_, address, {}, &Symbol::address);
    for (int i = 0; i < kMaxNesting && at != symbols_.begin(); ++i) {
        --at;
        if (address < at->end) return &*at;
    }
    return nullptr;
}

}  // namespace lattop
