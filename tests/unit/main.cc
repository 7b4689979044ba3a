// SPDX-License-Identifier: GPL-2.0-or-later
//
// Runs the unit tests, under Catch2 of either major version.
#define CATCH_CONFIG_RUNNER
#include "tests/unit/support/catch.h"

int main(int argc, char** argv) {
    return Catch::Session().run(argc, argv);
}
