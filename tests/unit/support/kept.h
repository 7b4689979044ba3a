// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the recordings in tests/recordings tell of: a waiter whom a holder wakes, and
// all else that the format has room for. Each was written by the lattop whose release
// it is called by, and is read by all later ones (recording/versions_test.cc).
#pragma once

#include <cstddef>
#include <vector>

namespace lattop::test {

/// It, as this lattop writes it.
std::vector<std::byte> kept_recording();

}  // namespace lattop::test
