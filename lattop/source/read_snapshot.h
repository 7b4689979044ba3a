// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reading one whole snapshot from a descriptor into a kept buffer: the preads
// of ProcSource.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lattop {

/// Reads the snapshot that `fd` holds, growing `buffer` where
/// it is larger, at most to `max_bytes`. The answer is a view of `buffer`,
/// empty at the end of the file. Throws Error; `path` is for its message.
std::span<const std::byte> read_snapshot(int fd, std::uint64_t max_bytes, const std::string& path,
                                         std::vector<std::byte>& buffer);

}  // namespace lattop
