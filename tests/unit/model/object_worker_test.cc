// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/model/object_worker.h"

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "lattop/source/error.h"

#include "tests/unit/support/catch.h"
#include "tests/unit/support/snapshot_builder.h"

namespace lattop::test {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kLong = 60s;  // for what comes at once

Snapshot asleep_since(std::uint64_t time_ns, const std::map<std::uint32_t, std::uint64_t>& begins) {
    SnapshotBuilder builder;
    builder.header.time_ns = time_ns;
    for (const auto& [pid, begin_ns] : begins)
        builder.add_task({.pid = pid, .ongoing_ns = time_ns - begin_ns});
    return builder.snapshot();
}

/// A machine of which some processes do not answer. Threads that are left behind hold it.
struct SilentMachine {
    void answer() {
        const std::lock_guard held(lock);
        silent.clear();
        changed.notify_all();
    }
    void wait_for(std::uint32_t pid) {
        std::unique_lock held(lock);
        changed.wait(held, [&] { return asked.contains(pid); });
    }
    void advance(std::chrono::milliseconds by) {
        const std::lock_guard held(lock);
        now += by;
    }
    std::string object(const Task& task) {
        std::unique_lock held(lock);
        asked.insert(task.pid);
        changed.notify_all();
        changed.wait(held, [&] { return !silent.contains(task.pid); });
        return "fd 3: /tmp/" + std::to_string(task.pid);
    }
    Snapshot look_again(const std::vector<std::uint32_t>& pids) {
        const std::lock_guard held(lock);
        looked.push_back(pids);
        return asleep_since(after_ns, after);
    }
    std::chrono::steady_clock::time_point time() {
        const std::lock_guard held(lock);
        return now;
    }

    std::mutex lock;
    std::condition_variable changed;
    std::set<std::uint32_t> asked, silent;
    std::vector<std::vector<std::uint32_t>> looked;
    std::uint64_t after_ns = 20 * kSecond;
    std::map<std::uint32_t, std::uint64_t> after;  // begins of sleeps, when it is looked again
    std::chrono::steady_clock::time_point now{};
};

/// For a test: what hangs at its end answers. Processes 100 to 199 are of user 1.
struct SilentRun {
    explicit SilentRun(std::size_t most_threads = 1) : threads(most_threads) {}
    ~SilentRun() { machine->answer(); }

    const std::size_t threads;

    std::shared_ptr<SilentMachine> machine = std::make_shared<SilentMachine>();
    ObjectWorker worker{
        [of = machine] { return [of](const Task& task) { return of->object(task); }; },
        [of = machine](const std::vector<std::uint32_t>& pids) { return of->look_again(pids); },
        {.patience = 5s,
         .threads = threads,
         .payer = [](const TaskRef& task) { return Payer{task.tgid / 100}; },
         .now = [of = machine] { return of->time(); }}};

    /// Asks for one, which is silent for so long, and looks who is to be left behind.
    void ask_in_vain(std::uint32_t pid, std::chrono::milliseconds time) {
        {
            const std::lock_guard held(machine->lock);
            machine->silent.insert(pid);
        }
        worker.want(asleep_since(10 * kSecond, {{pid, kSecond}}));
        machine->wait_for(pid);
        machine->advance(time);
    }

    /// The same, and then it answers.
    void ask_slow(std::uint32_t pid, std::chrono::milliseconds time) {
        ask_in_vain(pid, time);
        machine->answer();
        worker.wait(kLong);
    }

    /// Whether it is asked.
    bool asks(std::uint32_t pid) {
        {
            const std::lock_guard held(machine->lock);
            machine->asked.clear();
        }
        worker.want(asleep_since(++snapshots * 10 * kSecond, {{pid, kSecond}}));
        worker.wait(kLong);
        return machine->asked.contains(pid);
    }

    std::uint64_t snapshots = 1;  // ten seconds apart
};

}  // namespace

TEST_CASE("what is found is of the sleeps that the snapshot shows: those that go on behind it") {
    SilentRun run;
    SilentMachine& machine = *run.machine;
    ObjectWorker& worker = run.worker;
    machine.after = {{1, kSecond}, {2, 11 * kSecond}};  // 2 sleeps anew, 3 is awake
    CHECK(worker.take().empty());
    CHECK(worker.wait(kLong).empty());
    worker.want(asleep_since(10 * kSecond, {{1, kSecond}, {2, kSecond}, {3, kSecond}}));
    const auto found = worker.wait(kLong);
    REQUIRE(found.size() == 1);
    CHECK(found[0].time_ns == 10 * kSecond);
    REQUIRE(found[0].objects.size() == 1);
    CHECK(found[0].objects[0].sleep == SleepId{{LT_KIND_TASK, 1, 1, 1000}, kSecond});
    CHECK(found[0].objects[0].text == "fd 3: /tmp/1");
    CHECK(worker.take().empty());
    CHECK(machine.looked == std::vector<std::vector<std::uint32_t>>{{1, 2, 3}});
}

