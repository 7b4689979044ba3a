// SPDX-License-Identifier: GPL-2.0-or-later
//
// See open_files.h.
#include "lattop/open_files.h"

#include <sys/resource.h>

namespace lattop {
namespace {

rlimit before{};
bool raised = false;

}  // namespace

void allow_more_files() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    before = limit;
    limit.rlim_cur = limit.rlim_max;
    raised = ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

void restore_file_limit() {
    if (raised) ::setrlimit(RLIMIT_NOFILE, &before);
}

std::size_t most_open_files() {
    constexpr std::size_t kUsual = 1024;
    rlimit limit{};
    return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : kUsual;
}

}  // namespace lattop
