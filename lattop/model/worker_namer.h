// SPDX-License-Identifier: GPL-2.0-or-later
//
// Names from threads of its own, for who must not wait for slow files, or not for ever: the live
// screen, verbs that sample meanwhile, and batch. One thread works for all processes. A process
// whose memory or files lie on a file system that does not answer keeps whoever looks at it, for
// ever and not even to be killed. So a watcher, which touches nothing but a lock, leaves the thread
// to that process after ten seconds in which it and its image reader hardly used a CPU, or after a
// minute (a large program's symbols are work, which is waited for, but not for ever), and another
// one goes on with all others:
//
//     requests -+-> common thread  --- 10 s at one request --->  the process's own thread
//               |        ^-- a new one takes over ---'            |
//               '-> of that process: "not now" until it answers --'
//
// When a thread that was left behind gets through, its answer is delivered, and it goes on with
// that process alone: who is merely slow gets its names, nobody else waits for them, and what
// was read of its files is not read again. It ends when it had nothing to do for a minute. Where
// 16 processes keep a thread each, the common one is waited for: all is "not now" until then.
// Time in which all of lattop was stopped or frozen, or starved, is no process's doing.
//
// Slow for less than that at each stack, or by one process after the other, a user would keep who
// waits for all names for ever. So his programs have a tenth of a thread's time, apart from the
// first seconds, and of what is work and not waiting half of it; for the rest they are put_off(),
// and "not now" (LeftAlone). Not those of root or of who runs lattop, nor a live stack, at which
// somebody looks. Half of the threads may be one user's.
//
// Each thread has a NameFinder, and so all that this remembers, of its own: some hundred MB of
// symbols at most (SymbolizerLimits). A new common thread reads again what it needs, which is
// little: StackNames keeps what was found.
#pragma once

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lattop/left_alone.h"
#include "lattop/model/namer.h"
#include "lattop/model/program_id.h"
#include "lattop/task_payer.h"
#include "unwind/payer.h"
#include "unwind/program_image.h"
#include "unwind/unique_fd.h"

