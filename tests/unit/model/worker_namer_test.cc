// SPDX-License-Identifier: GPL-2.0-or-later
//
// No test waits for a time: the clock is the test's but in one, which waits for what must come.
#include "lattop/model/worker_namer.h"

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
#include <vector>

#include "tests/unit/support/catch.h"

namespace lattop::test {
namespace {

using namespace std::chrono_literals;

NameRequest request_for(std::uint32_t tgid, std::uint64_t trace = 1) {
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
        limits.patience = 10s;
        limits.now = [this] { return time.load(); };
        limits.worked = [this](pthread_t) { return worked.load(); };
        limits.payer = [](const TaskRef& task) { return payer_of_hundred(task.tgid); };
        return limits;
    }

    /// So much later, and looked at.
    void pass(std::chrono::seconds seconds) {
        time = time.load() + seconds;
        namer.look();
    }

    /// Processes 100 to 199 are of user 1, and so on; those below of root.
    static Payer payer_of_hundred(std::uint32_t tgid) { return tgid / 100; }

    /// Asks for one whose files are slow, for so long, and whose names come then.
    void ask_slow(std::uint32_t tgid, std::chrono::seconds seconds, std::uint64_t trace = 1) {
        finders.keep(tgid);
        namer.submit({request_for(tgid, trace)});
        finders.wait_for_kept(1);
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
        finders.keep(tgid);
        namer.submit({request_for(tgid)});
        finders.wait_for_kept(kept);
        pass(10s);
    }

