// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a walk asks, answered from a process's memory and files. Used by live_unwind.cc, and by
// remote_unwind.cc for a walk in another process.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "unwind/process_code.h"
#include "unwind/walked_process.h"

namespace lattop {

/// For one walk: memory that `code` read before may have changed, and is forgotten.
class WalkedCode final : public WalkedProcess {
public:
    explicit WalkedCode(ProcessCode& code) : code_(code) { code.forget_memory(); }

    std::span<const std::uint8_t> page_at(std::uint64_t address) override;
    std::optional<WalkTable> table_at(std::uint64_t pc) override;

private:
    [[nodiscard]] std::span<const std::uint8_t> page_of_table(std::uint64_t offset) const;
    std::optional<WalkTable> table_in_memory(std::uint64_t header);
    std::optional<WalkTable> table_of(const CodeFiles::File& file, std::uint64_t load_bias);

    ProcessCode& code_;
    CodeFiles::File file_;  ///< whose search table is at kOurTable
};

}  // namespace lattop
