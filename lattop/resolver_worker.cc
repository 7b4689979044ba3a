// SPDX-License-Identifier: GPL-2.0-or-later
//
// See resolver_worker.h.
#include "lattop/resolver_worker.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <system_error>
#include <utility>

#include "lattop/source/error.h"
#include "unwind/background_thread.h"
#include "unwind/nanoseconds.h"

namespace lattop {
namespace {

using namespace std::chrono_literals;

using SteadyClock = std::chrono::steady_clock;

/// When those who sleep are introduced again after the start. What the module missed while its ring
/// was full is lost, and a sleeper that never wakes has no other miss; so is a look in the wrong
/// moment.
constexpr std::array<std::chrono::seconds, 3> kSecondLooks{1s, 3s, 9s};

/// How soon after the ring was full, or a read failed in passing, as for want of memory.
constexpr std::chrono::seconds kAfterFull{2};
constexpr std::chrono::seconds kAfterFailed{2};

/// How often it is looked whether the module is loaded again.
constexpr int kModuleLookMs = 1000;

/// Threads that are left behind at a time. With as many, the next one is waited for.
constexpr std::size_t kMaxKept = 16;

/// What the next one may hold at least, of its limits, whatever those hold.
constexpr std::size_t kLeastRoom = 32;

/// For poll: rounded up, never negative; nothing is for ever.
int milliseconds_until(std::optional<SteadyClock::time_point> time) {
    if (!time) return -1;
    const auto rest = std::chrono::ceil<std::chrono::milliseconds>(*time - SteadyClock::now());
    return static_cast<int>(std::max<std::int64_t>(rest.count(), 0));
}

std::optional<SteadyClock::time_point> sooner(std::optional<SteadyClock::time_point> one,
                                              std::optional<SteadyClock::time_point> other) {
    return one && other ? std::min(one, other) : one ? one : other;
}

}  // namespace

void hurry() {
    constexpr int kNice = -10;
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice);
}

ResolverWorker::ResolverWorker(std::unique_ptr<ResolverDoor> door, const ResolverLimits& limits)
    : patience_(limits.patience),
      alone_(std::make_shared<LeftAlone>(AloneLimits{.times = limits.left_alone,
                                                     .patience = limits.patience,
                                                     .most = limits.patience,
                                                     .kept = kMaxKept / 2})) {
    start(std::move(door), limits, {});
    try {
        watcher_ = std::thread([this] { watch(); });
    } catch (const std::system_error&) {
        ::eventfd_write(shared_->stop_fd.get(), 1);
        thread_.detach();
        throw;
    }
}

/// Nobody else may ask for the state for a long time, as in a recording.
void ResolverWorker::watch() {
    constexpr int kLooks = 4;  // within the patience
    block_signals();
    std::unique_lock lock(care_);
    while (!ends_.wait_for(lock, patience_ / kLooks, [&] { return ended_; }))
        look_after();
}

void ResolverWorker::start(std::unique_ptr<ResolverDoor> door, const ResolverLimits& limits,
                           State so_far) {
    auto shared = std::make_shared<Shared>();
    shared->door = std::move(door);
    shared->limits = limits;
    shared->alone = alone_;
    shared->room = room(limits);
    shared->state = std::move(so_far);
    shared->stop_fd = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!shared->stop_fd) throw std::system_error(errno, std::generic_category(), "eventfd");
    thread_ = std::thread([shared] { work(shared); });
    shared_ = std::move(shared);
}

ResolverWorker::~ResolverWorker() {
    {
        const std::lock_guard lock(care_);
        ended_ = true;
    }
    ends_.notify_all();
    watcher_.join();
    ::eventfd_write(shared_->stop_fd.get(), 1);
    shared_->leave();
    std::unique_lock lock(shared_->lock);
    join_or_leave(thread_, lock, shared_->changed, shared_->stopped);
}

ResolverWorker::State ResolverWorker::state() {
    const std::lock_guard care(care_);
    const std::lock_guard lock(shared_->lock);
    State state = shared_->state;
    if (state.running && shared_->cpu_clock) state.cpu_ns += clock_ns(*shared_->cpu_clock);
    return state;
}

void ResolverWorker::look_after() {
    forgive_pause();
    see_who_is_through();
    if (kept_.size() >= kMaxKept) return;
    if (const auto its = keeper()) leave_behind(*its);
}

