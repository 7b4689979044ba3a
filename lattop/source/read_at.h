// SPDX-License-Identifier: GPL-2.0-or-later
//
// pread with signals aside and errors as Error. Called by read_snapshot and by
// what reads recordings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace lattop {

/// Bytes read at `offset` of `fd`, as one pread gives them; 0 at the end.
/// Throws Error, PassingError where another read may succeed; `path` is for its
/// message.
std::size_t read_at(int fd, std::uint64_t offset, std::span<std::byte> into,
                    const std::string& path);

}  // namespace lattop
