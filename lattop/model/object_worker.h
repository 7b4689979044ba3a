// SPDX-License-Identifier: GPL-2.0-or-later
//
// Finds what sleepers wait for on a thread of its own: a futex is read from the memory of its
// process and called by a variable of its program's files, and either may lie on a file system
// that does not answer. A thread that is at one task for 5 s is left behind with its process;
// another one goes on with all others, four times. While four processes keep a thread each, the
// fifth is waited for. Who was merely slow is asked again when its thread has got through. A user's
// programs keep two threads at most, and have a fifth of the time, apart from the first seconds
// (LeftAlone): one that kept a thread is asked again half a minute later. Not those of root or of
// who runs lattop.
//
// A snapshot that comes while the one before is worked on is passed over. LiveWorld and the batch
// command have one.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "lattop/left_alone.h"
#include "lattop/model/object_choice.h"
#include "lattop/model/object_finder.h"
#include "lattop/model/program_id.h"
#include "lattop/model/wait_objects.h"
#include "lattop/task_payer.h"

namespace lattop {

class ObjectWorker final : public ObjectFinder {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// What a thread asks; made by it, for itself.
    using MakeFind = std::function<FindObject()>;

    /// A snapshot that shows whether the sleeps of these tasks go on; of all where there are none.
    using LookAgain = std::function<Snapshot(const std::vector<std::uint32_t>& pids)>;

    struct Limits {
        std::chrono::milliseconds patience{5000};  ///< with one task
        std::size_t threads = 4;                   ///< left behind
        unsigned left_alone = 5;                   ///< times as long as a user's programs took
        std::chrono::milliseconds unnoted{20};     ///< what one task may take and it does not count
        std::function<Payer(const TaskRef&)> payer = payer_of_task;
        std::function<Time()> now = std::chrono::steady_clock::now;
    };

    /// By /proc of this machine and its module.
    explicit ObjectWorker(ObjectChoice choice = ObjectChoice());
    ObjectWorker(MakeFind make, LookAgain look_again, Limits limits,
                 ObjectChoice choice = ObjectChoice());

    /// Does not wait for a file system that hangs.
    ~ObjectWorker() override;

    void want(const Snapshot& snapshot) override;
    std::vector<FoundObjects> take() override;
    std::vector<FoundObjects> wait(std::chrono::milliseconds patience) override;

private:
    struct Batch;
    struct Shared;

    /// A thread that was left behind, and with whom.
    struct Left {
        ProgramId program;
        std::shared_ptr<Shared> shared;
    };

    static void work(const std::shared_ptr<Shared>& shared);
    bool start();
    void leave_behind();
    [[nodiscard]] bool is_left(const Task& task) const;

    const MakeFind make_;
    const LookAgain look_again_;
    const Limits limits_;
    const std::shared_ptr<LeftAlone> alone_;  // all threads'
    ObjectChoice choice_;
    std::shared_ptr<Shared> shared_;  // with thread_; from the first want() on
    std::thread thread_;
    std::vector<Left> left_;
};

}  // namespace lattop
