// SPDX-License-Identifier: GPL-2.0-or-later
//
// See golden.h.
#include "tests/unit/support/golden.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/unit/support/catch.h"

namespace lattop::test {

void check_golden(const std::string& name, const std::string& text) {
    const std::string path = std::string(LATTOP_TEST_GOLDEN) + "/" + name;
    if (std::getenv("LATTOP_UPDATE_GOLDEN") != nullptr) {
        std::ofstream(path, std::ios::binary) << text;
        return;
    }
    std::ifstream file(path, std::ios::binary);
    const std::string recorded((std::istreambuf_iterator<char>(file)), {});
    INFO("golden file " << path);
    CHECK(text == recorded);
}

}  // namespace lattop::test