/// Who was not looked after for as long as the patience, though it is looked four times as often,
/// was stopped or frozen with all of lattop, or starved: no process did that.
void ResolverWorker::forgive_pause() {
    const auto now = SteadyClock::now();
    const std::lock_guard lock(shared_->lock);
    if (now - std::exchange(shared_->looked_after, now) >= patience_) shared_->at_since = now;
}

bool ResolverWorker::Shared::begin(const ProgramId& process) {
    const auto now = SteadyClock::now();
    if (alone->program(process, now)) return false;
    const std::lock_guard guard(lock);
    at = process;
    at_whose = kNoPayer;
    at_since = now;
    return true;
}

bool ResolverWorker::Shared::is_of(Payer payer) {
    if (alone->user(payer, SteadyClock::now())) return false;
    const std::lock_guard guard(lock);
    at_whose = payer;
    return true;
}

/// What was left behind is noted by who did that, and what was stopped is no process's doing.
void ResolverWorker::Shared::end() {
    const auto now = SteadyClock::now();
    const std::lock_guard guard(lock);
    const auto took = now - at_since;
    if (took >= limits.unnoted && now - looked_after < limits.patience && !left())
        alone->note(*at, at_whose, took, now);
    at.reset();
}

ResolverRoom ResolverWorker::Shared::room_now() const {
    const std::lock_guard guard(lock);
    return room;
}

/// The process that keeps the thread.
std::optional<ResolverWorker::Keeper> ResolverWorker::keeper() const {
    const std::lock_guard lock(shared_->lock);
    const bool keeps =
        shared_->at && SteadyClock::now() - shared_->at_since > shared_->limits.patience;
    if (!shared_->state.running || !keeps) return std::nullopt;
    return Keeper{*shared_->at, shared_->at_whose};
}

/// Another thread goes on. This one ends by itself if it ever gets that far. Where there can be no
/// other, as the module is gone at the moment, that is tried again.
void ResolverWorker::leave_behind(const Keeper& keeper) {
    const auto old = shared_;
    State state;
    {
        const std::lock_guard lock(old->lock);
        state = old->state;
        if (old->cpu_clock) state.cpu_ns += clock_ns(*old->cpu_clock);
    }
    state.keepers.push_back(keeper.program.tgid);
    kept_.push_back({keeper.program, old});
    alone_->keep(keeper.program, keeper.payer);
    std::thread thread;
    try {
        auto door = old->door->another();
        thread = std::exchange(thread_, {});
        start(std::move(door), old->limits, std::move(state));
    } catch (const std::exception&) {
        if (thread.joinable()) thread_ = std::move(thread);
        kept_.pop_back();
        alone_->let_go(keeper.program);
        return;
    }
    alone_->left_behind(keeper.payer, patience_, SteadyClock::now());
    thread.detach();
    old->leave();
    ::eventfd_write(old->stop_fd.get(), 1);
}

/// What the limits leave beside what those hold that were left behind.
ResolverRoom ResolverWorker::room(const ResolverLimits& limits) const {
    std::size_t files = 0, processes = 0;
    for (const Kept& kept : kept_) {
        files += kept.shared->holds.files;
        processes += kept.shared->holds.processes;
    }
    const auto left = [](std::size_t limit, std::size_t held) {
        return std::max(limit - std::min(limit, held), limit / kLeastRoom);
    };
    return {left(limits.file_bytes, files), left(limits.process_bytes, processes)};
}

/// Processes whose threads have got through are looked at again, when they were left alone for long
/// enough.
void ResolverWorker::see_who_is_through() {
    std::erase_if(kept_, [&](const Kept& kept) {
        const std::lock_guard lock(kept.shared->lock);
        if (kept.shared->stopped) alone_->through(kept.keeper, SteadyClock::now());
        return kept.shared->stopped;
    });
    const ResolverRoom room_left = room(shared_->limits);
    const std::lock_guard lock(shared_->lock);
    shared_->room = room_left;
}

void ResolverWorker::publish(Shared& shared, const Resolver& resolver, bool idle) {
    const std::lock_guard lock(shared.lock);
    shared.state.stats = resolver.stats();
    shared.state.idle = idle;
}

