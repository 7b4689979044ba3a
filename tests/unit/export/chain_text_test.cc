// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/export/chain_text.h"

#include "tests/unit/support/catch.h"
#include "tests/unit/support/fakes.h"
#include "tests/unit/support/sample.h"

namespace lattop::test {
namespace {

/// For ten seconds a writer waits for a pipe, 90 times 100 ms, until a reader
/// has read; which sleeps before it does, and is woken by the timer.
struct PipeWorld {
    std::uint64_t last_nap_ns = 0;  ///< of all the writer's waits together
    std::uint64_t naps_ns = 0;      ///< all that the reader slept

    [[nodiscard]] Snapshot snapshot() const {
        SnapshotBuilder builder;
        builder.header.since_ns = kSecond;
        builder.header.time_ns = 11 * kSecond;
        builder.header.limit[LT_LIMIT_WAKERS] = 100;
        const auto write = builder.add_trace({.id = 1, .kernel = {"schedule", "pipe_write"}});
        const auto read = builder.add_trace({.id = 2, .kernel = {"try_to_wake_up", "pipe_read"}});
        const auto nap = builder.add_trace({.id = 3, .kernel = {"schedule", "do_nanosleep"}});
        const auto timer = builder.add_trace({.id = 4, .kernel = {"hrtimer_wakeup"}});
        builder.add_task({.pid = 10,
                          .comm = "writer",
                          .entries = {{.trace = write,
                                       .blocked_ns = 9 * kSecond,
                                       .sleeps = 90,
                                       .max_ns = 100 * kMs,
                                       .wakers = {{.trace = read,
                                                   .pid = 20,
                                                   .comm = "reader",
                                                   .blocked_ns = 9 * kSecond,
                                                   .sleeps = 90,
                                                   .waited_trace = nap,
                                                   .waited_ns = last_nap_ns}}}}});
        builder.add_task({.pid = 20,
                          .comm = "reader",
                          .entries = {{.trace = nap,
                                       .blocked_ns = naps_ns,
                                       .sleeps = 900,
                                       .max_ns = 10 * kMs,
                                       .wakers = {{.trace = timer,
                                                   .kind = LT_WAKER_INTERRUPT,
                                                   .blocked_ns = naps_ns,
                                                   .sleeps = 900}}}}});
        return builder.snapshot();
    }

    [[nodiscard]] std::string text() const {
        const Snapshot all = snapshot();
        Reasons reasons;
        const SampleStacks names;
        SampleUsers users;
        SystemCgroups cgroups;
        const FoundWait found = find_wait({all, names, users, cgroups}, {.pid = 10}, reasons);
        REQUIRE(found.entry != nullptr);
        return chain_text(all, follow_chain(all, *found.task, *found.entry), names, reasons,
                          Charset::Ascii);
    }
};

}  // namespace

TEST_CASE("a chain leads to what the waker's last sleep was, and says how much that took") {
    const std::string text = PipeWorld{.last_nap_ns = 4 * kSecond, .naps_ns = 4 * kSecond}.text();
    CHECK(
        text.starts_with("1  writer 10 blocked 9.00s, 90.0% of the time, in 90 sleeps, max "
                         "100ms: pipe write\n"));
    CHECK(text.find("woken by reader 20, whose own last sleep took 4.00s of it\n") !=
          std::string::npos);
    CHECK(text.find("\n2  reader 20 blocked 4.00s, 40.0% of the time, in 900 sleeps, max 10.0ms: "
                    "sleep\n") != std::string::npos);
    CHECK(text.find("\nIt ends at an interrupt") != std::string::npos);
}

TEST_CASE("a waker that naps again and again is followed, though its last nap was short") {
    const std::string text = PipeWorld{.last_nap_ns = kSecond / 10, .naps_ns = 8 * kSecond}.text();
    CHECK(text.find("\n2  reader 20 blocked 8.00s, 80.0% of the time") != std::string::npos);
}

TEST_CASE("a chain ends at a waker that sleeps little, and does not say that it never slept") {
    const std::string text = PipeWorld{.last_nap_ns = kSecond / 10, .naps_ns = kSecond}.text();
    CHECK(text.find("\n2  ") == std::string::npos);
    CHECK(
        text.ends_with("It ends at reader 20, whose last sleep before was short: it ran, waited "
                       "for a CPU, or slept before that one.\n"));
}

}  // namespace lattop::test
