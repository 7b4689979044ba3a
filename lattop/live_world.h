// SPDX-License-Identifier: GPL-2.0-or-later
//
// The module and this machine, as commands that do not open a screen use them:
// snapshots, names found at once, users, the clock, and who teaches the module
// meanwhile.
#pragma once

#include <memory>

#include "lattop/batch.h"
#include "lattop/model/stack_names.h"
#include "lattop/source/proc_source.h"

namespace lattop {

class LiveWorld {
public:
    /// Throws NotUsableError. `learn`: teach the module to walk user stacks,
    /// where this user may.
    explicit LiveWorld(bool learn);

    [[nodiscard]] World world() {
        return {source_, stacks_, users_, cgroups_, clock_, *learning_, reasons_};
    }

private:
    ProcSource source_;
    StackNames stacks_;
    SystemUsers users_;
    SystemCgroups cgroups_;
    SystemClock clock_;
    std::unique_ptr<Learning> learning_;
    Reasons reasons_;
};

/// Debug files from the servers that the environment names; nullptr for none.
std::shared_ptr<DebugFetch> make_fetch();

}  // namespace lattop
