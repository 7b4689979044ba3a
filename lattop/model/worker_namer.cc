// SPDX-License-Identifier: GPL-2.0-or-later
//
// See worker_namer.h. Threads that are left behind are detached: they hold what they work on, and
// end by themselves if they ever get that far.
#include "lattop/model/worker_namer.h"

#include <fmt/format.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <span>
#include <system_error>

#include "lattop/model/format.h"
#include "lattop/model/name_finder.h"
#include "unwind/background_thread.h"
#include "unwind/remote_unwind.h"

namespace lattop {
namespace {

/// A thread that was on a CPU, or its reader, for more than this part of the time at a request is
/// at work.
constexpr int kAtWork = 5;

/// Work counts for so many times less than waiting.
constexpr int kWorkCounts = 5;

/// Processes that are known to be put off; what is beyond is, and nobody is told.
constexpr std::size_t kMaxPutOff = 4096;

/// How often the watcher looks within the patience, while any thread is at a request.
constexpr int kLooks = 4;

/// Processes that progress() names; there may be more.
constexpr std::size_t kSilentNamed = 3;

MakeNameTools name_tools(std::shared_ptr<DebugFetch> fetch) {
    return [fetch = std::move(fetch)]() -> NameTools {
        auto images = program_images();
        auto unwinder = program_unwinder();
        ReadingTime reading_time = [images = images->reading_time(),
                                    walks = unwinder->walking_time()] {
            return images() + walks();
        };
        auto finder = std::make_shared<NameFinder>(fetch, std::move(images), std::move(unwinder));
        return {[finder = std::move(finder)](const NameRequest& request) {
                    return finder->answer(request);
                },
                std::move(reading_time)};
    };
}

NameAnswer not_now(const NameRequest& request) {
    NameAnswer answer;
    answer.id = request.id;
    answer.not_now = true;
    if (request.live)
        answer.live =
            LiveNames{.end = "its memory or files do not answer", .sleeps = request.sleeps};
    if (request.command_line) answer.command_line = "";
    return answer;
}

/// "names: 2 processes do not answer (1200, 1300)"; `all`: nobody else is looked at either.
std::string silent_text(std::span<const std::uint32_t> pids, bool all) {
    if (pids.empty()) return "";
    return fmt::format("{}: {} process{} not answer ({})", all ? "no names" : "names", pids.size(),
                       pids.size() == 1 ? " does" : "es do", format_pids(pids, kSilentNamed));
}

/// "names: 3 processes of users with slow ones put off (1200, ...)", of users whose programs were
/// slow.
std::string put_off_text(std::span<const std::uint32_t> pids) {
    if (pids.empty()) return "";
    return fmt::format("names: {} process{} of users with slow ones put off ({})", pids.size(),
                       pids.size() == 1 ? "" : "es", format_pids(pids, kSilentNamed));
}

}  // namespace

std::chrono::nanoseconds thread_cpu_time(pthread_t thread) {
    clockid_t clock{};
    timespec time{};
    if (::pthread_getcpuclockid(thread, &clock) != 0 || ::clock_gettime(clock, &time) != 0)
        return {};
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

ProgramId WorkerNamer::program_of(const NameRequest& request) {
    return {request.task.tgid, request.task.exec_id};
}

WorkerNamer::Worker& WorkerNamer::Shared::worker_of(const ProgramId& program) {
    const auto found = own.find(program);
    return found == own.end() ? *common : *found->second;
}

void WorkerNamer::Shared::give(NameAnswer answer) {
    answers.push_back(std::move(answer));
    // Once for each batch of answers: take() clears it.
    if (answers.size() == 1) ::eventfd_write(ready.get(), 1);
}

void WorkerNamer::Shared::add(NameRequest request) {
    Worker& worker = worker_of(program_of(request));
    if (worker.silent)
        give(not_now(request));
    else if (request.live || request.command_line)
        worker.requests.push_front(std::move(request));
    else
        worker.requests.push_back(std::move(request));
}

/// What waits for a thread that may never get through is answered.
void WorkerNamer::Shared::put_off(Worker& worker) {
    for (const NameRequest& request : std::exchange(worker.requests, {}))
        give(not_now(request));
}

/// False when the thread is to end.
bool WorkerNamer::Shared::wait_for_request(Worker& worker, std::unique_lock<std::mutex>& held) {
    const auto awake = [&] { return stop || worker.ended || !worker.requests.empty(); };
    if (common.get() == &worker) {
        changed.wait(held, awake);
    } else if (!changed.wait_for(held, limits.linger, awake)) {
        std::erase_if(own, [&](const auto& one) { return one.second.get() == &worker; });
        return false;
    }
    return !stop && !worker.ended;
}

/// CPU time of the thread and of who reads for it.
std::chrono::nanoseconds WorkerNamer::Shared::worked(const Worker& worker) const {
    return limits.worked(worker.thread) + std::chrono::nanoseconds(worker.reading_time());
}

NameRequest WorkerNamer::Shared::begin(Worker& worker, const ReadingTime& reading_time) {
    NameRequest request = std::move(worker.requests.front());
    worker.requests.pop_front();
    worker.at = program_of(request);
    worker.since = worker.begun = limits.now();
    worker.thread = ::pthread_self();
    worker.reading_time = reading_time;
    worker.worked = worker.worked_before = worked(worker);
    worker.payer = kNoPayer;
    return request;
}

/// Threads that are at a request of that user, or silent for one.
std::size_t WorkerNamer::Shared::at_work_for(Payer payer) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        own, [&](const auto& one) { return one.second->at && one.second->payer == payer; }));
}