    std::atomic<WorkerNamer::Time> time{WorkerNamer::Time(1h)};
    std::atomic<std::chrono::nanoseconds> worked{0ns};
    KeptFinders finders;
    WorkerNamer namer;
};

using Texts = std::vector<std::string>;
using Pids = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("a process that does not answer holds up the names of no other") {
    Named it;
    it.finders.keep(7);
    it.namer.submit({request_for(7, 1), request_for(7, 2), request_for(8)});
    it.finders.wait_for_kept(1);
    it.pass(9s);
    CHECK(it.namer.silent().empty());
    CHECK(it.namer.progress().empty());
    it.pass(1s);
    CHECK(it.namer.silent() == Pids{7});
    CHECK(it.namer.progress() == "names: 1 process does not answer (7)");
    CHECK(it.answers(2) == Texts{"7/2 not now", "8/1 8 by 1"});

    it.namer.submit({request_for(7, 3), request_for(8, 2)});
    CHECK(it.answers(2) == Texts{"7/3 not now", "8/2 8 by 1"});

    // Its thread gets through: what it was at is answered, and it goes on with that process.
    it.finders.let_go(7);
    CHECK(it.answers(1) == Texts{"7/1 7 by 0"});
    CHECK(it.namer.silent().empty());
    CHECK(it.namer.progress().empty());
    it.namer.submit({request_for(7, 2), request_for(8, 3)});
    CHECK(it.answers(2) == Texts{"7/2 7 by 0", "8/3 8 by 1"});
}

TEST_CASE("a process that takes a thread much work is no silent one, until the work is done") {
    Named it;
    it.finders.keep(7);
    it.namer.submit({request_for(7, 1), request_for(8)});
    it.finders.wait_for_kept(1);
    it.worked = 5s;
    it.pass(10s);
    it.pass(9s);
    CHECK(it.namer.silent().empty());
    it.worked = 6s;
    it.pass(1s);
    CHECK(it.namer.silent() == Pids{7});
    CHECK(it.answers(1) == Texts{"8/1 8 by 1"});
    it.finders.let_go(7);
    CHECK(it.answers(1) == Texts{"7/1 7 by 0"});
}

TEST_CASE("a process whose files are work for who reads them is no silent one either") {
    Named it;
    it.finders.keep(7);
    it.namer.submit({request_for(7, 1), request_for(8)});
    it.finders.wait_for_kept(1);
    it.finders.read_for(3s);
    it.pass(10s);
    CHECK(it.namer.silent().empty());
    it.finders.read_for(1s);
    it.worked = 1s;
    it.pass(10s);
    CHECK(it.namer.silent().empty());
    it.finders.read_for(1s);
    it.pass(10s);
    CHECK(it.namer.silent() == Pids{7});
    CHECK(it.answers(1) == Texts{"8/1 8 by 1"});
    it.finders.let_go(7);
    CHECK(it.answers(1) == Texts{"7/1 7 by 0"});
}

TEST_CASE("a process that is work for ever is left behind as well") {
    Named it;
    it.finders.keep(7);
    it.namer.submit({request_for(7, 1), request_for(8)});
    it.finders.wait_for_kept(1);
    for (int i = 0; i < 5; ++i) {
        it.worked = it.worked.load() + 10s;
        it.pass(10s);
    }
    CHECK(it.namer.silent().empty());
    it.worked = it.worked.load() + 10s;
    it.pass(10s);
    CHECK(it.namer.silent() == Pids{7});
    CHECK(it.answers(1) == Texts{"8/1 8 by 1"});
    it.finders.let_go(7);
    CHECK(it.answers(1) == Texts{"7/1 7 by 0"});
}

TEST_CASE("a thread's CPU time goes by while it works, and not while it waits") {
    const auto time = [] { return thread_cpu_time(::pthread_self()); };
    const auto before = time();
    while (time() < before + 5ms) {
    }
    const auto after = time();
    std::this_thread::sleep_for(20ms);
    CHECK(time() < after + 20ms);
}

TEST_CASE(
    "a process that was slow is given twice the time the next time, and nobody waits for it") {
    Named it;
    it.finders.keep(7);
    it.namer.submit({request_for(7)});
    it.finders.wait_for_kept(1);
    it.pass(30s);
    it.finders.let_go(7);
    CHECK(it.answers(1) == Texts{"7/1 7 by 0"});

    it.finders.keep(7);
    it.namer.submit({request_for(7, 2), request_for(7, 3), request_for(8)});
    CHECK(it.answers(1) == Texts{"8/1 8 by 1"});
    it.finders.wait_for_kept(1);
    it.pass(59s);
    CHECK(it.namer.silent().empty());
    it.pass(1s);
    CHECK(it.namer.silent() == Pids{7});
    CHECK(it.answers(1) == Texts{"7/3 not now"});
    it.finders.let_go(7);
    CHECK(it.answers(1) == Texts{"7/2 7 by 0"});
}

TEST_CASE("a process that was slow for long is given a minute the next time, and not more") {
    Named it;
    it.finders.keep(7);
    it.namer.submit({request_for(7)});
    it.finders.wait_for_kept(1);
    it.pass(3600s);
    it.finders.let_go(7);
    CHECK(it.answers(1) == Texts{"7/1 7 by 0"});

    it.finders.keep(7);
    it.namer.submit({request_for(7, 2)});
    it.finders.wait_for_kept(1);
    it.pass(59s);
    CHECK(it.namer.silent().empty());
    it.pass(1s);
    CHECK(it.namer.silent() == Pids{7});
    it.finders.let_go(7);
    CHECK(it.answers(1) == Texts{"7/2 7 by 0"});
}

TEST_CASE("a user's program that is slow at one stack after the other is put off for a while") {
    Named it;
    it.ask_slow(107, 3s, 1);
    it.ask_slow(107, 3s, 2);
    it.namer.submit({request_for(107, 3), request_for(108)});
    CHECK(it.answers(2) == Texts{"107/3 not now", "108/1 108 by 0"});
    SECTION("but not its stack as it is now, which somebody looks at") {
        NameRequest live = request_for(107, 4);
        live.live = true;
        it.namer.submit({live});
        CHECK(it.answers(1) == Texts{"107/4 107 by 0"});
    }
    SECTION("till what it took beyond five seconds is a tenth of the time since") {
        it.pass(6s);
        it.namer.submit({request_for(107, 3)});
        CHECK(it.answers(1) == Texts{"107/3 not now"});
        it.pass(1s);
        it.namer.submit({request_for(107, 3)});
        CHECK(it.answers(1) == Texts{"107/3 107 by 0"});
    }
}

TEST_CASE("a user whose programs are slow one after the other is put off, and nobody else") {
    Named it;
    for (std::uint32_t i = 0; i < 3; ++i)
        it.ask_slow(100 + i, 9s);
    it.namer.submit({request_for(150), request_for(200), request_for(50)});
    CHECK(it.answers(3) == Texts{"150/1 not now", "200/1 200 by 0", "50/1 50 by 0"});
    CHECK(it.namer.silent().empty());
}

TEST_CASE("root's processes are looked at however slow they are") {
    Named it;
    for (std::uint32_t i = 0; i < 5; ++i)
        it.ask_slow(1, 9s, i + 1);
}

TEST_CASE("a user's work has half of a thread's time, beyond the first minutes") {
    Named it;
    for (std::uint64_t trace = 1; trace <= 2; ++trace) {
        it.finders.keep(107);
        it.namer.submit({request_for(107, trace)});
        it.finders.wait_for_kept(1);
        for (int i = 0; i < 2; ++i) {
            it.worked = it.worked.load() + 10s;
            it.pass(10s);
        }
        it.finders.let_go(107);
        CHECK(it.answers(1) == Texts{fmt::format("107/{} 107 by 0", trace)});
    }
    it.namer.submit({request_for(107, 3)});
    CHECK(it.answers(1) == Texts{"107/3 not now"});
    CHECK(it.namer.silent().empty());
    CHECK(it.namer.put_off() == Pids{107});
    CHECK(it.namer.progress() == "names: 1 process of users with slow ones put off (107)");
    it.pass(60s);
    CHECK(it.namer.put_off().empty());
    CHECK(it.namer.progress().empty());
    it.namer.submit({request_for(107, 3)});
    CHECK(it.answers(1) == Texts{"107/3 107 by 0"});
}

TEST_CASE("all that a look took counts, also beyond the patience") {
    Named it;
    it.ask_in_vain(107, 1);
    it.finders.let_go(107);
    CHECK(it.answers(1) == Texts{"107/1 107 by 0"});
    it.time = it.time.load() + 1h;
    // Slow on a thread of its own, where it has twice the time
    it.finders.keep(107);
    it.namer.submit({request_for(107, 2)});
    it.finders.wait_for_kept(1);
    it.pass(19s);
    it.finders.let_go(107);
    CHECK(it.answers(1) == Texts{"107/2 107 by 0"});
    it.pass(100s);
    it.namer.submit({request_for(107, 3)});
    CHECK(it.answers(1) == Texts{"107/3 not now"});
}

TEST_CASE("a user's threads that are at work at once are half of all as well") {
    Named it;
    for (std::uint32_t i = 0; i < 9; ++i) {
        it.ask_in_vain(100 + i, 1);
        it.finders.let_go(100 + i);
        it.answers(1);
        it.time = it.time.load() + 1h;
    }
    std::vector<NameRequest> requests;
    for (std::uint32_t i = 0; i < 9; ++i) {
        it.finders.keep(100 + i);
        requests.push_back(request_for(100 + i));
    }
    it.namer.submit(requests);
    CHECK(it.answers(1).at(0).ends_with("not now"));
    it.finders.wait_for_kept(8);
}

TEST_CASE("half of the threads that are left behind are one user's at most") {
    Named it;
    for (std::uint32_t i = 0; i < 8; ++i) {
        // What he kept them for is forgotten, but not that he still does.
        it.ask_in_vain(100 + i, i + 1);
        it.time = it.time.load() + 1h;
    }
    it.namer.submit({request_for(150), request_for(200)});
    CHECK(it.answers(2) == Texts{"150/1 not now", "200/1 200 by 8"});
}

TEST_CASE("a thread of a process's own is for the program that it ran") {
    Named it;
    it.ask_in_vain(7, 1);
    it.finders.let_go(7);
    CHECK(it.answers(1) == Texts{"7/1 7 by 0"});
    NameRequest next = request_for(7);
    next.task.exec_id = next.id.exec_id = 2;
    it.namer.submit({next});
    CHECK(it.answers(1) == Texts{"7/1 7 by 1"});
}

TEST_CASE("a live stack and a command line of who does not answer are not there now") {
    Named it;
    it.ask_in_vain(7, 1);
    NameRequest live = request_for(7);
    live.live = true;
    live.sleeps = 5;
    NameRequest line = request_for(7);
    line.command_line = true;
    it.namer.submit({live, line});
    const std::vector<NameAnswer> answers = it.namer.take();
    REQUIRE(answers.size() == 2);
    REQUIRE(answers[0].live);
    CHECK(answers[0].not_now);
    CHECK(answers[0].live->end == "its memory or files do not answer");
    CHECK(answers[0].live->sleeps == 5);
    CHECK(answers[1].not_now);
    CHECK(answers[1].command_line);
}

TEST_CASE(
    "with 16 threads left behind the next one is waited for, and nothing is found meanwhile") {
    Named it;
    for (std::uint32_t i = 1; i <= 16; ++i)
        it.ask_in_vain(i, i);
    CHECK(it.namer.silent().size() == 16);
    it.namer.submit({request_for(90)});
    CHECK(it.answers(1) == Texts{"90/1 90 by 16"});

    it.finders.keep(17);
    it.namer.submit({request_for(17), request_for(90, 2)});
    it.finders.wait_for_kept(17);
    it.pass(10s);
    CHECK(it.namer.silent().size() == 17);
    CHECK(it.namer.progress() == "no names: 17 processes do not answer (1, 2, 3, ...)");
    it.namer.submit({request_for(90, 3)});
    CHECK(it.answers(2) == Texts{"90/2 not now", "90/3 not now"});

    SECTION("until it gets through") {
        it.finders.let_go(17);
        CHECK(it.answers(1) == Texts{"17/1 17 by 16"});
        it.namer.submit({request_for(90)});
        CHECK(it.answers(1) == Texts{"90/1 90 by 16"});
    }
    SECTION("or another one gives way") {
        it.finders.let_go(3);
        CHECK(it.answers(1) == Texts{"3/1 3 by 2"});
        it.pass(1s);
        it.namer.submit({request_for(90)});
        CHECK(it.answers(1) == Texts{"90/1 90 by 17"});
        CHECK(it.namer.progress() == "names: 16 processes do not answer (1, 2, 4, ...)");
    }
}

TEST_CASE("a namer ends whose threads are kept, and they do when they get through") {
    Named it;
    it.ask_in_vain(7, 1);
    it.finders.keep(8);
    it.namer.submit({request_for(8)});
    it.finders.wait_for_kept(2);
    it.namer.submit(std::vector<NameRequest>(100, request_for(9)));
}

TEST_CASE("the watcher sees by itself that a process does not answer") {
    KeptFinders finders;
    finders.keep(7);
    NamerLimits limits;
    limits.patience = 20ms;
    WorkerNamer namer(finders.maker(), limits);
    namer.submit({request_for(7), request_for(8)});
    // Where the machine is slow, 8 may be taken for silent for a moment as well.
    for (bool named = false; !named;) {
        pollfd ready{namer.ready_fd(), POLLIN, 0};
        REQUIRE(::poll(&ready, 1, 60'000) == 1);
        for (const NameAnswer& answer : namer.take()) {
            CHECK(answer.id.task.pid == 8);
            named = !answer.not_now;
            if (!named) namer.submit({request_for(8)});
        }
    }
    const Pids silent = namer.silent();
    CHECK(std::ranges::find(silent, 7U) != silent.end());
}

}  // namespace lattop::test