TEST_CASE("of more tasks than a query may name it is looked at all") {
    std::vector<std::vector<std::uint32_t>> looked;
    std::map<std::uint32_t, std::uint64_t> sleepers;
    for (std::uint32_t pid = 1; pid <= LT_MAX_PIDS + 1; ++pid)
        sleepers[pid] = kSecond;
    ObjectWorker worker([] { return [](const Task&) { return std::string("fd 3: /tmp/a"); }; },
                        [&](const std::vector<std::uint32_t>& pids) {
                            looked.push_back(pids);
                            return asleep_since(20 * kSecond, sleepers);
                        },
                        {}, ObjectChoice::all());
    worker.want(asleep_since(10 * kSecond, sleepers));
    CHECK(worker.wait(kLong).at(0).objects.size() == LT_MAX_PIDS + 1);
    CHECK(looked == std::vector<std::vector<std::uint32_t>>{{}});
}

TEST_CASE("where nobody says whether sleeps go on nothing is known of them") {
    ObjectWorker worker([] { return [](const Task&) { return std::string("fd 3: /tmp/a"); }; },
                        [](const auto&) -> Snapshot { throw NoModuleError("unloaded", ""); }, {});
    worker.want(asleep_since(10 * kSecond, {{1, kSecond}}));
    CHECK(worker.wait(kLong).empty());
}

TEST_CASE("a process that does not answer keeps a thread, nobody else") {
    SilentRun run;
    SilentMachine& machine = *run.machine;
    ObjectWorker& worker = run.worker;
    machine.after = {{1, kSecond}, {2, kSecond}};
    machine.silent = {1};
    worker.want(asleep_since(10 * kSecond, {{1, kSecond}}));
    machine.wait_for(1);
    // Not left behind at once
    worker.want(asleep_since(11 * kSecond, {{2, kSecond}}));
    CHECK(worker.wait(0ms).empty());
    machine.advance(6s);
    worker.want(asleep_since(12 * kSecond, {{1, kSecond}, {2, kSecond}}));
    const auto found = worker.wait(kLong);
    REQUIRE(found.size() == 1);
    REQUIRE(found[0].objects.size() == 1);
    CHECK(found[0].objects[0].sleep.task.pid == 2);

    // It answers, and is asked again; what was found too late is not given.
    machine.answer();
    for (std::uint64_t t = 30; worker.take().empty(); ++t) {
        machine.advance(1s);
        REQUIRE(t < 100'000);
        worker.want(asleep_since(t * kSecond, {{1, kSecond}}));
        if (const auto again = worker.wait(kLong); !again.empty()) {
            CHECK(again[0].time_ns == t * kSecond);
            CHECK(again[0].objects.at(0).sleep.task.pid == 1);
            return;
        }
    }
}

TEST_CASE("when as many processes as may keep a thread each do, the next one is waited for") {
    SilentRun run;
    SilentMachine& machine = *run.machine;
    ObjectWorker& worker = run.worker;
    machine.silent = {1, 2};
    machine.after = {{1, kSecond}, {2, kSecond}, {3, kSecond}};
    worker.want(asleep_since(10 * kSecond, {{1, kSecond}}));
    machine.wait_for(1);
    machine.advance(6s);
    worker.want(asleep_since(11 * kSecond, {{2, kSecond}}));
    machine.wait_for(2);
    machine.advance(6s);
    worker.want(asleep_since(12 * kSecond, {{3, kSecond}}));
    CHECK(worker.wait(0ms).empty());
    CHECK(!machine.asked.contains(3));
}

TEST_CASE("a user's silent programs keep half of the threads, and others are still asked") {
    SilentRun run(4);
    run.ask_in_vain(101, 6s);
    run.worker.want(asleep_since(10 * kSecond, {}));
    run.machine->advance(1h);  // what they took is made up for, but they still keep threads
    run.ask_in_vain(102, 6s);
    CHECK(!run.asks(103));
    CHECK(run.asks(2));
    CHECK(run.asks(201));
}

TEST_CASE("a user whose programs are slow one after the other is not asked for a while") {
    SilentRun run;
    for (std::uint32_t pid = 101; pid < 104; ++pid)
        run.ask_slow(pid, 4s);
    CHECK(!run.asks(104));
    CHECK(run.asks(2));
    run.machine->advance(10s);
    CHECK(run.asks(104));
}

TEST_CASE("root's programs are asked however slow they are") {
    SilentRun run;
    for (std::uint32_t pid = 1; pid < 6; ++pid)
        run.ask_slow(pid, 4s);
    CHECK(run.asks(6));
}

}  // namespace lattop::test
