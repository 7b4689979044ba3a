// SPDX-License-Identifier: GPL-2.0-or-later
//
// See object_worker.h. Threads that are left behind are detached: they hold what they work on,
// and end by themselves if they ever get that far.
#include "lattop/model/object_worker.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "lattop/source/proc_source.h"
#include "unwind/background_thread.h"

namespace lattop {
namespace {

Snapshot look_at_module(const std::vector<std::uint32_t>& pids) {
    Query query;
    query.sort = LT_SORT_PID;
    query.traces = LT_TRACES_NONE;
    query.limit = LT_MAX_LIMIT;
    query.flags = LT_Q_ASLEEP;
    query.pids = pids;
    return ProcSource().take(query, Moment::Same);
}

}  // namespace

/// The chosen ones of a snapshot.
struct ObjectWorker::Batch {
    std::uint64_t time_ns = 0;
    std::vector<Task> tasks;
    std::vector<SleepId> sleeps;  // theirs
};

/// With one thread. `lock` guards all but what is const.
struct ObjectWorker::Shared {
    Shared(MakeFind maker, LookAgain look, Limits given, std::shared_ptr<LeftAlone> left)
        : make(std::move(maker)),
          look_again(std::move(look)),
          limits(std::move(given)),
          alone(std::move(left)) {}

    std::string ask(const Task& task, const FindObject& find_object);
    FoundObjects find(const Batch& of, const FindObject& find_object);

