// SPDX-License-Identifier: GPL-2.0-or-later
//
// A WorkerNamer whose clock is the test's, and processes that keep its threads until the test lets
// go. For worker_namer_test.cc and worker_namer_alone_test.cc.
#pragma once

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lattop/model/worker_namer.h"
#include "tests/unit/support/catch.h"

namespace lattop::test {

inline NameRequest request_for(std::uint32_t tgid, std::uint64_t trace = 1) {
    NameRequest request;
    request.id = {{LT_KIND_TASK, tgid, tgid, 1000}, 1, trace};
    request.task = {tgid, tgid, 1000, 1};
    return request;
}

/// Finders that some processes keep until the test lets go. Names say which thread's
/// finder found them: "7 by 0".
class KeptFinders {
public:
    KeptFinders() = default;
    KeptFinders(const KeptFinders&) = delete;
    KeptFinders& operator=(const KeptFinders&) = delete;

    /// Waits for threads that were left behind.
    ~KeptFinders() {
        std::unique_lock lock(state_->lock);
        state_->keepers.clear();
        state_->changed.notify_all();
        state_->changed.wait(lock, [&] { return state_->alive == 0; });
    }

    [[nodiscard]] MakeNameTools maker() const {
        return [state = state_]() -> NameTools {
            return {[finder = std::make_shared<Finder>(state)](const NameRequest& request) {
                        return finder->find(request);
                    },
                    [state] { return state->reading_ns.load(); }};
        };
    }

    /// Who reads for a thread has used a CPU for so long.
    void read_for(std::chrono::nanoseconds time) {
        state_->reading_ns += static_cast<std::uint64_t>(time.count());
    }

    void keep(std::uint32_t tgid) {
        const std::lock_guard lock(state_->lock);
        state_->keepers.insert(tgid);
    }

    void let_go(std::uint32_t tgid) {
        const std::lock_guard lock(state_->lock);
        state_->keepers.erase(tgid);
        state_->changed.notify_all();
    }

    /// Until so many threads are kept.
    void wait_for_kept(std::size_t n) {
        std::unique_lock lock(state_->lock);
        state_->changed.wait(lock, [&] { return state_->kept == n; });
    }

private:
    struct State {
        std::mutex lock;
        std::condition_variable changed;
        std::set<std::uint32_t> keepers;
        std::size_t kept = 0;
        std::size_t alive = 0;
        unsigned made = 0;
        std::atomic<std::uint64_t> reading_ns{0};
    };

    class Finder {
    public:
        explicit Finder(std::shared_ptr<State> state) : state_(std::move(state)) {
            const std::lock_guard lock(state_->lock);
            number_ = state_->made++;
            ++state_->alive;
        }
        Finder(const Finder&) = delete;
        Finder& operator=(const Finder&) = delete;
        ~Finder() {
            const std::lock_guard lock(state_->lock);
            --state_->alive;
            state_->changed.notify_all();
        }

        NameAnswer find(const NameRequest& request) {
            const std::uint32_t tgid = request.task.tgid;
            std::unique_lock lock(state_->lock);
            if (state_->keepers.contains(tgid)) {
                ++state_->kept;
                state_->changed.notify_all();
                state_->changed.wait(lock, [&] { return !state_->keepers.contains(tgid); });
                --state_->kept;
            }
            auto frame = std::make_shared<UserFrame>();
            frame->symbol = std::to_string(tgid) + " by " + std::to_string(number_);
            NameAnswer answer;
            answer.id = request.id;
            answer.naming.result = Naming::Result::Named;
            answer.naming.stack.frames.push_back(frame);
            return answer;
        }

    private:
        std::shared_ptr<State> state_;
        unsigned number_ = 0;
    };

    std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// A namer whose time is the test's.
struct Named {
    Named() : namer(finders.maker(), limits()) {}

    NamerLimits limits() {
        NamerLimits limits;
        limits.patience = std::chrono::seconds(10);
        limits.now = [this] { return time.load(); };
        limits.worked = [this](pthread_t) { return worked.load(); };
        limits.payer = [](const TaskRef& task) { return payer_of_hundred(task.tgid); };
        return limits;
    }

    /// So much later, and looked at each second.
    void pass(std::chrono::seconds seconds) {
        for (; seconds > std::chrono::seconds(0); --seconds) {
            time = time.load() + std::chrono::seconds(1);
            namer.look();
        }
    }

    /// So much later, and looked at for the first time since.
    void pause(std::chrono::seconds seconds) {
        time = time.load() + seconds;
        namer.look();
    }

    /// Processes 100 to 199 are of user 1, and so on; those below of root.
    static Payer payer_of_hundred(std::uint32_t tgid) { return tgid / 100; }

    /// Asks, until the process keeps a thread, with which `kept` are.
    void ask_kept(std::uint32_t tgid, std::vector<NameRequest> requests, std::size_t kept = 1) {
        finders.keep(tgid);
        namer.submit(std::move(requests));
        finders.wait_for_kept(kept);
    }

    /// Asks for one whose files are slow, for so long, and whose names come then.
    void ask_slow(std::uint32_t tgid, std::chrono::seconds seconds, std::uint64_t trace = 1) {
        ask_kept(tgid, {request_for(tgid, trace)});
        pass(seconds);
        finders.let_go(tgid);
        CHECK(answers(1) == std::vector{fmt::format("{}/{} {} by 0", tgid, trace, tgid)});
    }

    /// The next `n` answers: "7/2 7 by 0" is that about process 7's trace 2.
    std::vector<std::string> answers(std::size_t n) {
        std::vector<std::string> texts;
        while (texts.size() < n) {
            pollfd ready{namer.ready_fd(), POLLIN, 0};
            REQUIRE(::poll(&ready, 1, 60'000) == 1);
            for (const NameAnswer& answer : namer.take())
                texts.push_back(
                    std::to_string(answer.id.task.pid) + "/" + std::to_string(answer.id.trace_id) +
                    " " + (answer.not_now ? "not now" : answer.naming.stack.frames.at(0)->symbol));
        }
        std::ranges::sort(texts);
        return texts;
    }

    /// Asks for one that a process keeps, and leaves it behind.
    void ask_in_vain(std::uint32_t tgid, std::size_t kept) {
        ask_kept(tgid, {request_for(tgid)}, kept);
        pass(std::chrono::seconds(10));
    }

    std::atomic<WorkerNamer::Time> time{WorkerNamer::Time(std::chrono::hours(1))};
    std::atomic<std::chrono::nanoseconds> worked{};
    KeptFinders finders;
    WorkerNamer namer;
};

}  // namespace lattop::test
