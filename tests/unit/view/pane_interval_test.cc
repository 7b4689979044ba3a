// SPDX-License-Identifier: GPL-2.0-or-later
//
// The pane of a task that was long in one stack, and of late in another: figures of the interval,
// and of the sleeps that are shown.
#include "tests/unit/support/catch.h"
#include "tests/unit/support/screen_driver.h"

namespace lattop::test {
namespace {

/// Two threads that were long at a pipe, and of late at a lock: after `ms` of that.
SnapshotBuilder of_late_at_a_lock(std::uint64_t ms) {
    SnapshotBuilder builder;
    builder.header.since_ns = kSecond;
    builder.header.time_ns = 200 * kSecond + ms * kMs;
    const auto pipe = builder.add_trace({.id = 1, .kernel = {"schedule", "pipe_read"}});
    const auto lock = builder.add_trace({.id = 2, .kernel = {"schedule", "futex_wait"}});
    for (const std::uint32_t pid : {11U, 12U})
        builder.add_task({.pid = pid,
                          .tgid = 11,
                          .comm = "worker",
                          .blocked_ns = 100 * kSecond + ms * kMs,
                          .sleeps = 100 + ms,
                          .max_ns = 9 * kSecond,
                          .runq_ns = kSecond + ms * 1000,
                          .runs = 500 + ms,
                          .entries = {{.trace = pipe,
                                       .blocked_ns = 90 * kSecond,
                                       .sleeps = 90,
                                       .max_ns = 9 * kSecond,
                                       .hist = {{30, 90}}},
                                      {.trace = lock,
                                       .blocked_ns = 10 * kSecond + ms * kMs,
                                       .sleeps = 10 + ms,
                                       .max_ns = 2 * kMs,
                                       .hist = {{20, 10 + ms}}}}});
    return builder;
}

/// The screen of that machine, as time goes on.
class AtALock {
public:
    void look(std::uint64_t more_ms) {
        ms_ += more_ms;
        const Query query = screen_.query();
        screen_.update(of_late_at_a_lock(ms_).snapshot(), query);
        if (screen_.detail_query()) screen_.update_detail(of_late_at_a_lock(ms_).snapshot());
    }

    /// From the first row on.
    std::string pane() {
        Canvas canvas({160, 40}, Charset::Utf8);
        screen_.draw(canvas, "12:34:56");
        const std::string text = canvas.text();
        return text.substr(text.find('\n', text.find("COMMAND")));
    }

    Screen& screen() { return screen_; }

private:
    SampleStacks stacks_;
    SampleUsers users_;
    SystemCgroups cgroups_;
    Reasons reasons_;
    Screen screen_{{}, stacks_, users_, cgroups_, reasons_};
    std::uint64_t ms_ = 0;
};

}  // namespace

TEST_CASE("while figures are of the interval so is the pane, whatever the row is") {
    AtALock run;
    Screen& screen = run.screen();
    run.look(0);
    screen.handle(key(KeyCode::Enter));
    run.look(0);
    CHECK_THAT(run.pane(), has_text("blocked 1m40s in 100 sleeps, max 9.00s") && has_text("TOTAL"));
    CHECK(run.pane().find("pipe read") < run.pane().find("futex"));

    CHECK(screen.handle(key(U'a')).refresh);  // for all stacks of each task
    CHECK(!screen.detail_query());
    run.look(0);
    run.look(1500);
    CHECK_THAT(run.pane(), has_text("11 worker, root, S: in the last 1.50s blocked 1.50s in "
                                    "1,500 sleeps") &&
                               has_text("INTERVAL"));
    CHECK_THAT(run.pane(), has_text("run queue 1.50ms in 1,500 waits"));
    CHECK_THAT(run.pane(), has_text("> 100.0% ██████  1.50s   1500 1.00ms "
                                    " 2.00ms  futex"));
    CHECK_THAT(run.pane(), has_text(">=1.04ms   1500") && !has_text("1510"));
    CHECK_THAT(run.pane(), has_text("    0.0%             0      0      0   9.00s  pipe read"));

    screen.handle(key(U'2'));
    screen.handle(key(KeyCode::Enter));
    CHECK_THAT(run.pane(),
               has_text("Process 11 worker: in the last 1.50s blocked 3.00s in 3,000 sleeps "
                        "of 2 tasks, max 9.00s"));
    CHECK_THAT(run.pane(), has_text("  3.00s   3000 1.00ms  2.00ms  futex"));
    CHECK_THAT(run.pane(), has_text("  tasks   50.0%  1.50s      11 S worker"));

    screen.handle(key(U'a'));
    CHECK_THAT(run.pane(),
               has_text("Process 11 worker: blocked 3m23s in 3,200 sleeps") && has_text("TOTAL"));
    screen.handle(key(U'1'));
    screen.handle(key(KeyCode::Enter));
    run.look(0);
    CHECK_THAT(run.pane(),
               has_text("blocked 1m41s in 1,600 sleeps, max 9.00s") && has_text("TOTAL"));
}

TEST_CASE("the pane of a task is of the sleeps that are shown, as its row is") {
    const bool interval = GENERATE(false, true);
    AtALock run;
    Screen& screen = run.screen();
    const auto type = [&](const std::string& text) {
        for (const char c : text)
            screen.handle(key(static_cast<char32_t>(c)));
    };
    run.look(0);
    screen.handle(key(KeyCode::Enter));
    if (interval) screen.handle(key(U'a'));
    run.look(0);
    run.look(2000);
    CHECK_THAT(run.pane(), has_text("pipe read") && has_text("futex"));

    screen.handle(key(KeyCode::F4));
    type("futex");
    screen.handle(key(KeyCode::Enter));
    const std::string of_futex = interval
                                     ? "in the last 2.00s blocked 2.00s in 2,000 sleeps, max 2.00ms"
                                     : "S: blocked 12.0s in 2,010 sleeps, max 2.00ms";
    CHECK_THAT(run.pane(), has_text(of_futex) && has_text("> 100.0%") && !has_text("pipe read"));
    run.look(0);
    CHECK_THAT(run.pane(), has_text("max 2.00ms") && !has_text("pipe read"));

    screen.handle(key(KeyCode::F4));
    type("-none");
    CHECK_THAT(run.pane(), has_text("blocked 0 in 0 sleeps") && !has_text("max 2.00ms"));
    for (int i = 0; i < 10; ++i)
        screen.handle(key(KeyCode::Backspace));
    screen.handle(key(KeyCode::Enter));
    CHECK_THAT(run.pane(), has_text("pipe read") && has_text("futex") && has_text("max 9.00s"));
}

}  // namespace lattop::test
