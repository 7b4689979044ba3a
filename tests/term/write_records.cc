// SPDX-License-Identifier: GPL-2.0-or-later
//
// Writes a recording of the sample machine, snapshots two seconds apart, for
// the terminal's tests: lattop -i FILE reads it.
#include <cstdlib>
#include <iostream>

#include "tests/unit/support/recordings.h"

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: write_records FILE COUNT\n";
        return 2;
    }
    lattop::test::write_file(argv[1],
                             lattop::test::sample_recording(std::strtoul(argv[2], nullptr, 10)));
    return 0;
}