/// Whether its user, or its program, had enough of the threads' time for now. A live stack is one
/// that somebody looks at.
bool WorkerNamer::Shared::put_off_for_now(Worker& worker, const NameRequest& request, Payer payer) {
    if (!LeftAlone::counts(payer) || request.live) {
        worker.payer = payer;
        return false;
    }
    const bool off = alone.either(*worker.at, payer, limits.now()) ||
                     at_work_for(payer) >= most_of_a_user(limits);
    worker.payer = payer;
    if (put_off_last.size() >= kMaxPutOff) forget_put_off();
    if (!off)
        put_off_last.erase(*worker.at);
    else if (put_off_last.size() < kMaxPutOff)
        put_off_last.insert_or_assign(*worker.at, payer);
    return off;
}

/// Those that may be looked at again.
void WorkerNamer::Shared::forget_put_off() {
    const Time now = limits.now();
    std::erase_if(put_off_last,
                  [&](const auto& one) { return !alone.either(one.first, one.second, now); });
}

std::vector<std::uint32_t> WorkerNamer::Shared::those_put_off() {
    forget_put_off();
    std::vector<std::uint32_t> pids;
    for (const auto& [program, payer] : put_off_last)
        pids.push_back(program.tgid);
    return pids;
}

/// What the request took so far, as far as it counts.
WorkerNamer::Time::duration WorkerNamer::Shared::waited(const Worker& worker, Time now) const {
    const auto took = now - worker.begun;
    const auto work = std::min<Time::duration>(worked(worker) - worker.worked_before, took);
    return took - work + work / kWorkCounts;
}

/// Again where no other thread could take over yet.
void WorkerNamer::Shared::mark_silent(Worker& worker, Time now) {
    if (std::exchange(worker.silent, true)) return;
    alone.keep(*worker.at, worker.payer);
    alone.left_behind(worker.payer, waited(worker, now), now);
}

/// Whether the request keeps the thread, waiting; one that is at work has as much time again, but
/// not for ever.
bool WorkerNamer::Shared::kept(Worker& worker, Time now) const {
    if (!worker.at || now - worker.since < worker.patience) return false;
    const std::chrono::nanoseconds by_now = worked(worker);
    if ((by_now - worker.worked) * kAtWork < now - worker.since) return true;
    if (now - worker.begun >=
        std::max<std::chrono::steady_clock::duration>(limits.work, worker.patience))
        return true;
    worker.since = now;
    worker.worked = by_now;
    return worker.silent;
}

