// SPDX-License-Identifier: GPL-2.0-or-later
//
// Stacks that another process walks by libunwind, one that is held back (lattop/image_reader.h):
// what libunwind makes of a hostile process's unwind table may end it, or take its memory and time.
// It holds nothing of the process whose stack that is, and asks for what it needs. Where it comes
// to an end over a walk, that walk says so, and the next one has another process. Used by `lattop
// stack` and the live screen's pane.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "unwind/live_unwind.h"

namespace lattop {

/// Bytes. It has 11 MiB when it begins.
inline constexpr std::uint64_t kWalkerMemory = std::uint64_t{64} << 20;

/// For what it says next. libunwind without memory waits, all signals blocked, for a lock that it
/// holds itself. More than WorkerNamer's, which has others go on by then.
inline constexpr std::chrono::seconds kWalkerPatience{15};

/// Walks by `command`, a program and its arguments, as remote_images() has it; never throws for
/// what becomes of it. It may take kWalkerMemory, and kWalkSeconds of CPU for a walk.
std::shared_ptr<LiveUnwinder> remote_unwinder(std::vector<std::string> command,
                                              std::chrono::milliseconds patience = kWalkerPatience);

/// As reader_command() says, or in this process. For one thread.
std::shared_ptr<LiveUnwinder> program_unwinder();

}  // namespace lattop
