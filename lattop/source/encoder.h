// SPDX-License-Identifier: GPL-2.0-or-later
//
// A Snapshot to bytes of the record view (module/uapi/lattop.h): what the
// decoder reads, this writes. Called for every snapshot that is recorded.
#pragma once

#include <cstddef>
#include <vector>

#include "lattop/source/snapshot.h"

namespace lattop {

/// decode() of the bytes is the snapshot again, entries, traces and frames
/// that no task of it names left out.
std::vector<std::byte> encode(const Snapshot& snapshot);

}  // namespace lattop
