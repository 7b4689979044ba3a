// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a walk by libunwind (stack_walk.h) asks of the process whose stack it walks: pages of its
// memory, and where the unwind table for a pc lies. Answered from the process itself
// (walked_code.h), or by who has it (walk_server.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace lattop {

inline constexpr std::size_t kWalkPageBytes = 4096;

/// Where the search table of a file begins that has none of its own: an address that no process
/// can have.
inline constexpr std::uint64_t kOurTable = std::uint64_t{1} << 63;

/// An unwind table as .eh_frame_hdr has it (Linux Standard Base, "Exception Frames").
struct WalkTable {
    std::uint64_t base = 0;     ///< from which its entries count
    std::uint64_t entries = 0;  ///< address of the first; each has 8 bytes
    std::uint64_t count = 0;    ///< of entries
    std::uint64_t start = 0;    ///< of the mapping that it is for
    std::uint64_t end = 0;

    bool operator==(const WalkTable&) const = default;
};

class WalkedProcess {
public:
    WalkedProcess() = default;
    WalkedProcess(const WalkedProcess&) = delete;
    WalkedProcess& operator=(const WalkedProcess&) = delete;
    virtual ~WalkedProcess() = default;

    /// The page at `address`, a multiple of kWalkPageBytes; empty where it is not there. From
    /// kOurTable on: of the table that table_at() found last, whose last page is shorter. Holds
    /// until something else is asked for.
    virtual std::span<const std::uint8_t> page_at(std::uint64_t address) = 0;

    /// Nothing where no table is for `pc`.
    virtual std::optional<WalkTable> table_at(std::uint64_t pc) = 0;
};

}  // namespace lattop
