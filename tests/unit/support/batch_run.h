// SPDX-License-Identifier: GPL-2.0-or-later
//
// `lattop -b` beside a fake world: what it prints. For the tests of its text and of its JSON.
#pragma once

#include <cstdint>
#include <string>

#include "lattop/batch.h"
#include "tests/unit/support/fake_world.h"

namespace lattop::test {

struct BatchRun : FakeWorld {
    /// What it prints; the reader goes after `writes` writes.
    std::string go(const Options& options, int writes = 1000) {
        std::string printed;
        run_batch(options, world(), Charset::Utf8, [&](std::string_view text) {
            printed += text;
            return --writes > 0;
        });
        return printed;
    }
};

inline Options batch(std::uint64_t refreshes) {
    Options options;
    options.batch = true;
    options.refreshes = refreshes;
    return options;
}

inline Options json(std::uint64_t refreshes) {
    Options options = batch(refreshes);
    options.json = true;
    return options;
}

}  // namespace lattop::test
