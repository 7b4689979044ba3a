// SPDX-License-Identifier: GPL-2.0-or-later
//
// Writes a recording of the sample machine, snapshots two seconds apart, for
// the terminal's tests: lattop -i FILE reads it. With a count of 0 one snapshot
// as the module would give it, after so many seconds: fake_module.c does. With "kept" in
// place of a count it writes the recording that tests/recordings keeps of each release.
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "tests/unit/support/kept.h"
#include "tests/unit/support/recordings.h"

int main(int argc, char** argv) {
    if (argc < 3 || argc > 4) {
        std::cerr << "usage: write_records FILE COUNT|kept [SECONDS]\n";
        return 2;
    }
    if (std::string_view(argv[2]) == "kept") {
        lattop::test::write_file(argv[1], lattop::test::kept_recording());
        return 0;
    }
    const std::size_t count = std::strtoul(argv[2], nullptr, 10);
    const std::size_t seconds = argc == 4 ? std::strtoul(argv[3], nullptr, 10) : 10;
    lattop::test::write_file(argv[1], count == 0 ? lattop::test::sample_machine(seconds).bytes()
                                                 : lattop::test::sample_recording(count));
    return 0;
}
