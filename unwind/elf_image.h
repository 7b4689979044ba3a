// SPDX-License-Identifier: GPL-2.0-or-later
//
// What an ELF file says about its code: functions by address, from its own
// tables and the one compressed within (mini_debug.h), source lines where it or
// its debug file carries DWARF. Made by the symbolizer once for each file,
// whatever number of processes maps it.
//
// Files are read, not mapped: one that is cut short while we look at it gives a
// read error, not a SIGBUS. All of a file is taken as hostile; elfutils checks
// its structure, sizes are bounded here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "unwind/debug_files.h"
#include "unwind/elf_lines.h"
#include "unwind/elf_symbols.h"
#include "unwind/frame.h"
#include "unwind/maps.h"
#include "unwind/unique_fd.h"

struct Elf;

namespace lattop {

/// Debug information larger than this, uncompressed, is left unread: names are
/// shown then, lines are not.
inline constexpr std::uint64_t kMaxDebugBytes = std::uint64_t{256} << 20;

class ElfImage {
public:
    /// Reads the symbols of the file. A file that is not ELF, or broken, gives
    /// an image without any: asking again would not help.
    static std::unique_ptr<ElfImage> from_file(UniqueFd fd);

    /// The same for an image in memory (the vdso).
    static std::unique_ptr<ElfImage> from_memory(std::vector<char> bytes);

    ElfImage(const ElfImage&) = delete;
    ElfImage& operator=(const ElfImage&) = delete;
    ~ElfImage();

    /// Adds what the program's debug file says. Takes over `fd`.
    void add_debug_file(UniqueFd fd, AltLink alt_link);

    /// What names the program's debug file, while it lacks what is in it and
    /// nobody has looked for it in vain; nullptr otherwise.
    [[nodiscard]] const DebugName* wanted_debug_file() const {
        return lines_ != nullptr || debug_name_.empty() ? nullptr : &debug_name_;
    }

    /// Whether this is asked for the first time: debug files that are installed
    /// are looked for once.
    [[nodiscard]] bool first_look() { return !std::exchange(looked_, true); }

    /// There is no debug file: wanted_debug_file() asks for none from now on.
    void give_up_debug_file() { debug_name_ = {}; }

    /// Names the code at `file_offset`, in a mapping of `path`. A return
    /// address is named by the byte before it.
    UserFramePtr frame_at(std::uint64_t file_offset, bool return_address, const std::string& path);

    [[nodiscard]] std::size_t symbol_count() const { return code_.count(); }

    /// A process's address as the file counts it, where the file's memory has it:
    /// code, data or what begins as zeros. `code`: an executable mapping of the file.
    [[nodiscard]] std::optional<std::uint64_t> address_in(const Mapping& code,
                                                          std::uint64_t address) const;

    /// Variables are read when one is asked for first: most images never are.
    [[nodiscard]] bool has_variables() const { return variables_.has_value(); }

    /// Reads them from the file, opened again, and from its debug file.
    void load_variables(const UniqueFd& fd);

    /// "queue_lock+0x8" by an address as the file counts it; "" for none.
    [[nodiscard]] std::string variable_at(std::uint64_t address) const;

    /// About how much memory it holds.
    [[nodiscard]] std::size_t bytes() const;

private:
    struct Segment {
        std::uint64_t offset, bytes, address;
        std::uint64_t memory_bytes;  ///< what is behind `bytes` begins as zeros
        bool executable;
    };

    ElfImage() = default;
    void load(Elf* elf);
    void load_segments(Elf* elf);
    void set_place(UserFrame& frame, std::uint64_t address);
    [[nodiscard]] std::optional<std::uint64_t> address_of(std::uint64_t file_offset) const;
    [[nodiscard]] UserFramePtr make_frame(std::uint64_t file_offset, bool return_address,
                                          const std::string& path);

    std::vector<Segment> segments_;
    ElfSymbols code_{ElfSymbols::Of::Code};
    std::optional<ElfSymbols> variables_;  // once somebody asked
    bool has_debug_file_ = false;          // lines_ is of it
    DebugName debug_name_;
    bool looked_ = false;
    std::unique_ptr<ElfLines> lines_;
    std::unordered_map<std::uint64_t, UserFramePtr> frames_;  // by offset * 2 + return_address
    std::size_t frames_bytes_ = 0;  // of all that came since it was emptied
};

}  // namespace lattop
