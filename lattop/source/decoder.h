// SPDX-License-Identifier: GPL-2.0-or-later
//
// Bytes of the record view (module/uapi/lattop.h) to a Snapshot. Called by the
// sources for each refresh. The bytes are taken as hostile: whatever they are,
// the answer is a Snapshot whose indices are all in range, or an Error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lattop/source/snapshot.h"

namespace lattop {

/// Bytes that are enough for total_bytes() to answer.
inline constexpr std::size_t kHeaderBytes = sizeof(lt_header);

/// How many bytes the whole snapshot has that begins with `bytes`.
/// Throws NotUsableError for another version, FormatError for everything else
/// that is not a header.
std::uint64_t total_bytes(std::span<const std::byte> bytes);

/// Decodes a whole snapshot; bytes behind its total_bytes are ignored.
/// Throws as total_bytes() does.
Snapshot decode(std::span<const std::byte> bytes);

}  // namespace lattop
