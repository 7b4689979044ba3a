// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/live.h"

#include <fstream>

#include "lattop/source/select.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"
#include "tests/unit/support/fake_world.h"
#include "tests/unit/support/sample.h"

namespace lattop::test {
namespace {

using Kind = Event::Kind;
using namespace std::chrono_literals;

Event press(char32_t c) {
    return {Kind::Key, {KeyCode::Character, c}};
}
Event press(KeyCode code) {
    return {Kind::Key, {code, 0}};
}
const Event kTimeout{Kind::Timeout, {}};

struct LiveRun : FakeWorld {
    explicit LiveRun(std::deque<Event> script) : terminal(clock, std::move(script)) {}

    void go(const Options& options = {}) { run_live(options, world(), terminal); }

    FakeTerminal terminal;
};

/// Ten snapshots.
class FakeRecording final : public Source {
public:
    Snapshot take(const Query& query, Moment moment) override {
        if (moment == Moment::Next) ++next_;
        Snapshot snapshot = sample_machine(10 + 2 * next_).snapshot();
        apply_query(snapshot, query);
        return snapshot;
    }
    void reset() override {}
    [[nodiscard]] bool live() const override { return false; }
    [[nodiscard]] bool more() const override { return next_ < size(); }
    int travel(std::int64_t /*snapshots*/) override {
        const bool first = next_ < 2;
        next_ -= first ? next_ : 2;
        return first ? 1 : 2;
    }
    [[nodiscard]] std::size_t size() const override { return 10; }

private:
    std::uint64_t next_ = 0;
};

}  // namespace

TEST_CASE("the live screen refreshes when it is time, and not before") {
    LiveRun run({press(U'j'), press(U'j'), kTimeout, kTimeout});
    run.go();
    CHECK(run.source.taken == 3);
    CHECK(run.clock.slept == std::vector{2000ms, 2000ms});
    CHECK_THAT(run.terminal.screens.at(0), has_text("10.0s since load"));
    CHECK_THAT(run.terminal.screens.at(2), has_text("10.0s since load"));
    CHECK_THAT(run.terminal.screens.at(3), has_text("12.0s since load"));
}

TEST_CASE("q ends it without another refresh") {
    LiveRun run({press(U'q'), kTimeout});
    run.go();
    CHECK(run.source.taken == 1);
    CHECK(run.terminal.screens.size() == 1);
}

TEST_CASE("names of users are shown, and order the rows, as soon as they come") {
    LiveRun run({{Kind::Ready, {}}});
    LateUsers users;
    users.comes_at = 2;  // not with the refresh, behind it
    run.terminal.window = {120, 30};
    Options options;
    options.sort = Column::User;
    World world{run.source, run.stacks, users, run.cgroups, run.clock, run.learning, run.reasons};
    run_live(options, world, run.terminal);
    CHECK(run.source.taken == 1);
    CHECK_THAT(run.terminal.screens.at(0), has_text(" 1202 112 "));
    CHECK_THAT(run.terminal.screens.at(1), has_text(" 1202 user-112 "));
    CHECK(users.waited.empty());
}

TEST_CASE("a paused screen waits for keys only") {
    LiveRun run({press(U'Z'), kTimeout, press(U'j'), press(U'Z')});
    run.go();
    CHECK(!run.terminal.deadlines.at(1));
    CHECK(!run.terminal.deadlines.at(2));
    CHECK(run.source.taken == 2);
    CHECK(run.terminal.deadlines.back());
}

TEST_CASE("opening the pane asks for one task's stacks at once, then with each refresh") {
    LiveRun run({press(U'N'), press(KeyCode::End), press(KeyCode::Enter), kTimeout});
    run.go();
    // N refreshes too: its order is another one for the module.
    REQUIRE(run.source.queries.size() == 5);
    CHECK(run.source.queries[1].sort == LT_SORT_PID);
    CHECK(run.source.queries[2].pids == std::vector<std::uint32_t>{2050});
    CHECK(run.source.queries[2].traces == LT_TRACES_ALL);
    CHECK(run.source.queries[4].pids == std::vector<std::uint32_t>{2050});
    CHECK(run.stacks.wanted == 3);
    CHECK(run.stacks.more_wanted == 2);  // beside the table's, which stay
    CHECK_THAT(run.terminal.screens.back(), has_text("2050 brief (process 2049)"));
}

TEST_CASE("an incomplete stack of a task that sleeps is shown as it is now") {
    // 1200, its ongoing sleep in a trace walked by frame pointer.
    LiveRun run({press(U'N'), press(KeyCode::Home), press(U'j'), press(U'j'), press(U'j'),
                 press(KeyCode::Enter), kTimeout});
    run.stacks.live_pid = 1200;
    run.stacks.live.emplace();
    run.terminal.window = {100, 40};
    SECTION("named, in place of what was recorded") {
        run.stacks.live->addresses = {0x7f1000086f16, 0x55d000012345};
        for (const char* name : {"pthread_cond_wait", "db::really_here"}) {
            auto frame = std::make_shared<UserFrame>();
            frame->symbol = name;
            frame->module = "dbserver";
            run.stacks.live->stack.frames.push_back(frame);
        }
        run.go();
        CHECK_THAT(run.terminal.screens.back(), has_text("now    pthread_cond_wait+0x0"));
        CHECK_THAT(run.terminal.screens.back(), has_text("db::really_here"));
        CHECK_THAT(run.terminal.screens.back(), has_text("shown as it is now, whole"));
        CHECK_THAT(run.terminal.screens.back(), !has_text("db::worker_main"));
    }
    SECTION("not where it sleeps in another place by now") {
        run.stacks.live->addresses = {0x1234};
        run.go();
        CHECK_THAT(run.terminal.screens.back(), has_text("db::worker_main"));
        CHECK_THAT(run.terminal.screens.back(), !has_text("as it is now"));
    }
    SECTION("why not, where it cannot be read") {
        run.stacks.live->end = "its memory may not be read by this user";
        run.go();
        CHECK_THAT(run.terminal.screens.back(), has_text("db::worker_main"));
        CHECK_THAT(run.terminal.screens.back(), has_text("not seen as it is now: its memory"));
    }
    CHECK(run.stacks.live_wanted == std::vector<std::uint32_t>{1200, 1200});
}

TEST_CASE("what a task waits for is shown for the sleep that was looked at") {
    LiveRun run({press(U'N'), press(KeyCode::Home), press(U'j'), press(U'j'), press(U'j'),
                 press(KeyCode::Enter), kTimeout});
    run.terminal.window = {100, 40};
    run.stacks.live_pid = 1200;
    run.stacks.live.emplace();
    run.stacks.live->addresses = {0x7f1000086f16};
    run.stacks.live->object = "fd 9: /var/lib/db";
    run.stacks.live->sleeps = std::uint64_t{129} * 12 + 2;  // as in the second snapshot
    run.go();
    const auto& screens = run.terminal.screens;
    CHECK_THAT(screens.at(screens.size() - 2), has_text("waits for fd 9: /var/lib/db"));
    CHECK_THAT(screens.back(), has_text("waits for ..."));
    CHECK_THAT(screens.back(), !has_text("/var/lib/db"));
}

TEST_CASE("of a process the thread blocked longest in the open stack is looked at, at once") {
    LiveRun run({press(U'2'), press(KeyCode::Enter), press(KeyCode::Enter), press(KeyCode::Down),
                 press(KeyCode::Up), kTimeout});
    run.go();
    CHECK_THAT(run.terminal.screens.back(), has_text("longest now 1202 db-worker/2 (process"));
    // When the pane is opened, at its second stack, at the first again, and with new figures
    CHECK(run.stacks.live_wanted == std::vector<std::uint32_t>{1202, 1201, 1202, 1202});
}

TEST_CASE("a task that is awake, or whose stacks are whole, is not looked at") {
    // 12 and 45 sleep in the kernel; 877 is awake; the last one has exited.
    LiveRun run({press(U'N'), press(KeyCode::Home), press(KeyCode::Enter), press(U'j'), press(U'j'),
                 press(KeyCode::End)});
    run.go();
    CHECK(run.stacks.live_wanted.empty());
}

TEST_CASE("a reset that is refused says why") {
    LiveRun run({press(U'r'), press(U'y')});
    run.source.may_reset = false;
    run.go();
    CHECK_THAT(run.terminal.screens.back(),
               has_text("cannot reset: no: only an administrator may"));
}

TEST_CASE("a reset that is done says so") {
    LiveRun run({press(U'r'), press(U'y')});
    run.go();
    CHECK(run.source.resets == 1);
    CHECK_THAT(run.terminal.screens.back(), has_text("all figures are reset"));
}

TEST_CASE("a resize and Ctrl-L draw everything anew") {
    LiveRun run({{Kind::Resize, {}}, press(U'\x0c')});
    run.go();
    CHECK(run.terminal.redraws == 2);
    CHECK(run.source.taken == 2);
}

TEST_CASE("options set the stage") {
    LiveRun run({});
    Options options;
    options.sort = Column::Max;
    options.selection.hide_kernel_threads = true;
    options.selection.pids = {1200};
    options.limit = 7;
    options.delay = 500ms;
    run.go(options);
    CHECK(run.source.queries.at(0).sort == LT_SORT_MAX);
    CHECK(run.source.queries.at(0).limit == 7);
    CHECK(run.source.queries.at(0).pids == options.selection.pids);
    CHECK(run.source.queries.at(0).flags == LT_Q_NO_KTHREADS);
    CHECK_THAT(run.terminal.screens.at(0), has_text("every 500ms") && has_text("Sorted by MAX"));
}

TEST_CASE("of so many tasks as are asked for none is one that is hidden") {
    LiveRun run({press(U'K'), press(U'X')});
    Options options;
    options.limit = 7;
    run.go(options);
    REQUIRE(run.source.queries.size() == 3);
    CHECK(run.source.queries[0].flags == 0);
    CHECK(run.source.queries[1].flags == LT_Q_NO_KTHREADS);
    CHECK(run.source.queries[2].flags == (LT_Q_NO_KTHREADS | LT_Q_NO_EXITED));
}

TEST_CASE("the first tasks are those of the order chosen, also where the module does not know it") {
    Options options;
    options.limit = 2;
    SECTION("which it knows") {
        LiveRun run({});
        run.go(options);
        CHECK(run.source.queries.at(0).limit == 2);
        CHECK_THAT(run.terminal.screens.at(0), has_text("Tasks: 2 of") && has_text("(first 2:"));
    }
    SECTION("which it does not know") {
        options.sort = Column::SleepRate;
        LiveRun run({});
        run.go(options);
        CHECK(run.source.queries.at(0).limit == LT_MAX_LIMIT);
        CHECK_THAT(run.terminal.screens.at(0), has_text("Tasks: 2 of") && has_text("(first 2:"));
    }
    SECTION("of what is tagged") {
        LiveRun run({press(U' '), press(U'v')});
        run.go(options);
        REQUIRE(run.source.queries.size() == 2);
        CHECK(run.source.queries[1].limit == LT_MAX_LIMIT);
    }
    SECTION("in another order, at once also while paused") {
        LiveRun run({press(U'Z'), press(U'S')});
        run.go(options);
        REQUIRE(run.source.queries.size() == 2);
        CHECK(run.source.queries[1].limit == LT_MAX_LIMIT);
    }
    SECTION("the other way round, of the interval, and of what a filter lets through, at once") {
        const Event pressed = GENERATE(press(U'I'), press(U'a'), press(U'i'), press(U'o'));
        LiveRun run({pressed});
        run.go(options);
        REQUIRE(run.source.queries.size() == 2);
        CHECK(run.source.queries[0].limit == 2);
        CHECK(run.source.queries[1].limit == LT_MAX_LIMIT);
        CHECK_THAT(run.terminal.screens.back(), has_text("(first 2:"));
    }
}

TEST_CASE("a key that asks more of a recording's snapshot leaves its pace as it was") {
    LiveRun run({press(U'2'), press(U'i'), press(U'1'), press(U'd'), press(U'5'),
                 press(KeyCode::Enter), kTimeout});
    FakeRecording recording;
    Options options;
    options.delay = 60s;
    run_live(options, run.with(recording), run.terminal);
    const auto& until = run.terminal.deadlines;
    REQUIRE(until.size() == 8);
    for (std::size_t i = 1; i < 6; ++i)
        CHECK(until[i] == until[0]);
    // The new delay is from now on, and not from the end of the old one
    CHECK(*until[0] - *until[6] == 55s);
    CHECK(*until[7] - *until[6] == 5s);
    CHECK_THAT(run.terminal.screens.back(), has_text("every 5.00s"));
}

TEST_CASE("what was chosen on the screen is there the next time") {
    const TempFolder folder;
    Options options;
    options.screen_file = folder.path() + "/new/screen.conf";
    const auto last_screen = [&](std::deque<Event> keys) {
        LiveRun run(std::move(keys));
        CHECK(run_live(options, run.world(), run.terminal) == "");
        return run.terminal.screens.back();
    };
    last_screen({press(U'j')});
    CHECK(content_of(options.screen_file) == "");  // nothing was chosen
    last_screen({press(U'3'), press(U'M'), press(U'I'), press(U'K'), press(U'i')});
    SECTION("as it was left") {
        CHECK_THAT(last_screen({}), has_text("Stacks:") && has_text("Sorted by MAX inverted") &&
                                        has_text("no kernel threads") &&
                                        has_text("no waits for work"));
    }
    SECTION("with the tree, what X hides and figures of the interval, but not only active tasks") {
        last_screen({press(U't'), press(U'X'), press(U'a'), press(U'o')});
        LiveRun run({kTimeout});
        CHECK(run_live(options, run.world(), run.terminal) == "");
        const std::string& screen = run.terminal.screens.back();
        CHECK_THAT(screen, has_text("Processes:") && has_text("├─ db") && has_text("of the last") &&
                               has_text("no exited") && !has_text("only active"));
        // As it was: all three once more.
        last_screen({press(U't'), press(U'X'), press(U'a')});
        CHECK_THAT(last_screen({}), !has_text("of the last") && !has_text("no exited"));
    }
    SECTION("where the command line does not say otherwise, which is not kept") {
        options.sort = Column::Pid;
        options.sort_given = true;
        CHECK_THAT(last_screen({press(U'K')}), has_text("Tasks:") && has_text("Sorted by PID") &&
                                                   !has_text("inverted") &&
                                                   !has_text("no kernel threads"));
        options.sort_given = false;
        CHECK_THAT(last_screen({}),
                   has_text("Sorted by MAX inverted") && !has_text("no kernel threads"));
    }
    SECTION("not where the file is somebody else's idea: that is said, and stays") {
        std::ofstream(options.screen_file) << "view: everything\n";
        last_screen({press(U'2')});
        CHECK(content_of(options.screen_file) == "view: everything\n");
        LiveRun run({});
        run_live(options, run.world(), run.terminal);
        CHECK_THAT(run.terminal.screens.at(0), has_text("screen.conf:1: 'view: everything'"));
    }
    SECTION("where it cannot be kept, that is said at the end") {
        options.screen_file = "/proc/no-such/screen.conf";
        LiveRun run({press(U'K')});
        CHECK_THAT(run_live(options, run.world(), run.terminal),
                   has_text("what the screen showed is not kept: cannot write"));
    }
}

TEST_CASE("the header shows what lattop costs and what was learned") {
    LiveRun run({kTimeout});
    run.learning.now = {LearningState::Kind::Runs, "", 17, 1234, 20'000'000};
    run.clock.cpu_used_ns = 30'000'000;
    run.go();
    CHECK_THAT(
        run.terminal.screens.at(1),
        has_text("Own cost: 0.0% CPU (hooks 0.0%, learning 0.0%); 1,234 rows from 17 misses"));
}

TEST_CASE("the header says once why nothing is learned, and goes on") {
    LiveRun run({kTimeout});
    run.learning.now = {LearningState::Kind::Refused, "only root may", 0, 0, 0};
    run.go();
    CHECK_THAT(run.terminal.screens.at(1),
               has_text("0.0% CPU (hooks 0.0%); not learning: only root may"));
    CHECK_THAT(run.terminal.screens.at(1), has_text("dbserver"));
}

TEST_CASE("a low terminal leaves the cost out") {
    LiveRun run({});
    run.learning.now.kind = LearningState::Kind::Runs;
    run.terminal.window = {80, 15};
    run.go();
    CHECK_THAT(run.terminal.screens.at(0), !has_text("Own cost"));
}

TEST_CASE("the screen waits for a module that was unloaded and shows the next one") {
    LiveRun run({kTimeout, press(U'j'), press(KeyCode::Enter), kTimeout});
    FakeSource reloaded([](std::uint64_t n) -> Snapshot {
        if (n == 1) throw NoModuleError("lattop's kernel module was unloaded", "load it");
        return sample_machine(10 + n).snapshot();
    });
    run_live({}, run.with(reloaded), run.terminal);
    const auto& screens = run.terminal.screens;
    CHECK_THAT(screens.at(1), has_text("module was unloaded: waiting for it"));
    CHECK_THAT(screens.at(1), has_text("10.0s since load"));
    CHECK_THAT(screens.at(1), has_text("dbserver"));
    CHECK_THAT(screens.at(3), has_text("module was unloaded: waiting for it"));  // the pane
    CHECK_THAT(screens.at(4), has_text("the module is loaded again"));
    CHECK_THAT(screens.at(4), has_text("12.0s since load"));
}

TEST_CASE("a read that fails in passing leaves the picture, says so, and is tried again") {
    LiveRun run({kTimeout, press(U'j'), kTimeout, kTimeout});
    FakeSource short_of_memory([](std::uint64_t n) -> Snapshot {
        if (n == 1 || n == 2) throw PassingError("cannot read /proc/lattop: no memory");
        return sample_machine(10 + n).snapshot();
    });
    run_live({}, run.with(short_of_memory), run.terminal);
    const auto& screens = run.terminal.screens;
    CHECK_THAT(screens.at(1), has_text("still the last picture: cannot read /proc/lattop"));
    CHECK_THAT(screens.at(1), has_text("10.0s since load") && has_text("dbserver"));
    CHECK_THAT(screens.at(3), has_text("still the last picture"));
    CHECK_THAT(screens.at(4), !has_text("still the last picture"));
    CHECK_THAT(screens.at(4), has_text("13.0s since load"));
    CHECK(run.clock.slept == std::vector{2000ms, 2000ms, 2000ms});
}

TEST_CASE("a read that failed in passing does so for the pane of a task as well") {
    LiveRun run({press(U'N'), press(KeyCode::End), press(KeyCode::Enter)});
    bool pane = false;
    FakeSource short_of_memory([&](std::uint64_t) -> Snapshot {
        if (pane) throw PassingError("cannot read /proc/lattop: no memory");
        pane = short_of_memory.queries.size() == 2;
        return sample_machine(10).snapshot();
    });
    run_live({}, run.with(short_of_memory), run.terminal);
    CHECK_THAT(run.terminal.screens.back(), has_text("still the last picture: cannot read"));
}

TEST_CASE("a read that fails ten times in a row ends the screen and says why") {
    LiveRun run(std::deque<Event>(20, kTimeout));
    FakeSource broken([](std::uint64_t n) -> Snapshot {
        if (n > 0) throw PassingError("cannot read /proc/lattop: no memory");
        return sample_machine(1).snapshot();
    });
    CHECK_THROWS_WITH(run_live({}, run.with(broken), run.terminal),
                      "cannot read /proc/lattop: no memory, 10 times in a row");
    CHECK(broken.taken == 11);
}

TEST_CASE("an error of the source reaches the caller") {
    LiveRun run({kTimeout});
    FakeSource broken([](std::uint64_t n) -> Snapshot {
        if (n > 0) throw Error("the module has gone");
        return sample_machine(1).snapshot();
    });
    CHECK_THROWS_WITH(run_live({}, run.with(broken), run.terminal), "the module has gone");
}

}  // namespace lattop::test
