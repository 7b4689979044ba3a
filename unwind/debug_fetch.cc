// SPDX-License-Identifier: GPL-2.0-or-later
//
// See debug_fetch.h. One file at a time: servers are slow, not lattop.
#include "unwind/debug_fetch.h"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "unwind/background_thread.h"

namespace lattop {
namespace {

/// Answers remembered, and files asked for and not yet fetched. What finds no
/// room is asked for again by whoever looks at it next.
constexpr std::size_t kMaxResults = 4096;
constexpr std::size_t kMaxWanted = 256;

}  // namespace

DebugFetch::DebugFetch(Fetcher fetcher)
    : shared_(std::make_shared<Shared>(std::move(fetcher), kMaxResults)) {
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
        return !shared->stop;
    };
    std::unique_lock lock(shared->lock);
    for (;;) {
        shared->changed.wait(lock, [&] { return shared->stop || !shared->wanted.empty(); });
        if (shared->stop) break;
        const std::string build_id = shared->wanted.front().build_id;
        lock.unlock();
        UniqueFd file;
        try {
            file = shared->fetcher(build_id, progress);
        } catch (const std::exception&) {  // costs this file's lines only
        }
        lock.lock();
        const State state = file ? State::Here : State::None;
        shared->results.put(build_id, {state, std::move(file)});
        shared->wanted.pop_front();
        shared->done = shared->all = 0;
    }
    shared->stopped = true;
    shared->changed.notify_all();
}

DebugFetch::State DebugFetch::want(const std::string& build_id, const std::string& label) {
    const std::lock_guard lock(shared_->lock);
    if (const Result* known = shared_->results.find(build_id)) return known->state;
    if (shared_->wanted.size() >= kMaxWanted) return State::Waiting;
    shared_->results.put(build_id, {});
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

std::string DebugFetch::progress() const {
    const std::lock_guard lock(shared_->lock);
    if (shared_->wanted.empty()) return "";
    std::string text = "debuginfod: " + shared_->wanted.front().label;
    constexpr long kPercent = 100;
    if (shared_->all > 0 && shared_->done <= shared_->all)
        text += fmt::format(" {}%", shared_->done * kPercent / shared_->all);
    if (shared_->wanted.size() > 1)
        text += fmt::format(", {} more to fetch", shared_->wanted.size() - 1);
    return text;
}

}  // namespace lattop