/// A watcher that did not look for as long as the patience did not run, nor did any thread.
void WorkerNamer::Shared::forgive_pause(Time now) {
    if (!looked) return;
    const auto pause = now - std::exchange(*looked, now);
    if (pause < limits.patience) return;
    const auto forgive = [&](Worker& worker) {
        worker.begun = std::min(worker.begun + pause, now);
        worker.since = std::min(worker.since + pause, now);
    };
    forgive(*common);
    for (const auto& [program, worker] : own)
        forgive(*worker);
}

/// How long a process keeps its own thread minds nobody but who waits for all names: the next
/// time it may be as slow again, for as long as one at work, and is not silent for that.
void WorkerNamer::Shared::end(Worker& worker) {
    const Time now = limits.now();
    forgive_pause(now);
    if (worker.silent) {
        alone.through(*worker.at, now);
        if (common.get() != &worker)
            worker.patience = std::max(
                worker.patience, std::min<Time::duration>(2 * (now - worker.begun), limits.work));
    } else if (now - worker.begun >= limits.unnoted) {
        alone.note(*worker.at, worker.payer, waited(worker, now), now);
    }
    worker.silent = false;
    worker.at.reset();
}

/// For one more process with a thread of its own; one whose thread has nothing to do gives
/// way.
bool WorkerNamer::Shared::make_room() {
    if (own.size() < limits.threads) return true;
    const auto idle = std::ranges::find_if(
        own, [](const auto& one) { return !one.second->at && one.second->requests.empty(); });
    if (idle == own.end()) return false;
    idle->second->ended = true;
    own.erase(idle);
    changed.notify_all();
    return true;
}

std::vector<std::uint32_t> WorkerNamer::Shared::silent() const {
    std::vector<std::uint32_t> pids;
    for (const auto& [program, worker] : own)
        if (worker->silent) pids.push_back(program.tgid);
    if (common->silent) pids.push_back(common->at->tgid);
    return pids;
}

/// When some thread may have been at a request for too long; nothing while none is at any.
std::optional<WorkerNamer::Time> WorkerNamer::Shared::next_look(Time now) const {
    std::optional<Time> next;
    const auto look_at = [&](const Worker& worker) {
        if (!worker.at && worker.requests.empty()) return;
        // It is about to begin; or it is the common one, which is still to be replaced.
        const bool from_now = !worker.at || worker.silent;
        const Time time = (from_now ? now : worker.since) + worker.patience;
        if (!next || time < *next) next = time;
    };
    look_at(*common);
    for (const auto& [program, worker] : own)
        if (!worker->silent) look_at(*worker);
    return next;
}

WorkerNamer::WorkerNamer(std::shared_ptr<DebugFetch> fetch) : WorkerNamer(name_tools(fetch)) {
    fetch_ = std::move(fetch);
}

WorkerNamer::WorkerNamer(MakeNameTools make, const NamerLimits& limits)
    : WorkerNamer(std::make_shared<Shared>(std::move(make), limits)) {
    shared_->ready = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!shared_->ready) throw std::system_error(errno, std::generic_category(), "eventfd");
    thread_ = std::thread([shared = shared_, worker = shared_->common] { work(shared, worker); });
    watcher_ = std::thread([this] { watch(); });
}

/// Also where the constructor fails half-way. Threads get a moment to end: one that still works
/// while the program's last objects go may miss one of them.
WorkerNamer::~WorkerNamer() {
    std::unique_lock lock(shared_->lock);
    shared_->stop = true;
    shared_->changed.notify_all();
    shared_->watched.notify_all();
    lock.unlock();
    if (watcher_.joinable()) watcher_.join();
    lock.lock();
    shared_->changed.wait_for(lock, kEndPatience, [&] {
        return std::ranges::all_of(shared_->own, [](const auto& one) {
            return one.second->silent || one.second->stopped;
        });
    });
    if (thread_.joinable())
        join_or_leave(thread_, lock, shared_->changed, shared_->common->stopped);
}

