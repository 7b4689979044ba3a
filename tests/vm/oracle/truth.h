// SPDX-License-Identifier: GPL-2.0-or-later
// lattop-oracle truth: checks the lines that test programs print (test-progs/truth.h).
#pragma once

#include <cstdint>
#include <istream>

#include "report.h"

namespace oracle {

struct TruthOptions {
    uint64_t least_lines = 1;
    uint64_t least_sleeps = 1;
    Tolerance tolerance;
};

/// Reads the output of test programs and checks every "truth" and "process" line in it. Exit
/// status: 0 when all agreed and there were enough of them.
int check_truth(std::istream& input, const TruthOptions& options);

}  // namespace oracle
