// SPDX-License-Identifier: GPL-2.0-or-later
//
// Builds of unwind/symbols_program.cc, and what a symbolizer says of one that runs. For the tests
// of the symbolizer.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"
#include "unwind/symbolizer.h"

namespace lattop::test {

/// Lines that one prints of itself, for Child.
constexpr int kSymbolLines = 12;
inline const std::string kSymbolPrograms = LATTOP_TEST_PROGRAMS;

/// The one frame of one address.
inline UserFrame frame_of(Symbolizer& symbolizer, const Child& child, std::uint64_t address) {
    const std::array<std::uint64_t, 1> addresses = {address};
    const Naming naming = symbolizer.name(child.task(), addresses, 1);
    REQUIRE(naming.result == Naming::Result::Named);
    REQUIRE(naming.stack.frames.size() == 1);
    return *naming.stack.frames[0];
}

}  // namespace lattop::test
