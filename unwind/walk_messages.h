// SPDX-License-Identifier: GPL-2.0-or-later
//
// What who wants a stack walked and the process that walks it say to each other, over the socket of
// image_messages.h. Written and read by remote_unwind.cc, walk_answers.cc and walk_server.cc.
//
//     lattop                          lattop image-reader
//       ImageOp::Walk           -->
//       registers               -->
//                               <--     a page is wanted, or a table
//       it, or that there is none -->
//       ...                             ...
//                               <--     the walk
//
// What the right side says is as little to be trusted as the unwind table that it walks by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "unwind/stack_walk.h"
#include "unwind/thread_registers.h"
#include "unwind/walked_process.h"

namespace lattop {

/// Pages and tables that are asked for in one walk, at most. 308 frames, 300 of one function, take
/// 34; 1024 of functions that each lie in pages of their own would take some thousands.
inline constexpr std::size_t kMaxWalkQuestions = 16'384;

struct PageWanted {
    std::uint64_t address = 0;  ///< a multiple of kWalkPageBytes

    bool operator==(const PageWanted&) const = default;
};

struct TableWanted {
    std::uint64_t pc = 0;

    bool operator==(const TableWanted&) const = default;
};

/// What the process that walks says. Of messages that are not whole and nothing else, or of more
/// frames than there may be: nullopt.
using WalkMessage = std::variant<PageWanted, TableWanted, StackWalk>;
std::vector<std::uint8_t> to_message(const WalkMessage& said);
std::optional<WalkMessage> walk_message_of(std::span<const std::uint8_t> message);

std::vector<std::uint8_t> to_message(const ThreadRegisters& registers);
std::optional<ThreadRegisters> registers_of(std::span<const std::uint8_t> message);

/// An answer that is not whole counts for none.
std::vector<std::uint8_t> page_message(std::span<const std::uint8_t> page);
std::span<const std::uint8_t> page_of(std::span<const std::uint8_t> message);
std::vector<std::uint8_t> table_message(const std::optional<WalkTable>& table);
std::optional<WalkTable> table_of(std::span<const std::uint8_t> message);

}  // namespace lattop
