// SPDX-License-Identifier: GPL-2.0-or-later
//
// See stack_names.h.
#include "lattop/model/stack_names.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

namespace lattop {
namespace {

/// Memory for stacks and their names: of a hundred thousand, where names are as programs have them.
constexpr std::size_t kMaxBytes = std::size_t{256} << 20;
constexpr std::size_t kBytesOfStack = 2048;
constexpr std::size_t kMaxStacks = std::size_t{1} << 17;
constexpr std::size_t kMaxTasks = std::size_t{1} << 17;

/// Stacks, and tasks, that no snapshot holds any more and that stay nevertheless, where only what
/// is shown counts: a task that is off the screen for a while, or sleeps elsewhere, comes back. So
/// few that they are full soon on machines whose tasks come and go: who looks after an hour sees
/// what the process takes for months.
constexpr std::size_t kUnshown = 1024;

/// Command lines remembered: a few hundred bytes for each process, 4 KiB at most.
constexpr std::size_t kMaxCommandLines = std::size_t{1} << 16;

/// Requests with the namer at a time; the rest come with the next snapshot.
constexpr std::size_t kMaxPending = 8192;

/// Live stacks asked for and not yet answered, beside those of silent processes: the selection
/// moves faster than a process whose memory is slow to read.
constexpr std::size_t kMaxLivePending = 4;

/// Rounds to wait after an attempt that did not find everything; after as many
/// attempts what was found stays.
constexpr std::array<std::uint64_t, 3> kWaitRounds = {1, 4, 16};

/// Rounds to wait while the process is silent, or put off: others get their turn, also where it has
/// more stacks than may be asked for at a time.
constexpr std::uint64_t kSilentRounds = 4;

/// Without its frames, which others may hold as well.
std::size_t cost_of(const UserStack& stack) {
    return kBytesOfStack + stack.frames.size() * sizeof(UserFramePtr);
}

bool same_names(const UserStack& one, const UserStack& other) {
    return one.own == other.own && one.frames == other.frames;
}

bool has_user_part(const Trace* trace) {
    return trace != nullptr && trace->nr_user != 0 && (trace->flags & LT_TR_NO_USER) == 0;
}

/// Leaders of the processes that still run, by tgid.
std::unordered_map<std::uint32_t, const Task*> live_leaders(const Snapshot& snapshot) {
    std::unordered_map<std::uint32_t, const Task*> leaders;
    for (const Task& task : snapshot.tasks)
        if (task.kind == LT_KIND_TASK && task.pid == task.tgid && !task.exited())
            leaders.emplace(task.tgid, &task);
    return leaders;
}

/// A live task with the address space that `task` has or had: itself, or, for
/// a thread that has ended, its process's leader if that runs the same program.
/// A leader that started later is another process's.
const Task* live_task(const Task& task,
                      const std::unordered_map<std::uint32_t, const Task*>& leaders) {
    if (!task.exited()) return &task;
    const auto found = leaders.find(task.tgid);
    if (found == leaders.end()) return nullptr;
    const Task& leader = *found->second;
    const bool same = leader.exec_id == task.exec_id && leader.start_ns <= task.start_ns;
    return same ? &leader : nullptr;
}

}  // namespace

StackNames::StackNames(std::unique_ptr<Namer> namer, Keep keep)
    : namer_(std::move(namer)),
      keep_(keep),
      known_(kMaxBytes),
      asked_(kMaxStacks),
      programs_(kMaxTasks),
      command_lines_(kMaxCommandLines) {}

void StackNames::note_programs(const Snapshot& snapshot) {
    for (const Task& task : snapshot.tasks)
        note_program(id_of(task), task.exec_id).exec_id = task.exec_id;
}

/// The program as it is known or, where none is, this one.
StackNames::Program& StackNames::note_program(const TaskId& id, std::uint32_t exec_id) {
    Program* program = programs_.find(id);
    if (program == nullptr) program = &programs_.put(id, {exec_id});
    if (std::exchange(program->seen, wanted_) != wanted_) ++seen_.tasks;
    return *program;
}

void StackNames::note_stack(Known& known) {
    if (std::exchange(known.seen, wanted_) != wanted_) ++seen_.stacks;
}

bool StackNames::due(const Known& known, const TaskRef& live) const {
    if (known.pending || known.settled) return false;
    const bool answers = known.put_off && std::ranges::find(silent_, live.tgid) == silent_.end();
    return (answers || round_ >= known.next_round) && DebugFetch::Clock::now() >= known.retry_at;
}

void StackNames::want_stack(const Shown& shown, std::vector<NameRequest>& requests) {
    Known* known = known_.find(shown.id);
    if (shown.id.exec_id != shown.exec_id) {
        if (known == nullptr) return;
        note_stack(*known);
        if (!known->confirmed && !known->pending) known_.erase(shown.id);
        return;
    }
    if (known != nullptr && !known->stack.frames.empty() && !known->pending)
        known->confirmed = true;
    if (known == nullptr && !shown.live) return;
    if (known == nullptr) known = &known_.put(shown.id, {}, kBytesOfStack);
    note_stack(*known);
    if (!shown.live) return;
    if (!due(*known, *shown.live)) return;
    requests.push_back(
        {shown.id, *shown.live, {shown.addresses.begin(), shown.addresses.end()}, round_, false});
}

/// Whether another thread's stack is as good. Both are in this snapshot, under one program: that is
/// one process.
bool StackNames::is_shared(const NameRequest& request, const LiveTasks& live) {
    const StackId& id = request.id;
    if (!live.contains(id.task)) return false;
    const TaskId process{LT_KIND_TASK, id.task.tgid, id.task.tgid, 0};
    const StackId key{process, id.exec_id, id.trace_id, id.load};
    const StackId* first = asked_.find(key);
    const bool other = first != nullptr && *first != id && live.contains(first->task);
    const Known* its = other ? known_.peek(*first) : nullptr;
    // What is due is not asked again for a thread that does not sleep there any more
    if (its == nullptr || its->ended_unseen() || due(*its, request.task)) {
        asked_.put(key, id);
        return false;
    }
    Known& mine = *known_.find(id);
    if (its->pending) {
        mine.pending = true;
        sharers_[*first].push_back(id);
    } else {
        take_over(id, mine, *its);
    }
    return true;
}

/// What is known of another thread's stack.
void StackNames::take_over(const StackId& id, Known& mine, const Known& its) {
    const std::uint64_t seen = mine.seen;
    mine = its;
    mine.pending = mine.confirmed = false;
    mine.seen = seen;
    set_cost(id, mine.stack);
}

/// What a stack costs by now. It stays; for it others that were not seen for longest are dropped
/// while all take too much.
void StackNames::set_cost(const StackId& id, const UserStack& stack) {
    known_.set_cost(id, cost_of(stack));
    while (known_.cost() + frames_.bytes() > kMaxBytes && known_.size() > 1)
        known_.keep_newest(known_.size() - 1);
}

/// To the threads that wait for this one's stack.
void StackNames::share(const StackId& id) {
    const auto sharers = sharers_.extract(id);
    if (sharers.empty()) return;
    const Known* found = known_.peek(id);
    const bool useful = found != nullptr && !found->ended_unseen();
    const Known its = useful ? *found : Known();  // it may be dropped for those that take it over
    for (const StackId& sharer : sharers.mapped()) {
        Known* mine = known_.find(sharer);
        if (mine == nullptr) continue;
        mine->pending = false;
        const Program* program = programs_.peek(sharer.task);
        if (program == nullptr || program->exec_id != sharer.exec_id)
            known_.erase(sharer);
        else if (useful)
            take_over(sharer, *mine, its);
    }
}

void StackNames::ask(const Snapshot& snapshot, std::vector<NameRequest> wanted) {
    if (wanted.empty()) return;
    LiveTasks live;
    for (const Task& task : snapshot.tasks)
        if (task.kind == LT_KIND_TASK && !task.exited()) live.insert(id_of(task));
    std::vector<NameRequest> requests;
    for (NameRequest& request : wanted) {
        Known* known = known_.find(request.id);
        // Asked for twice, or there are more than are kept
        if (known == nullptr || known->pending || pending_ >= kMaxPending) continue;
        if (is_shared(request, live)) continue;
        known->pending = true;
        ++pending_;
        requests.push_back(std::move(request));
    }
    if (!requests.empty()) namer_->submit(std::move(requests));
}

/// A waker need not be in the snapshot itself. Then it is taken to run still
/// the latest program that it was seen to wake somebody from.
void StackNames::want_wakers(const Snapshot& snapshot, const Entry& entry,
                             std::vector<NameRequest>& requests) {
    for (const Waker& waker : snapshot.wakers_of(entry)) {
        if (waker.kind != LT_WAKER_TASK) continue;
        const TaskId id = id_of(waker);
        for (const TraceIndex of : {waker.trace, waker.waited_trace}) {
            const Trace* trace = snapshot.trace_at(of);
            if (!has_user_part(trace)) continue;
            std::uint32_t& exec_id = note_program(id, waker.exec_id).exec_id;
            if (static_cast<std::int32_t>(waker.exec_id - exec_id) > 0) exec_id = waker.exec_id;
            want_stack({stack_id(snapshot, waker, of), snapshot.user_frames(*trace), exec_id,
                        TaskRef{waker.pid, waker.tgid, waker.start_ns, exec_id}},
                       requests);
        }
    }
}

void StackNames::want(const Snapshot& snapshot) {
    if (keep_ == Keep::Shown) forget_unseen();
    ++wanted_;
    seen_ = {};
    want_more(snapshot);
}

void StackNames::want_more(const Snapshot& snapshot) {
    ++round_;
    silent_ = namer_->silent();
    std::ranges::copy(namer_->put_off(), std::back_inserter(silent_));
    note_programs(snapshot);
    const auto leaders = live_leaders(snapshot);
    std::vector<NameRequest> requests;
    for (const Task& task : snapshot.tasks) {
        if (task.kind != LT_KIND_TASK) continue;
        std::optional<TaskRef> live;
        if (const Task* its = live_task(task, leaders))
            live = TaskRef{its->pid, its->tgid, its->start_ns, its->exec_id};
        for (const Entry& entry : snapshot.entries_of(task)) {
            if (const Trace* trace = snapshot.trace_of(entry); has_user_part(trace))
                want_stack({stack_id(snapshot, task, entry), snapshot.user_frames(*trace),
                            task.exec_id, live},
                           requests);
            want_wakers(snapshot, entry, requests);
        }
    }
    ask(snapshot, std::move(requests));
}

/// What the last want() and want_more() showed stays, and kUnshown more. Answers about others may
/// have come in front of what is shown: of stacks these go first, of command lines at the next.
void StackNames::forget_unseen() {
    known_.drop_oldest_while([this](const StackId&, const Known& known) {
        return known_.size() > seen_.stacks + kUnshown && known.seen != wanted_;
    });
    asked_.keep_newest(seen_.stacks + kUnshown);
    programs_.keep_newest(seen_.tasks + kUnshown);
    command_lines_.keep_newest(seen_.tasks + kUnshown);
}

std::size_t StackNames::remembered() const {
    return known_.size() + asked_.size() + programs_.size() + command_lines_.size();
}

bool StackNames::keep(NameAnswer& answer) {
    --pending_;
    Known* known = known_.find(answer.id);
    if (known == nullptr) return true;  // dropped meanwhile: there are too many
    known->pending = false;
    known->put_off = answer.not_now;
    if (answer.not_now) {
        known->next_round = round_ + kSilentRounds;
        return false;
    }
    const Program* program = programs_.peek(answer.id.task);
    if (program == nullptr || program->exec_id != answer.id.exec_id) {
        known_.erase(answer.id);  // it runs another program by now
        return true;
    }
    if (answer.naming.result == Naming::Result::Gone) {
        known->settled = true;
        return true;
    }
    UserStack& stack = answer.naming.stack;
    for (UserFramePtr& frame : stack.frames)
        frame = frames_.hold(std::move(frame));
    stack.version = same_names(stack, known->stack) ? known->stack.version : new_version();
    known->stack = std::move(stack);
    set_cost(answer.id, known->stack);
    known->retry_at = {};
    if (answer.naming.result == Naming::Result::Waiting) {
        known->next_round = round_ + 1;
        return true;
    }
    known->settled =
        answer.naming.result == Naming::Result::Named || known->attempts >= kWaitRounds.size();
    if (known->settled && answer.naming.retry_at) {
        known->settled = false;
        known->retry_at = *answer.naming.retry_at;
        return true;
    }
    if (!known->settled) known->next_round = round_ + kWaitRounds.at(known->attempts);
    ++known->attempts;
    return true;
}

bool StackNames::keep_all(std::vector<NameAnswer> answers) {
    bool news = false;
    for (NameAnswer& answer : answers)
        if (answer.live) {
            news = keep_live(answer) || news;
        } else if (answer.command_line) {
            news = keep_command_line(answer) || news;
        } else {
            news = keep(answer) || news;
            share(answer.id);
        }
    return news;
}

bool StackNames::collect() {
    return keep_all(namer_->take());
}

/// "Not now" is no news, but leaves room to ask for others.
bool StackNames::wait() {
    bool answered = false;
    for (bool more = true; more;) {
        more = namer_->wait();
        std::vector<NameAnswer> answers = namer_->take();
        answered = answered || !answers.empty();
        keep_all(std::move(answers));
    }
    return answered;
}

bool StackNames::pending(const StackId& id) const {
    const Known* known = known_.peek(id);
    return known != nullptr && known->pending;
}

void StackNames::want_live(const Task& task) {
    live_wanted_ = {id_of(task), task.exec_id, 0};
    if (live_pending_ >= kMaxLivePending + namer_->silent().size()) return;
    ++live_pending_;
    NameRequest request;
    request.id = live_wanted_;
    request.task = {task.pid, task.tgid, task.start_ns, task.exec_id};
    request.round = round_;
    request.live = true;
    request.sleeps = task.sleeps;
    std::vector<NameRequest> requests;
    requests.push_back(std::move(request));
    namer_->submit(std::move(requests));
}

/// The answer about a slow process may come behind that about the one that was asked for after it.
bool StackNames::keep_live(NameAnswer& answer) {
    --live_pending_;
    if (answer.id != live_wanted_) return false;
    // In the same sleep it still stands there.
    const bool known = live_ && live_of_ == answer.id && live_->sleeps == answer.live->sleeps;
    if (answer.not_now && known) return false;
    live_of_ = answer.id;
    live_ = std::move(answer.live);
    return true;
}

void StackNames::want_command_lines(std::span<const Task* const> tasks) {
    std::vector<NameRequest> requests;
    for (const Task* task : tasks) {
        if (task->kind != LT_KIND_TASK || task->kernel_thread() || task->exited()) continue;
        const StackId id{id_of(*task), task->exec_id, 0};
        const CommandLine* known = command_lines_.find(id);
        if (known != nullptr &&
            (known->text != nullptr || known->pending || round_ < known->next_round))
            continue;
        command_lines_.put(id, {.pending = true});
        NameRequest request;
        request.id = id;
        request.task = {task->pid, task->tgid, task->start_ns, task->exec_id};
        request.command_line = true;
        requests.push_back(std::move(request));
    }
    if (!requests.empty()) namer_->submit(std::move(requests));
}

bool StackNames::keep_command_line(NameAnswer& answer) {
    CommandLine* known = command_lines_.find(answer.id);
    if (known == nullptr) return true;  // dropped meanwhile: there are too many
    known->pending = false;
    if (answer.not_now) {
        known->next_round = round_ + kSilentRounds;
        return false;
    }
    if (last_line_ == nullptr || *last_line_ != *answer.command_line)
        last_line_ = std::make_shared<const std::string>(std::move(*answer.command_line));
    known->text = last_line_;
    return true;
}

const std::string* StackNames::command_line(const Task& task) const {
    const CommandLine* known = command_lines_.peek({id_of(task), task.exec_id, 0});
    return known == nullptr ? nullptr : known->text.get();
}

const LiveNames* StackNames::find_live(const Task& task) const {
    const bool its = live_ && live_of_ == StackId{id_of(task), task.exec_id, 0};
    return its ? &*live_ : nullptr;
}

const UserStack* StackNames::find(const StackId& id) const {
    const Known* known = known_.peek(id);
    return known == nullptr || known->stack.frames.empty() ? nullptr : &known->stack;
}

}  // namespace lattop
