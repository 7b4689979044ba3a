// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a piece of code says to standard error. For tests of what complains
// there.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

#include "tests/unit/support/child.h"

namespace lattop::test {

/// What was written to standard error while `run` ran, which may throw.
template <typename Run>
std::string errors_of(const Run& run) {
    class Redirected {
    public:
        explicit Redirected(const std::string& path)
            : before_(::dup(STDERR_FILENO)), to_(std::fopen(path.c_str(), "w")) {
            std::fflush(stderr);
            ::dup2(::fileno(to_), STDERR_FILENO);
        }
        Redirected(const Redirected&) = delete;
        Redirected& operator=(const Redirected&) = delete;
        ~Redirected() {
            std::fflush(stderr);
            ::dup2(before_, STDERR_FILENO);
            ::close(before_);
            std::fclose(to_);
        }

    private:
        int before_;
        FILE* to_;
    };
    const TempFolder folder;
    const std::string path = folder.path() + "/errors";
    {
        const Redirected redirected(path);
        run();
    }
    return content_of(path);
}

}  // namespace lattop::test
