// SPDX-License-Identifier: GPL-2.0-or-later
//
// A disk that is full: no file may grow beyond some bytes. Used by the tests of
// what writes files.
#pragma once

#include <sys/resource.h>

#include <csignal>

namespace lattop::test {

class FileLimit {
public:
    explicit FileLimit(rlim_t most) : old_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{most, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    FileLimit(const FileLimit&) = delete;
    FileLimit& operator=(const FileLimit&) = delete;
    ~FileLimit() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, old_);
    }

private:
    rlimit before_{};
    void (*old_)(int);
};

}  // namespace lattop::test
