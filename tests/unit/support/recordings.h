// SPDX-License-Identifier: GPL-2.0-or-later
//
// Recordings in memory and on disk, of the sample machine or of what a test
// makes. Used by the tests of whatever reads one.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "lattop/recording/reader.h"
#include "tests/unit/support/sample.h"

namespace lattop::test {

inline constexpr std::uint64_t kRecordedAt = 1'700'000'000'000'000'000;

/// What the sleepers of the sample machine wait for, whoever else sleeps.
FoundObjects sample_objects(const Snapshot& snapshot);

/// `count` snapshots by `make`, with the sample's names and objects.
std::vector<std::byte> make_recording(std::size_t count,
                                      const std::function<SnapshotBuilder(std::size_t)>& make,
                                      bool ended = true);

/// The sample machine, two seconds apart from its tenth on.
std::vector<std::byte> sample_recording(std::size_t count, bool ended = true);

recording::ReadAt read_from(std::vector<std::byte> bytes);

void write_file(const std::string& path, const std::vector<std::byte>& bytes);

}  // namespace lattop::test
