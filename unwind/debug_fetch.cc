// SPDX-License-Identifier: GPL-2.0-or-later
//
// See debug_fetch.h. One file at a time: servers are slow, not lattop.
#include "unwind/debug_fetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "unwind/background_thread.h"

namespace lattop {
namespace {

/// Answers remembered, and files asked for and not yet fetched. What finds no
/// room is asked for again by whoever looks at it next.
constexpr std::size_t kMaxResults = 4096;
constexpr std::size_t kMaxWanted = 256;

/// Who runs a program chooses what is fetched for it. More debug information than kMaxDebugBytes is
/// not read anyway; compressed it is half of that or less, and symbols come with it.
constexpr long kMaxFileBytes = 1L << 30;
/// Of all files in a run of lattop: they stay on the disk for days.
constexpr long kMaxAllBytes = 16L << 30;

constexpr DebugFetch::Clock::duration kLongestRetry = std::chrono::minutes(15);

}  // namespace

DebugFetch::DebugFetch(Fetcher fetcher, Clock::duration retry)
    : shared_(std::make_shared<Shared>(std::move(fetcher), kMaxResults, retry)) {
    thread_ = std::thread([shared = shared_] { work(shared); });
}

DebugFetch::~DebugFetch() {
    std::unique_lock lock(shared_->lock);
    shared_->stop = true;
    shared_->changed.notify_all();
    join_or_leave(thread_, lock, shared_->changed, shared_->stopped);
}

void DebugFetch::work(const std::shared_ptr<Shared>& shared) {
    block_signals();
    const FetchProgress progress = [&](long done, long bytes) {
        const std::lock_guard lock(shared->lock);
        shared->done = done;
        shared->all = bytes;
        const long known = std::max(done, bytes);
        shared->too_large = known > kMaxFileBytes || known > kMaxAllBytes - shared->all_bytes;
        return !shared->stop && !shared->too_large;
    };
    std::unique_lock lock(shared->lock);
    for (;;) {
        shared->changed.wait(lock, [&] { return shared->stop || !shared->wanted.empty(); });
        if (shared->stop) break;
        const std::string build_id = shared->wanted.front().build_id;
        lock.unlock();
        Fetched fetched;
        try {
            fetched = shared->fetcher(build_id, progress);
        } catch (const std::exception&) {  // no memory: costs this file's lines only
            fetched = {.error = ENOMEM};
        }
        lock.lock();
        shared->all_bytes += shared->done;
        // That it was given up is no error that goes away.
        if (shared->too_large && !fetched.file) fetched.error = 0;
        shared->finish(std::move(fetched));
    }
    shared->stopped = true;
    shared->changed.notify_all();
}

/// Puts down what came of the first one wanted.
void DebugFetch::Shared::finish(Fetched fetched) {
    const Wanted& asked = wanted.front();
    Result result;
    if (const Result* before = results.find(asked.build_id)) result.wait = before->wait;
    if (failure.build_id == asked.build_id) failure = {};
    if (fetched.file) {
        result.state = State::Here;
        result.file = std::move(fetched.file);
    } else if (fetched.error == 0) {
        result.state = State::None;
    } else {
        result.state = State::Failed;
        result.wait = std::clamp(result.wait * 2, retry, std::max(retry, kLongestRetry));
        result.retry_at = Clock::now() + result.wait;
        // Asked for again, it is being fetched a moment after retry_at.
        failure = {
            asked.build_id,
            asked.label + ": " + (fetched.why.empty() ? std::strerror(fetched.error) : fetched.why),
            result.retry_at + result.wait};
    }
    results.put(asked.build_id, std::move(result));
    wanted.pop_front();
    done = all = 0;
    too_large = false;
}

DebugFetch::State DebugFetch::want(const std::string& build_id, const std::string& label) {
    const std::lock_guard lock(shared_->lock);
    Result again;
    if (const Result* known = shared_->results.find(build_id)) {
        if (known->state != State::Failed || Clock::now() < known->retry_at) return known->state;
        again.wait = known->wait;
    }
    if (shared_->wanted.size() >= kMaxWanted) return State::Waiting;
    shared_->results.put(build_id, std::move(again));
    shared_->wanted.push_back({build_id, label});
    shared_->changed.notify_all();
    return State::Waiting;
}

UniqueFd DebugFetch::take(const std::string& build_id) {
    const std::lock_guard lock(shared_->lock);
    Result* known = shared_->results.find(build_id);
    if (known == nullptr || known->state != State::Here) return {};
    UniqueFd file = std::move(known->file);
    shared_->results.erase(build_id);
    return file;
}

std::optional<DebugFetch::Clock::time_point> DebugFetch::retry_at(
    const std::string& build_id) const {
    const std::lock_guard lock(shared_->lock);
    const Result* known = shared_->results.peek(build_id);
    if (known == nullptr || known->state != State::Failed) return std::nullopt;
    return known->retry_at;
}

std::string DebugFetch::progress() const {
    const std::lock_guard lock(shared_->lock);
    const bool failed = Clock::now() < shared_->failure.until;
    const std::string failure = failed ? shared_->failure.text : "";
    if (shared_->wanted.empty()) return failed ? "debuginfod: " + failure : "";
    std::string text = "debuginfod: " + shared_->wanted.front().label;
    constexpr long kPercent = 100;
    if (shared_->all > 0 && shared_->done <= shared_->all)
        text += fmt::format(" {}%", shared_->done * kPercent / shared_->all);
    if (shared_->wanted.size() > 1)
        text += fmt::format(", {} more to fetch", shared_->wanted.size() - 1);
    return failed ? text + "; " + failure : text;
}

}  // namespace lattop
