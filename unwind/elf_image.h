// SPDX-License-Identifier: GPL-2.0-or-later
//
// What an ELF file says about its code: functions by address, from its own
// tables and the one compressed within (mini_debug.h), source lines where it or
// its debug file carries DWARF. Read in this process: by the image reader, which is
// held back (image_server.h), and by tests.
//
// Files are read, not mapped: one that is cut short while we look at it gives a
// read error, not a SIGBUS. All of a file is taken as hostile; elfutils checks
// its structure. Sizes are bounded here, but what elfutils makes of a hostile file in
// memory and time is not: that is what the image reader is for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "unwind/elf_handle.h"
#include "unwind/elf_lines.h"
#include "unwind/elf_symbols.h"
#include "unwind/frame.h"
#include "unwind/maps.h"
#include "unwind/program_image.h"
#include "unwind/unique_fd.h"

namespace lattop {

class ElfImage final : public ProgramImage {
public:
    /// Reads the symbols of the file and opens its lines. A file that is not ELF, or broken, gives
    /// an image without any: asking again would not help.
    static std::unique_ptr<ElfImage> from_file(UniqueFd fd);

    /// The same without its lines, which open_lines() opens.
    static std::unique_ptr<ElfImage> names_of(UniqueFd fd);

    /// The same for an image in memory (the vdso).
    static std::unique_ptr<ElfImage> from_memory(std::vector<char> bytes);

    ~ElfImage() override;

    /// Whether the file has lines.
    bool open_lines();

    /// Closes the file: its lines are not wanted.
    void forget_lines();

    /// Names the code at `file_offset`; without a name it says the address as the file counts it.
    [[nodiscard]] UserFrame symbol_at(std::uint64_t file_offset, bool return_address) const;

    /// Where that stands in its sources, and what was inlined there; nothing where no unit has it.
    std::optional<SourcePlace> place_at(std::uint64_t file_offset, bool return_address);

    [[nodiscard]] std::size_t symbol_count() const override { return code_.count(); }
    [[nodiscard]] bool has_lines() const override { return lines_ != nullptr; }
    [[nodiscard]] std::optional<std::uint64_t> address_in(const Mapping& code,
                                                          std::uint64_t address) override;
    [[nodiscard]] bool has_variables() const override { return variables_.has_value(); }
    void load_variables(UniqueFd fd) override;
    [[nodiscard]] std::string variable_at(std::uint64_t address) override;

private:
    struct Segment {
        std::uint64_t offset, bytes, address;
        std::uint64_t memory_bytes;  ///< what is behind `bytes` begins as zeros
        bool executable;
    };
    ElfImage() = default;
    void load(Elf* elf);
    void load_segments(Elf* elf);
    [[nodiscard]] std::optional<std::uint64_t> address_of(std::uint64_t file_offset) const;
    UserFrame read_frame(std::uint64_t file_offset, bool return_address) override;
    void read_debug_file(UniqueFd fd, AltLink alt_link) override;
    [[nodiscard]] std::size_t held() const override;

    std::vector<Segment> segments_;
    ElfSymbols code_{ElfSymbols::Of::Code};
    std::optional<ElfSymbols> variables_;  // once somebody asked
    bool has_debug_file_ = false;          // lines_ is of it
    UniqueFd fd_;                          // with elf_, until lines are opened
    ElfHandle elf_;
    std::unique_ptr<ElfLines> lines_;
};

}  // namespace lattop
