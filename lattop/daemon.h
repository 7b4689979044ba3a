// SPDX-License-Identifier: GPL-2.0-or-later
//
// The command `lattop daemon`: resolves, and does nothing else. For machines
// on which stacks should be whole without anybody watching.
#pragma once

#include <string>

#include "lattop/resolver.h"
#include "lattop/resolver_worker.h"

namespace lattop {

struct DaemonOptions {
    bool once = false;     ///< until nothing has been missed for a second
    bool verbose = false;  ///< a line each second in which something was done
};

/// Runs until SIGINT or SIGTERM. Says what it did. Throws Error.
void run_daemon(const DaemonOptions& options);

/// One line about what a resolver did.
std::string describe(const ResolverWorker::State& state);

/// What stood in its way, a line each; "" for nothing.
std::string describe_trouble(const ResolverStats& stats);

}  // namespace lattop
