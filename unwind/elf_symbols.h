// SPDX-License-Identifier: GPL-2.0-or-later
//
// The symbols of an ELF file by address: of its functions, or of its variables.
// Held by ElfImage. All of a file is taken as hostile; elfutils checks its
// structure, sizes are bounded here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

struct Elf;

namespace lattop {

class ElfSymbols {
public:
    enum class Of {
        Code,  ///< functions, and labels in code
        Data,  ///< variables that have a size
    };

    struct Symbol {
        std::uint64_t address;
        std::uint64_t end;         ///< first address behind it
        std::uint32_t name;        ///< see name_of()
        std::uint32_t preference;  ///< less is better, among those at one address; has it a size
    };

    explicit ElfSymbols(Of of) : of_(of) {}

    /// Adds those of all symbol tables of a file.
    void add(Elf* elf);

    /// The innermost that covers `address`; nullptr for none.
    [[nodiscard]] const Symbol* find(std::uint64_t address) const;

    /// As the file has it, not demangled.
    [[nodiscard]] const char* name_of(const Symbol& symbol) const {
        return names_.data() + symbol.name;
    }

    [[nodiscard]] std::size_t count() const { return symbols_.size(); }

    /// How many entries of symbol tables were looked at; as many as it may keep, at most.
    [[nodiscard]] std::size_t looked_at() const { return looked_at_; }

    /// About how much memory they take.
    [[nodiscard]] std::size_t bytes() const {
        return symbols_.capacity() * sizeof(Symbol) + names_.capacity();
    }

private:
    struct File;
    void add_table(const File& file, std::size_t section);
    void order();

    Of of_;
    std::size_t looked_at_ = 0;
    std::vector<Symbol> symbols_;  // by address, one at each
    std::string names_;
};

}  // namespace lattop
