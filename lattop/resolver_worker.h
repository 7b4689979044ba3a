// SPDX-License-Identifier: GPL-2.0-or-later
//
// A resolver on a thread of its own. Used by the live screen and by batch, which
// must not wait for slow files, and by `lattop daemon`. Where the module is
// unloaded it waits for the next one and teaches that, from the start. Where a
// program keeps the thread (resolver_watch.h), that is left behind, and another
// goes on with all other programs; a second thread looks for that. One that waits for
// the kernel ends when that answers, one that computes behind the row it is at. Whoever
// kept a thread for a second or more is left alone for a time (left_alone.h).
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lattop/left_alone.h"
#include "lattop/model/learning.h"
#include "lattop/resolver.h"
#include "unwind/unique_fd.h"

namespace lattop {

class ResolverWorker {
public:
    /// What the thread is doing, for the screen.
    struct State {
        ResolverStats stats;
        std::uint64_t cpu_ns = 0;  ///< the thread's
        bool running = true;
        bool waiting = false;  ///< the module was unloaded: until it is loaded again
        unsigned loads = 1;    ///< modules taught, one after the other
        bool idle = false;     ///< who slept is introduced, what was missed is resolved
        std::string failure;   ///< why it no longer runs
        std::vector<std::uint32_t> keepers;  ///< pids of processes that kept a thread, each time
    };

    /// Starts to resolve what comes through `door`. Throws std::system_error
    /// where there can be no thread or descriptor.
    explicit ResolverWorker(std::unique_ptr<ResolverDoor> door, const ResolverLimits& limits = {});
    ResolverWorker(const ResolverWorker&) = delete;
    ResolverWorker& operator=(const ResolverWorker&) = delete;

    /// Does not wait for a file system that hangs: the thread is left behind
    /// then, with all it works on.
    ~ResolverWorker();

    [[nodiscard]] State state();

private:
    /// Shared with the thread. `lock` guards all but the door, the limits and stop_fd.
    struct Shared final : ResolverWatch {
        bool begin(const ProgramId& process) override;
        bool is_of(Payer payer) override;
        void end() override;
        [[nodiscard]] ResolverRoom room_now() const;

        std::unique_ptr<ResolverDoor> door;  // the thread's alone
        std::shared_ptr<LeftAlone> alone;    // all threads' of the worker
        ResolverRoom room;                   // beside threads that were left behind
        ResolverLimits limits;
        UniqueFd stop_fd;  // eventfd
        mutable std::mutex lock;
        std::condition_variable changed;
        State state;
        std::optional<clockid_t> cpu_clock;  // the thread's
        std::optional<ProgramId> at;         // and whose, and since when
        Payer at_whose = kNoPayer;
        LeftAlone::Time at_since;
        LeftAlone::Time looked_after = std::chrono::steady_clock::now();  // the last time
        bool stopped = false;
    };

    void watch();
    void look_after();
    void start(std::unique_ptr<ResolverDoor> door, const ResolverLimits& limits, State so_far);
    void forgive_pause();
    struct Keeper {
        ProgramId program;
        Payer payer;
    };
    [[nodiscard]] std::optional<Keeper> keeper() const;
    void leave_behind(const Keeper& keeper);
    void see_who_is_through();
    static void work(const std::shared_ptr<Shared>& shared);
    static void publish(Shared& shared, const Resolver& resolver, bool idle);
    static void resolve_modules(Shared& shared);
    static bool resolve_one_module(Shared& shared);
    static void resolve_until_stopped(Shared& shared, Resolver& resolver);
    static bool wait_for_module(Shared& shared);

    /// A thread that was left behind, and what keeps it.
    struct Kept {
        ProgramId keeper;
        std::shared_ptr<Shared> shared;
    };
    [[nodiscard]] ResolverRoom room(const ResolverLimits& limits) const;

    const std::chrono::milliseconds patience_;
    const std::shared_ptr<LeftAlone> alone_;
    std::mutex care_;  // guards all below; taken before the lock of a Shared
    std::condition_variable ends_;
    bool ended_ = false;
    std::shared_ptr<Shared> shared_;
    std::thread thread_;
    std::vector<Kept> kept_;
    std::thread watcher_;
};

/// What a worker does, in the words of whoever shows it.
class WorkerLearning final : public Learning {
public:
    explicit WorkerLearning(std::unique_ptr<ResolverWorker> worker) : worker_(std::move(worker)) {}
    [[nodiscard]] LearningState state() const override;

private:
    std::unique_ptr<ResolverWorker> worker_;
};

/// This thread, and those it starts, get the CPU before others: misses are lost
/// while a resolver waits for it, and learning is over soon. Where it may not
/// (not root), it goes on as it is. What a worker's thread begins with; to be
/// called before CAP_SYS_NICE is given up.
void hurry();

/// A worker for the module of this machine. Where it cannot be had (another
/// user, no thread) the state says why, and whoever shows it goes on without.
std::unique_ptr<Learning> start_learning();

}  // namespace lattop
