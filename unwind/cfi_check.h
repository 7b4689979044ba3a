// SPDX-License-Identifier: GPL-2.0-or-later
//
// Is this call-frame information something a compiler writes? Called once for
// each file, before libdw reads it.
//
// Any user may map a file whose .eh_frame is forged, and lattop reads it as
// root. libdw checks structure, but trusts quantities: a rule for register
// 100,000,000 makes it allocate 1.6 GB, and each DW_CFA_remember_state copies
// that. So every entry that libdw could come to is looked through first, by one
// pass that allocates nothing but the list of entries: all opcodes known,
// registers below 128, states remembered at most 32 deep. A file with one
// entry that is not so has no call-frame information as far as lattop goes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lattop {

enum class CfiFormat { EhFrame, DebugFrame };

/// Offsets of the checked entries in their section, ascending.
struct CfiEntries {
    std::vector<std::uint64_t> common;     ///< CIEs
    std::vector<std::uint64_t> functions;  ///< FDEs

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
/// leads to entries of the section at `section_address` and nowhere else.
bool check_cfi_table(std::span<const std::uint8_t> table, std::uint64_t table_address,
                     std::uint64_t section_address, const CfiEntries& entries);

}  // namespace lattop
