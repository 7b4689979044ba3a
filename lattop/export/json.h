// SPDX-License-Identifier: GPL-2.0-or-later
//
// `lattop --json`: a refresh as one JSON document on one line. Its form is a
// promise, described in lattop(8).
#pragma once

#include <cstdint>

#include "lattop/model/learning.h"
#include "lattop/model/rows.h"
#include "lattop/model/wait_objects.h"
#include "lattop/output.h"

namespace lattop {

/// The refresh that `context` holds; ends with a newline. Bytes of names that
/// are not UTF-8 are replaced by U+FFFD. `realtime_ns` is the wall clock since
/// the epoch; `limit` tasks at most, 0 for all; `find_objects`, where
/// somebody asked, says what those wait for. Written as it is made, in pieces of
/// 64 KiB and the task at each end: of 17,000 stacks it is 27 MB. False when nobody reads
/// any more.
bool write_refresh_json(const TableContext& context, const RowOptions& options, std::uint32_t limit,
                        std::uint64_t realtime_ns, const LearningState& learning,
                        const FindObjects& find_objects, const Output& output);

}  // namespace lattop
