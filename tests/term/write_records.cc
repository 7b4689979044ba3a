// SPDX-License-Identifier: GPL-2.0-or-later
//
// Writes a recording of the sample machine, snapshots two seconds apart, for
// the terminal's tests: lattop -i FILE reads it. With a count of 0 one snapshot
// as the module would give it, after so many seconds: fake_module.c does.
#include <cstdlib>
#include <iostream>

#include "tests/unit/support/recordings.h"

int main(int argc, char** argv) {
    if (argc < 3 || argc > 4) {
        std::cerr << "usage: write_records FILE COUNT [SECONDS]\n";
        return 2;
    }
    const std::size_t count = std::strtoul(argv[2], nullptr, 10);
    const std::size_t seconds = argc == 4 ? std::strtoul(argv[3], nullptr, 10) : 10;
    lattop::test::write_file(argv[1], count == 0 ? lattop::test::sample_machine(seconds).bytes()
                                                 : lattop::test::sample_recording(count));
    return 0;
}