    const MakeFind make;
    const LookAgain look_again;
    const Limits limits;
    const std::shared_ptr<LeftAlone> alone;
    std::mutex lock;
    std::condition_variable changed;
    std::optional<Batch> batch;  // also while it is worked on
    std::vector<FoundObjects> found;
    std::optional<ProgramId> at;  // since when, and whose it is
    Time since;
    Payer payer = kNoPayer;
    bool stop = false;
    bool stopped = false;
};

std::string ObjectWorker::Shared::ask(const Task& task, const FindObject& find_object) {
    std::unique_lock held(lock);
    if (stop) return "";
    const ProgramId program{task.tgid, task.exec_id};
    at = program;
    const Time begun = since = limits.now();
    payer = kNoPayer;
    held.unlock();
    const Payer its = limits.payer({task.pid, task.tgid, task.start_ns, task.exec_id});
    held.lock();
    payer = its;
    // What is left behind is noted by who does that.
    const auto done = [&] {
        const Time end = limits.now();
        if (!stop && end - begun >= limits.unnoted) alone->note(program, its, end - begun, end);
        at.reset();
    };
    if (alone->either(program, its, begun)) {
        done();
        return "";
    }
    held.unlock();
    std::string object;
    try {
        object = find_object(task);
    } catch (...) {
        held.lock();
        done();
        throw;
    }
    held.lock();
    done();
    return object;
}

/// What was found is of the sleeps that the snapshot showed where they go on behind that.
FoundObjects ObjectWorker::Shared::find(const Batch& of, const FindObject& find_object) {
    std::vector<const Task*> tasks;
    std::vector<std::uint32_t> pids;
    for (const Task& task : of.tasks) {
        tasks.push_back(&task);
        pids.push_back(task.pid);
    }
    const WaitObjects objects =
        ask_for_objects(tasks, [&](const Task& task) { return ask(task, find_object); });
    FoundObjects result{of.time_ns, {}};
    if (objects.empty()) return result;
    if (pids.size() > LT_MAX_PIDS) pids.clear();
    const Snapshot after = look_again(pids);
    std::unordered_map<TaskId, std::uint64_t, HashTaskId> begins;
    for (const Task& task : after.tasks)
        if (const auto sleep = sleep_of(after, task)) begins.emplace(sleep->task, sleep->begin_ns);
    for (const SleepId& sleep : of.sleeps) {
        const auto object = objects.find(sleep.task);
        const auto begin = begins.find(sleep.task);
        if (object != objects.end() && begin != begins.end() && begin->second == sleep.begin_ns)
            result.objects.push_back({sleep, object->second});
    }
    return result;
}

void ObjectWorker::work(const std::shared_ptr<Shared>& shared) {
    block_signals();
    const FindObject find_object = shared->make();
    std::unique_lock lock(shared->lock);
    for (;;) {
        shared->changed.wait(lock, [&] { return shared->stop || shared->batch; });
        if (shared->stop) break;
        const Batch batch = *shared->batch;
        lock.unlock();
        FoundObjects found;
        try {
            found = shared->find(batch, find_object);
        } catch (const std::exception&) {
            // the module could not be asked: nothing is known to be of these sleeps
        }
        lock.lock();
        if (!found.objects.empty()) shared->found.push_back(std::move(found));
        shared->batch.reset();
        shared->changed.notify_all();
    }
    shared->stopped = true;
    shared->changed.notify_all();
}

ObjectWorker::ObjectWorker(ObjectChoice choice)
    : ObjectWorker(system_objects, look_at_module, Limits(), std::move(choice)) {}

ObjectWorker::ObjectWorker(MakeFind make, LookAgain look_again, Limits limits, ObjectChoice choice)
    : make_(std::move(make)),
      look_again_(std::move(look_again)),
      limits_(std::move(limits)),
      alone_(std::make_shared<LeftAlone>(AloneLimits{.times = limits_.left_alone,
                                                     .patience = limits_.patience,
                                                     .most = limits_.patience,
                                                     .kept = (limits_.threads + 1) / 2})),
      choice_(std::move(choice)) {}

ObjectWorker::~ObjectWorker() {
    if (!thread_.joinable()) return;
    std::unique_lock lock(shared_->lock);
    shared_->stop = true;
    shared_->changed.notify_all();
    join_or_leave(thread_, lock, shared_->changed, shared_->stopped);
}

/// False where there can be no thread: it is tried again with the next snapshot.
bool ObjectWorker::start() {
    auto shared = std::make_shared<Shared>(make_, look_again_, limits_, alone_);
    try {
        thread_ = std::thread([shared] { work(shared); });
    } catch (const std::system_error&) {
        return false;
    }
    shared_ = std::move(shared);
    return true;
}

void ObjectWorker::leave_behind() {
    const Time now = limits_.now();
    std::erase_if(left_, [&](const Left& one) {
        const std::lock_guard lock(one.shared->lock);
        if (one.shared->stopped) alone_->through(one.program, now);
        return one.shared->stopped;
    });
    // Not joinable: this one is left behind already, and there was no other
    if (!thread_.joinable() || left_.size() >= limits_.threads) return;
    const std::lock_guard lock(shared_->lock);
    if (!shared_->at || now - shared_->since < limits_.patience) return;
    shared_->stop = true;
    left_.push_back({*shared_->at, shared_});
    alone_->keep(*shared_->at, shared_->payer);
    alone_->left_behind(shared_->payer, now - shared_->since, now);
    thread_.detach();
}

bool ObjectWorker::is_left(const Task& task) const {
    const ProgramId program{task.tgid, task.exec_id};
    return std::ranges::find(left_, program, &Left::program) != left_.end();
}

void ObjectWorker::want(const Snapshot& snapshot) {
    leave_behind();
    if (!thread_.joinable() && !start()) return;
    const std::lock_guard lock(shared_->lock);
    if (shared_->batch) return;
    Batch batch{snapshot.header.time_ns, {}, {}};
    for (const Task* task :
         choice_.choose(snapshot, [&](const Task& one) { return is_left(one); })) {
        batch.tasks.push_back(*task);
        batch.sleeps.push_back(*sleep_of(snapshot, *task));
    }
    if (batch.tasks.empty()) return;
    shared_->batch = std::move(batch);
    shared_->changed.notify_all();
}

std::vector<FoundObjects> ObjectWorker::take() {
    if (!shared_) return {};
    const std::lock_guard lock(shared_->lock);
    return std::exchange(shared_->found, {});
}

std::vector<FoundObjects> ObjectWorker::wait(std::chrono::milliseconds patience) {
    if (!shared_) return {};
    std::unique_lock lock(shared_->lock);
    shared_->changed.wait_for(lock, patience, [&] { return !shared_->batch; });
    return std::exchange(shared_->found, {});
}

}  // namespace lattop
