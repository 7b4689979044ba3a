// SPDX-License-Identifier: GPL-2.0-or-later
//
// Is this call-frame information something a compiler writes? Called once for
// each file, before libdw reads it.
//
// Any user may map a file whose .eh_frame is forged, and lattop reads it as
// root. libdw checks structure, but trusts quantities: a rule for register
// 100,000,000 makes it allocate 1.6 GB, and each DW_CFA_remember_state copies
// that, for each row anew. So every entry that libdw could come to is looked through
// first, by two passes that allocate nothing but a list of entries: all opcodes
// known, registers below 128, states remembered at most 32 deep; of entries and of
// instructions no more than a few times what the largest libraries have. A file
// with one entry that is not so has no call-frame information as far as lattop goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lattop {

/// Entries of one section. A browser has fewer than a million functions, and as linkers
/// keep equal CIEs once, some hundred of these.
inline constexpr std::size_t kMaxCfiFunctions = std::size_t{1} << 20;
inline constexpr std::size_t kMaxCfiCommon = std::size_t{1} << 14;

/// Instructions of one entry, in bytes, and of them those that copy a state. libdw
/// executes them from the first one on for each row. Compilers come to 60 KiB and 1,900
/// for the largest functions there are (libcufft, libnvrtc), and mostly to a hundred bytes.
inline constexpr std::size_t kMaxCfiProgramBytes = std::size_t{256} << 10;
inline constexpr int kMaxCfiCopies = 16384;

enum class CfiFormat { EhFrame, DebugFrame };

/// The checked entries of a section.
struct CfiEntries {
    std::size_t common = 0;                ///< CIEs, how many
    std::vector<std::uint64_t> functions;  ///< offsets of FDEs, ascending

    struct Start {
        std::int64_t code;   ///< where the function begins, from the section's start
        std::int64_t entry;  ///< offset of its FDE
    };
    /// Of those FDEs that say it relative to themselves, as linkers write them.
    std::vector<Start> starts;
};

/// Checks all entries of a section; false where one is not sound. Linear in the
/// section's bytes.
bool check_cfi(std::span<const std::uint8_t> section, CfiFormat format, CfiEntries& entries);

/// Checks that the search table (.eh_frame_hdr, loaded at `table_address`)
/// leads to entries of the section at `section_address` and nowhere else, to one at least.
bool check_cfi_table(std::span<const std::uint8_t> table, std::uint64_t table_address,
                     std::uint64_t section_address, const CfiEntries& entries);

}  // namespace lattop