/// Resolves what one loaded module misses; true when asked to stop, false when
/// it was unloaded. The next one knows nothing, so nothing that was taught is
/// kept but the sums.
bool ResolverWorker::resolve_one_module(Shared& shared) {
    Resolver resolver(*shared.door, shared.limits, "/proc", shared.state.stats, &shared);
    try {
        resolve_until_stopped(shared, resolver);
        return true;
    } catch (const NoModuleError&) {
        publish(shared, resolver, false);
        return false;
    }
}

void ResolverWorker::resolve_until_stopped(Shared& shared, Resolver& resolver) {
    const auto start = SteadyClock::now();
    const auto* look = kSecondLooks.begin();
    std::optional<SteadyClock::time_point> next_look = start + *look++;
    // The misses of a step that fails wait for the next one; who slept is looked for again.
    const auto try_to = [&](std::size_t (Resolver::*work)()) -> std::size_t {
        resolver.hold(shared.room_now());
        try {
            return (resolver.*work)();
        } catch (const PassingError&) {
            next_look = SteadyClock::now() + kAfterFailed;
            return 0;
        }
    };
    try_to(&Resolver::introduce);
    std::array<pollfd, 2> fds{};
    fds[0] = {shared.stop_fd.get(), POLLIN, 0};
    fds[1] = {shared.door->ready_fd(), POLLIN, 0};
    for (;;) {
        publish(shared, resolver, true);
        const int timeout = milliseconds_until(sooner(next_look, resolver.next_try()));
        if (::poll(fds.data(), fds.size(), timeout) < 0 && errno != EINTR)
            throw std::system_error(errno, std::generic_category(), "poll");
        if (fds[0].revents != 0) return;
        publish(shared, resolver, false);
        if (next_look && SteadyClock::now() >= *next_look) {
            next_look.reset();
            if (look != kSecondLooks.end()) next_look = start + *look++;
            try_to(&Resolver::introduce);
        }
        if (resolver.next_try() && SteadyClock::now() >= *resolver.next_try())
            try_to(&Resolver::try_again);
        // A full ring: there may be more, and some were lost.
        while (try_to(&Resolver::step) == LT_MAX_MISSES) {
            if (::poll(fds.data(), 1, 0) > 0) return;
            if (!next_look) next_look = SteadyClock::now() + kAfterFull;
        }
    }
}

/// Looks for the next module each second; true when there is one, false when
/// asked to stop.
bool ResolverWorker::wait_for_module(Shared& shared) {
    const auto publish = [&](bool waiting) {
        const std::lock_guard lock(shared.lock);
        shared.state.waiting = waiting;
        shared.state.idle = false;
        if (!waiting) ++shared.state.loads;
    };
    publish(true);
    pollfd stop{shared.stop_fd.get(), POLLIN, 0};
    while (!shared.door->reopen())
        if (::poll(&stop, 1, kModuleLookMs) > 0) return false;
    publish(false);
    return true;
}

void ResolverWorker::resolve_modules(Shared& shared) {
    while (!resolve_one_module(shared))
        if (!wait_for_module(shared)) return;
}

void ResolverWorker::work(const std::shared_ptr<Shared>& shared) {
    block_signals();
    hurry();
    {
        const std::lock_guard lock(shared->lock);
        clockid_t clock{};
        if (::pthread_getcpuclockid(::pthread_self(), &clock) == 0) shared->cpu_clock = clock;
    }
    std::string failure;
    try {
        resolve_modules(*shared);
    } catch (const std::exception& error) {
        failure = error.what();
    }
    const std::lock_guard lock(shared->lock);
    shared->stopped = true;
    shared->changed.notify_all();
    shared->state.running = false;
    shared->state.cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID);
    shared->state.failure = std::move(failure);
}

LearningState WorkerLearning::state() const {
    const ResolverWorker::State worker = worker_->state();
    LearningState state;
    state.kind = !worker.running  ? LearningState::Kind::Failed
                 : worker.waiting ? LearningState::Kind::Waits
                                  : LearningState::Kind::Runs;
    state.why = worker.failure;
    state.misses = worker.stats.misses;
    state.rows = worker.stats.rows;
    state.cpu_ns = worker.cpu_ns;
    return state;
}

std::unique_ptr<Learning> start_learning() {
    try {
        return std::make_unique<WorkerLearning>(
            std::make_unique<ResolverWorker>(std::make_unique<ProcResolverDoor>(), limits_here()));
    } catch (const std::exception& error) {
        return std::make_unique<NoLearning>(LearningState::Kind::Refused, error.what());
    }
}

}  // namespace lattop
