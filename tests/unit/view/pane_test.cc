// SPDX-License-Identifier: GPL-2.0-or-later
//
// The pane below the table.
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
