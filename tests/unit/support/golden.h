// SPDX-License-Identifier: GPL-2.0-or-later
//
// Comparing with recorded text in tests/golden. With LATTOP_UPDATE_GOLDEN set
// in the environment the files are written anew instead: look at the diff.
#pragma once

#include <string>

namespace lattop::test {

/// Fails the test where `text` is not what tests/golden/`name` holds.
void check_golden(const std::string& name, const std::string& text);

}  // namespace lattop::test
