// SPDX-License-Identifier: GPL-2.0-or-later
//
// The pane below the table.
#include "lattop/source/select.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/golden.h"
#include "tests/unit/support/screen_driver.h"

namespace lattop::test {

TEST_CASE(
    "the pane follows the selection; Enter gives it the keys; Esc takes them, then closes it") {
    Driver driver({100, 30});
    driver.press(key(U'/'));
    driver.type("db-worker/2");
    driver.press(key(KeyCode::Enter));
    driver.press(key(KeyCode::Enter));
    CHECK_THAT(driver.text(), has_text("1202 db-worker/2 (process 1200), postgres"));
    CHECK_THAT(driver.text(), has_text("buffer_pool.cc:210"));

    driver.press(key(KeyCode::Down));
    CHECK_THAT(driver.text(), has_text("1201 db-worker/1 (process 1200)"));
    driver.press(key(KeyCode::Enter));
    driver.press(key(KeyCode::Down));
    CHECK_THAT(driver.text(), has_text("1201 db-worker/1 (process 1200)"));
    CHECK_THAT(driver.text(), has_text("ext4_file_read_iter+0x10 [ext4]"));
    driver.press(key(KeyCode::End));
    CHECK_THAT(driver.text(), has_text("no room for these stacks"));
    driver.press(key(KeyCode::Escape));
    driver.press(key(KeyCode::Up));
    CHECK_THAT(driver.text(), has_text("1202 db-worker/2 (process 1200)"));
    driver.press(key(KeyCode::Escape));
    CHECK_THAT(driver.text(), !has_text("SHARE"));
    CHECK(!driver.screen().detail_query());
}

TEST_CASE("the pane follows a search as it follows the arrows") {
    Driver driver({100, 30});
    driver.press(key(KeyCode::Enter));
    driver.press(key(U'/'));
    driver.type("db-worker/2");
    CHECK_THAT(driver.text(), has_text("1202 db-worker/2 (process 1200), postgres"));
    driver.press(key(KeyCode::Enter));
    CHECK_THAT(driver.text(), has_text("1202 db-worker/2 (process 1200), postgres"));
}

TEST_CASE("the open stack is copied as a folded line, safe to split") {
    Driver driver;
    CHECK(driver.press(key(U'y')).copy.empty());
    CHECK_THAT(driver.text(), has_text("nothing to copy"));
    driver.press(key(U'/'));
    driver.type("1202");
    driver.press(key(KeyCode::Enter));
    driver.press(key(KeyCode::Enter));
    CHECK(driver.press(key(U'y')).copy ==
          "db-worker/2;libc.so.6+0x891f5;db::worker_main;db::BufferPool::acquire;libc.so.6+0x86f16;"
          "entry_SYSCALL_64_after_hwframe_[k];do_syscall_64_[k];__x64_sys_futex_[k];do_futex_[k];"
          "futex_wait_[k];futex_wait_queue_[k];schedule_[k] 6020000000");
    CHECK_THAT(driver.text(), has_text("bytes for the clipboard"));
}

TEST_CASE("the pane says who ended the sleeps, and from where") {
    SnapshotBuilder builder;
    const auto wait = builder.add_trace({.id = 7, .kernel = {"schedule", "pipe_read"}});
    const auto wake = builder.add_trace({.id = 8, .kernel = {"wake_up", "pipe_write"}});
    const auto timer = builder.add_trace({.id = 9, .kernel = {"hrtimer_wakeup"}});
    builder.add_task(
        {.pid = 11,
         .comm = "reader",
         .blocked_ns = 4'000'000'000,
         .sleeps = 5,
         .entries = {
             {.trace = wait,
              .blocked_ns = 4'000'000'000,
              .sleeps = 5,
              .wakers = {{.trace = timer, .kind = LT_WAKER_INTERRUPT, .blocked_ns = 1'000'000'000},
                         {.trace = wake,
                          .pid = 12,
                          .comm = "writer",
                          .blocked_ns = 3'000'000'000,
                          .sleeps = 4}}}}});
    const std::string text = shown_after(builder, {key(KeyCode::Enter)});
    CHECK_THAT(text, has_text("woken by  75.0%  3.00s      4 writer 12"));
    CHECK_THAT(text, has_text("          25.0%  1.00s      1 an interrupt"));
    CHECK_THAT(text, has_text("from   wake_up+0x10"));
    CHECK_THAT(text, has_text("       pipe_write+0x10"));
}

TEST_CASE("a recording may say that a stack has more than its task: its bar ends where others do") {
    for (const std::uint64_t blocked_ns : {std::uint64_t{200}, std::uint64_t{1} << 40}) {
        SnapshotBuilder builder;
        const auto wait = builder.add_trace({.id = 7, .kernel = {"schedule", "pipe_read"}});
        builder.add_task({.pid = 11,
                          .comm = "reader",
                          .blocked_ns = 100,
                          .sleeps = 1,
                          .entries = {{.trace = wait, .blocked_ns = blocked_ns, .sleeps = 1}}});
        const std::string text = shown_after(builder, {key(KeyCode::Enter)});
        CHECK_THAT(text, has_text("% \u2588\u2588\u2588\u2588\u2588\u2588 "));
    }
}

TEST_CASE("the pane of many tasks says who woke them, threads of one process as one") {
    SnapshotBuilder builder;
    const auto lock = builder.add_trace({.id = 7, .kernel = {"futex_wait"}});
    const auto unlock = builder.add_trace({.id = 8, .kernel = {"futex_wake"}});
    const auto disk = builder.add_trace({.id = 9, .kernel = {"io_schedule"}});
    for (std::uint32_t i = 0; i < 2; ++i)
        builder.add_task({.pid = 11 + i,
                          .tgid = 11,
                          .comm = "waiter",
                          .blocked_ns = 4'000'000'000,
                          .sleeps = 4,
                          .entries = {{.trace = lock,
                                       .blocked_ns = 4'000'000'000,
                                       .sleeps = 4,
                                       .wakers = {{.trace = unlock,
                                                   .pid = 21 + i,
                                                   .comm = "holder",
                                                   .blocked_ns = (4 - i) * 1'000'000'000ULL,
                                                   .sleeps = 4,
                                                   .waited_trace = disk,
                                                   .waited_ns = 2'000'000'000,
                                                   .tgid = 20}}}}});
    const std::string text = shown_after(builder, {key(U'3'), key(KeyCode::Enter)});
    CHECK_THAT(text, has_text("woken by 100.0%  7.00s      8 holder 21 and 1 more of its threads"));
    CHECK_THAT(text, has_text("whose own last sleep took 2.00s of 4.00s, in"));
    CHECK_THAT(text, has_text("io_schedule+0x10"));
}

TEST_CASE("figures of an interval whose beginning is not known are not shown, and come last") {
    Driver driver({100, 50});
    driver.refresh(12);
    driver.press(key(U'/'));
    driver.type("1201");
    driver.press(key(KeyCode::Enter));
    driver.press(key(KeyCode::Enter));
    driver.press(key(U'a'));
    check_golden("pane-interval-100x50.txt", driver.text());
    // The snapshot before had this task's worst stack alone
    Query query = driver.screen().query();
    query.traces = LT_TRACES_WORST;
    Snapshot before = sample_machine(14).snapshot();
    apply_query(before, query);
    driver.screen().update(std::move(before), query);
    driver.screen().update(sample_machine(16).snapshot(), driver.screen().query());
    CHECK_THAT(driver.text(), has_text("     -             -      -      -  9.00ms* disk read"));
}

TEST_CASE("the pane of several tasks looks at the one blocked longest, and stays with its sleep") {
    SampleStacks stacks;
    SampleUsers users;
    SystemCgroups cgroups;
    Reasons reasons;
    Screen screen({}, stacks, users, cgroups, reasons);
    struct Thread {
        std::uint32_t pid;
        std::uint64_t ongoing_ms, sleeps;
    };
    const auto look = [&](const std::vector<Thread>& threads) {
        SnapshotBuilder builder;
        const auto lock = builder.add_trace(
            {.id = 1, .kernel = {"schedule", "futex_wait"}, .user = {0x77}, .flags = LT_TR_MISS});
        const auto nap = builder.add_trace({.id = 2, .kernel = {"schedule", "do_nanosleep"}});
        for (const auto& [pid, ongoing_ms, sleeps] : threads)
            builder.add_task(
                {.pid = pid,
                 .tgid = 11,
                 .comm = "worker",
                 .blocked_ns = 9 * kSecond,
                 .sleeps = sleeps,
                 .ongoing_ns = ongoing_ms * kMs,
                 .entries = {{.trace = lock,
                              .blocked_ns = 8 * kSecond,
                              .sleeps = sleeps,
                              .ongoing_ns = ongoing_ms * kMs,
                              .flags = ongoing_ms == 0 ? 0U : std::uint32_t{LT_E_ONGOING}}}});
        builder.add_task({.pid = 14,
                          .tgid = 11,
                          .comm = "napper",
                          .blocked_ns = kSecond,
                          .sleeps = 1,
                          .ongoing_ns = kSecond,
                          .entries = {{.trace = nap,
                                       .blocked_ns = kSecond,
                                       .ongoing_ns = kSecond,
                                       .flags = LT_E_ONGOING}}});
        screen.update(builder.snapshot(), screen.query());
    };
    const auto wanted = [&] {
        const Task* task = screen.live_wanted();
        return task == nullptr ? 0 : task->pid;
    };
    const auto text = [&] {
        Canvas canvas({120, 40}, Charset::Utf8);
        screen.draw(canvas, "12:34:56");
        return canvas.text();
    };
    look({{11, 200, 5}, {12, 3000, 5}, {13, 0, 5}});
    screen.handle(key(U'2'));
    screen.handle(key(KeyCode::Enter));
    CHECK(wanted() == 12);
    CHECK_THAT(text(), has_text("longest now 12 worker (process 11) for 3.00s"));

    stacks.live_pid = 12;
    LiveNames live;
    live.addresses = {0x77, 0x88};
    live.stack.frames = {std::make_shared<UserFrame>(), std::make_shared<UserFrame>()};
    live.object = "mutex pool_lock, held by 13 worker (R)";
    live.sleeps = 5;
    stacks.live = live;
    CHECK_THAT(text(), has_text("for 3.00s, waits for mutex pool_lock, held by 13 worker (R)"));
    CHECK_THAT(text(), has_text("    now ") && has_text("shown as it is now, whole"));

    // One that is said to be blocked longer comes: the same is looked at while it sleeps
    look({{11, 6000, 6}, {12, 5000, 5}, {13, 10, 6}});
    CHECK(wanted() == 12);
    CHECK_THAT(text(), has_text("longest now 12 worker (process 11) for 5.00s, waits for mutex"));
    look({{11, 8000, 6}, {12, 1, 6}, {13, 2010, 6}});
    CHECK(wanted() == 11);
    CHECK_THAT(text(), has_text("longest now 11 worker for 8.00s") && !has_text("pool_lock"));

    // Another stack of it is opened: who is blocked there
    screen.handle(key(KeyCode::Enter));
    screen.handle(key(KeyCode::Down));
    CHECK(wanted() == 14);
    CHECK_THAT(text(), has_text("longest now 14 napper (process 11) for 1.00s"));
    screen.handle(key(KeyCode::Up));
    look({{11, 0, 6}, {12, 0, 6}, {13, 0, 6}});
    CHECK(wanted() == 0);
    CHECK_THAT(text(), !has_text("longest now"));
    for (const char32_t view : {U'3', U'4', U'5'}) {
        look({{11, 200, 7}, {12, 3000, 7}, {13, 0, 7}});
        screen.handle(key(view));
        screen.handle(key(KeyCode::Enter));
        CHECK(wanted() == 12);
        CHECK_THAT(text(), has_text("longest now 12 worker (process 11) for 3.00s"));
    }
}

TEST_CASE("the command line stands below the heading of a task's and a process's pane") {
    Driver driver({100, 40});
    driver.stacks().command_lines = {
        {1200, "/usr/sbin/dbserver -c\x1b[2J " + std::string(200, 'x')}};
    driver.press(key(U'/'));
    driver.type("1201");
    driver.press(key(KeyCode::Enter));
    driver.press(key(KeyCode::Enter));
    const auto wanted = [&] { return driver.screen().command_lines_wanted(); };
    REQUIRE(wanted().size() == 1);
    CHECK(wanted()[0]->pid == 1201);
    check_golden("pane-cmdline-100x40.txt", driver.text());
    driver.press(key(U'2'));
    driver.press(key(U'/'));
    driver.type("1200");
    driver.press(key(KeyCode::Enter));
    driver.press(key(KeyCode::Enter));
    REQUIRE(wanted().size() == 1);
    CHECK(wanted()[0]->tgid == 1200);
    CHECK_THAT(driver.text(), has_text("  /usr/sbin/dbserver -c?[2J x"));
    driver.press(key(U'3'));
    driver.press(key(KeyCode::Enter));
    CHECK(wanted().empty());  // a stack may be of many programs
    CHECK_THAT(driver.text(), !has_text("/usr/sbin/dbserver"));
}

TEST_CASE("a pane whose lines do not fit scrolls, also sideways") {
    Driver driver({60, 22});
    driver.press(key(U'/'));
    driver.type("1200");
    driver.press(key(KeyCode::Enter));
    driver.press(key(KeyCode::Enter));
    driver.press(key(KeyCode::Enter));
    CHECK_THAT(driver.text(), !has_text("worker_main"));
    driver.press(key(KeyCode::PageDown));
    CHECK_THAT(driver.text(), has_text("worker_main"));
    for (int i = 0; i < 9; ++i)
        driver.press(key(KeyCode::PageDown));
    CHECK_THAT(driver.text(), has_text("[other]"));
    for (int i = 0; i < 9; ++i)
        driver.press(key(KeyCode::PageUp));
    for (int i = 0; i < 4; ++i)
        driver.press(key(KeyCode::Right));
    CHECK_THAT(driver.text(), !has_text("kernel schedule"));
    for (int i = 0; i < 9; ++i)
        driver.press(key(KeyCode::Left));
    CHECK_THAT(driver.text(), has_text("kernel schedule"));
}

TEST_CASE("the pane asks for one task, or for what holds its record") {
    Driver driver;
    driver.press(key(U'/'));
    driver.type("cc1plus");
    driver.press(key(KeyCode::Enter));
    driver.press(key(KeyCode::Enter));
    REQUIRE(driver.screen().detail_query());
    CHECK(driver.screen().detail_query()->pids == std::vector<std::uint32_t>{1500});
    CHECK(driver.screen().detail_query()->traces == LT_TRACES_ALL);
}

TEST_CASE("the pane finds a leader among more threads than other records could be among") {
    // Its number is the highest of them, as where numbers began anew meanwhile
    SnapshotBuilder builder;
    builder.header.time_ns = 200 * kSecond;
    const auto trace = builder.add_trace({.id = 1, .kernel = {"schedule", "pipe_read"}});
    for (std::uint32_t pid = 1000; pid <= 2000; ++pid)
        builder.add_task({.pid = pid,
                          .tgid = 2000,
                          .comm = "pool",
                          .blocked_ns = pid * kMs,
                          .sleeps = 1,
                          .entries = {{.trace = trace, .blocked_ns = pid * kMs}}});
    SampleStacks stacks;
    SampleUsers users;
    SystemCgroups cgroups;
    Reasons reasons;
    Screen screen({}, stacks, users, cgroups, reasons);
    const auto answer = [&](const Query& query) {
        Snapshot snapshot = builder.snapshot();
        apply_query(snapshot, query);
        return snapshot;
    };
    screen.update(answer(screen.query()), screen.query());
    screen.handle(key(KeyCode::Enter));  // it has been blocked longest
    REQUIRE(screen.detail_query());
    screen.update_detail(answer(*screen.detail_query()));
    Canvas canvas({100, 40}, Charset::Utf8);
    screen.draw(canvas, "12:34:56");
    CHECK_THAT(canvas.text(), has_text("2000 pool, root, S: blocked 2.00s in 1 sleeps"));
}

TEST_CASE("the pane of a group follows it and says when it has gone") {
    Driver driver({100, 40});
    driver.press(key(U'4'));
    driver.press(key(U'/'));
    driver.type("futex");
    driver.press(key(KeyCode::Enter));
    driver.press(key(KeyCode::Enter));
    CHECK(!driver.screen().detail_query());
    CHECK_THAT(driver.text(), has_text("Reason futex: blocked 18.0s in 900 sleeps of 3 tasks"));
    driver.refresh(20);
    CHECK_THAT(driver.text(), has_text("Reason futex: blocked 36.0s in 1,800 sleeps of 3 tasks"));
    driver.screen().update(SnapshotBuilder().snapshot(), driver.screen().query());
    CHECK_THAT(driver.text(), has_text("the figures of this row are gone"));
}

}  // namespace lattop::test