namespace lattop {

/// Answers a request; may take for ever. Must not throw.
using FindName = std::function<NameAnswer(const NameRequest& request)>;

/// What a thread finds names by.
struct NameTools {
    FindName find;
    ReadingTime reading_time;  ///< of processes that it waits for while they work for it
};

/// Called by each thread, for itself.
using MakeNameTools = std::function<NameTools()>;

/// CPU time of a thread of this process; 0 where that cannot be known.
std::chrono::nanoseconds thread_cpu_time(pthread_t thread);

struct NamerLimits {
    std::chrono::milliseconds patience{10'000};  ///< with one request that it waits at
    std::chrono::milliseconds work{60'000};      ///< with one that it is at work at
    std::chrono::milliseconds linger{60'000};    ///< of a process's own thread without one
    std::size_t threads = 16;                    ///< processes with a thread of their own
    unsigned left_alone = 10;                    ///< times as long as a user's programs waited
    std::chrono::milliseconds unnoted{20};       ///< what a request may take, and none of it counts
    std::function<Payer(const TaskRef&)> payer = payer_of_task;
    std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
    std::function<std::chrono::nanoseconds(pthread_t)> worked = thread_cpu_time;
};

/// Its destructor waits a moment for threads, but not for a file system that hangs: those are
/// left behind, with what they work on.
class WorkerNamer final : public Namer {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// Throws std::system_error where there can be no thread or descriptor.
    explicit WorkerNamer(std::shared_ptr<DebugFetch> fetch = nullptr);

    /// The same, without a NameFinder.
    explicit WorkerNamer(MakeNameTools make, const NamerLimits& limits = {});
    ~WorkerNamer() override;

    void submit(std::vector<NameRequest> requests) override;
    std::vector<NameAnswer> take() override;
    [[nodiscard]] int ready_fd() const override;
    [[nodiscard]] std::vector<std::uint32_t> silent() const override;
    [[nodiscard]] std::vector<std::uint32_t> put_off() const override;
    [[nodiscard]] std::string progress() const override;

    /// What the watcher does when it is time; for tests, whose time that is.
    void look();

private:
    /// A thread, and what it has to do.
    struct Worker {
        explicit Worker(std::chrono::steady_clock::duration given) : patience(given) {}

        std::deque<NameRequest> requests;
        std::optional<ProgramId> at;  // of the request that it is at, and since when
        Time begun;
        Time since;                                // the same, or when it was last seen at work
        pthread_t thread{};                        // while it is at one
        ReadingTime reading_time;                  // of its tools, while it is at one
        std::chrono::nanoseconds worked{};         // CPU time at `since`, its own and that
        std::chrono::nanoseconds worked_before{};  // the same at `begun`
        Payer payer = kNoPayer;                    // for what it is at
        std::chrono::steady_clock::duration patience;
        bool silent = false;   // at it for longer than that
        bool ended = false;    // is to end
        bool stopped = false;  // has
    };

    /// Shared with the threads. `lock` guards all but the descriptor and what is const.
    struct Shared {
        Shared(MakeNameTools tools, const NamerLimits& given)
            : make(std::move(tools)),
              limits(given),
              alone({.times = given.left_alone,
                     .patience = given.patience,
                     .most = std::max(given.work, given.patience),
                     .kept = most_of_a_user(given)}),
              common(std::make_shared<Worker>(given.patience)) {}
        Worker& worker_of(const ProgramId& program);
        void add(NameRequest request);
        void give(NameAnswer answer);
        bool wait_for_request(Worker& worker, std::unique_lock<std::mutex>& held);
        NameRequest begin(Worker& worker, const ReadingTime& reading_time);
        [[nodiscard]] std::chrono::nanoseconds worked(const Worker& worker) const;
        bool kept(Worker& worker, Time now) const;
        void forgive_pause(Time now);
        [[nodiscard]] static std::size_t most_of_a_user(const NamerLimits& limits) {
            return (limits.threads + 1) / 2;
        }
        [[nodiscard]] std::size_t at_work_for(Payer payer) const;
        [[nodiscard]] std::vector<std::uint32_t> those_put_off();
        void forget_put_off();
        bool put_off_for_now(Worker& worker, const NameRequest& request, Payer payer);
        void mark_silent(Worker& worker, Time now);
        [[nodiscard]] Time::duration waited(const Worker& worker, Time now) const;
        void end(Worker& worker);
        void put_off(Worker& worker);
        bool make_room();
        [[nodiscard]] std::vector<std::uint32_t> silent() const;
        [[nodiscard]] std::optional<Time> next_look(Time now) const;

        const MakeNameTools make;
        const NamerLimits limits;
        LeftAlone alone;
        mutable std::mutex lock;
        std::condition_variable changed;  // for who answers
        std::condition_variable watched;  // for the watcher
        std::shared_ptr<Worker> common;
        std::map<ProgramId, std::shared_ptr<Worker>> own;  // of processes that kept the common one
        std::vector<NameAnswer> answers;
        std::map<ProgramId, Payer> put_off_last;  // when they were asked for last
        std::optional<Time> looked;               // by the watcher, while it has anything to watch
        bool stop = false;
        UniqueFd ready;  // eventfd
    };

    explicit WorkerNamer(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
    static ProgramId program_of(const NameRequest& request);
    static void work(const std::shared_ptr<Shared>& shared, const std::shared_ptr<Worker>& worker);
    void watch();
    void leave_behind(Time now);
    void replace_common();

    std::shared_ptr<DebugFetch> fetch_;
    std::shared_ptr<Shared> shared_;
    std::thread thread_;  // the common one; replaced with the lock held
    std::thread watcher_;
};

}  // namespace lattop
