// SPDX-License-Identifier: GPL-2.0-or-later
//
// A resolver on a thread of its own. Used by the live screen, which must not
// wait for slow files, and by `lattop daemon`.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "lattop/resolver.h"
#include "unwind/unique_fd.h"

namespace lattop {

class ResolverWorker {
public:
    /// What the thread is doing, for the screen.
    struct State {
        ResolverStats stats;
        bool running = true;
        bool idle = false;    ///< who slept is introduced, what was missed is resolved
        std::string failure;  ///< why it no longer runs
    };

    /// Starts to resolve what comes through `door`. Throws std::system_error
    /// where there can be no thread or descriptor.
    explicit ResolverWorker(std::unique_ptr<ResolverDoor> door, const ResolverLimits& limits = {});
    ResolverWorker(const ResolverWorker&) = delete;
    ResolverWorker& operator=(const ResolverWorker&) = delete;

    /// Does not wait for a file system that hangs: the thread is left behind
    /// then, with all it works on.
    ~ResolverWorker();

    [[nodiscard]] State state() const;

private:
    /// Shared with the thread. `lock` guards the state and the flags.
    struct Shared {
        std::unique_ptr<ResolverDoor> door;  // the thread's alone
        ResolverLimits limits;
        UniqueFd stop_fd;  // eventfd
        mutable std::mutex lock;
        std::condition_variable changed;
        State state;
        bool stopped = false;
    };

    static void work(const std::shared_ptr<Shared>& shared);
    static void resolve_until_stopped(Shared& shared);

    std::shared_ptr<Shared> shared_;
    std::thread thread_;
};

/// A worker for the module of this machine; nothing where it cannot be had,
/// `why` says so: the live screen shows what there is without it.
std::unique_ptr<ResolverWorker> start_resolver(std::string& why);

}  // namespace lattop
