// SPDX-License-Identifier: GPL-2.0-or-later
//
// Bytes of a file of somebody's, which may end sooner than it said. Called by what reads ELF files
// and perf maps, and by wait_object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "unwind/unique_fd.h"

namespace lattop {

/// Fills `into` from `offset` on, as far as there is anything to be read; how many bytes.
std::size_t pread_all(const UniqueFd& fd, std::span<std::byte> into, std::uint64_t offset);

}  // namespace lattop
