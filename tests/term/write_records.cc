// SPDX-License-Identifier: GPL-2.0-or-later
//
// Writes saved snapshots of the sample machine, two seconds apart, for the
// terminal's tests: lattop --source FILE reads them.
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "tests/unit/support/sample.h"

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: write_records FILE COUNT\n";
        return 2;
    }
    std::ofstream file(argv[1], std::ios::binary);
    const unsigned long count = std::strtoul(argv[2], nullptr, 10);
    for (unsigned long i = 0; i < count; ++i) {
        const auto bytes = lattop::test::sample_machine(10 + 2 * i).bytes();
        file.write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
    }
    return file ? 0 : 1;
}