void WorkerNamer::work(const std::shared_ptr<Shared>& shared,
                       const std::shared_ptr<Worker>& worker) {
    block_signals();
    NameTools tools = shared->make();
    std::unique_lock lock(shared->lock);
    while (shared->wait_for_request(*worker, lock)) {
        const NameRequest request = shared->begin(*worker, tools.reading_time);
        lock.unlock();
        const Payer payer = shared->limits.payer(request.task);
        lock.lock();
        const bool looks = !shared->put_off_for_now(*worker, request, payer);
        lock.unlock();
        NameAnswer answer = looks ? tools.find(request) : not_now(request);
        lock.lock();
        shared->end(*worker);
        shared->give(std::move(answer));
    }
    lock.unlock();
    tools.find = nullptr;  // closes files, which may take for ever as well
    lock.lock();
    worker->stopped = true;
    shared->changed.notify_all();
}

void WorkerNamer::watch() {
    block_signals();
    std::unique_lock lock(shared_->lock);
    while (!shared_->stop) {
        const Time now = shared_->limits.now();
        leave_behind(now);
        if (const auto next = shared_->next_look(now)) {
            const Time::duration soon = shared_->limits.patience / kLooks;
            shared_->watched.wait_for(lock, std::min(*next - now, soon));
        } else {
            shared_->looked.reset();
            shared_->watched.wait(lock);
        }
    }
}

void WorkerNamer::look() {
    const std::lock_guard lock(shared_->lock);
    leave_behind(shared_->limits.now());
}

/// Threads that have been at a request for too long. With the lock held.
void WorkerNamer::leave_behind(Time now) {
    shared_->forgive_pause(now);
    shared_->looked = now;
    const std::shared_ptr<Worker> common = shared_->common;
    if (shared_->kept(*common, now)) {
        shared_->mark_silent(*common, now);
        replace_common();
        shared_->put_off(*common);
    }
    for (const auto& [program, worker] : shared_->own) {
        if (!shared_->kept(*worker, now)) continue;
        shared_->mark_silent(*worker, now);
        shared_->put_off(*worker);
    }
}

/// Leaves the common thread to the process that keeps it; another one goes on with what is
/// asked of all others. Where there can be none that is tried again.
void WorkerNamer::replace_common() {
    if (!shared_->make_room()) return;
    auto next = std::make_shared<Worker>(shared_->limits.patience);
    std::thread thread;
    try {
        thread = std::thread([shared = shared_, next] { work(shared, next); });
    } catch (const std::system_error&) {
        return;
    }
    const auto kept = std::exchange(shared_->common, next);
    const ProgramId its = *kept->at;
    for (NameRequest& request : std::exchange(kept->requests, {}))
        (program_of(request) == its ? kept : next)->requests.push_back(std::move(request));
    shared_->own.emplace(its, kept);
    std::exchange(thread_, std::move(thread)).detach();
}

void WorkerNamer::submit(std::vector<NameRequest> requests) {
    if (requests.empty()) return;
    const std::lock_guard lock(shared_->lock);
    for (NameRequest& request : requests)
        shared_->add(std::move(request));
    shared_->changed.notify_all();
    shared_->watched.notify_all();
}

std::vector<NameAnswer> WorkerNamer::take() {
    const std::lock_guard lock(shared_->lock);
    eventfd_t ignored = 0;
    ::eventfd_read(shared_->ready.get(), &ignored);
    return std::exchange(shared_->answers, {});
}

int WorkerNamer::ready_fd() const {
    return shared_->ready.get();
}

std::vector<std::uint32_t> WorkerNamer::silent() const {
    const std::lock_guard lock(shared_->lock);
    return shared_->silent();
}

std::vector<std::uint32_t> WorkerNamer::put_off() const {
    const std::lock_guard lock(shared_->lock);
    return shared_->those_put_off();
}

std::string WorkerNamer::progress() const {
    std::string text = fetch_ == nullptr ? "" : fetch_->progress();
    const auto add = [&](const std::string& more) {
        if (!text.empty() && !more.empty()) text += "; ";
        text += more;
    };
    const std::lock_guard lock(shared_->lock);
    add(silent_text(shared_->silent(), shared_->common->silent));
    add(put_off_text(shared_->those_put_off()));
    return text;
}

}  // namespace lattop
