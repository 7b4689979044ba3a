// SPDX-License-Identifier: GPL-2.0-or-later
// lattop-poke past: what a program did before an exec into one of user a's is hidden from a, and it
// is hidden alike whichever traces he asks for. In what it did before it slept in several stacks,
// for longer than the program that a may see: neither how many these are nor the figures of one of
// them are shown, but their sum alone. And a task that has just become a's, and has not slept
// since, is not found by the user whom it was of.
#include <fcntl.h>
#include <poll.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <vector>

#include "poke.h"
#include "poke_people.h"
#include "race_process.h"
#include "race_reader.h"

namespace poke {
namespace {

constexpr int before_ms = 1500;  // in each of three stacks
// A sleep begins a little behind its timer
constexpr uint64_t all_before_ns = UINT64_C(3) * (before_ms - 20) * 1'000'000;

/// Root's program, which sleeps in three stacks and becomes one of a's that sleeps in a fourth.
void sleep_and_become_another() {
    timespec left{before_ms / 1000, before_ms % 1000 * 1'000'000};
    need(nanosleep(&left, nullptr) == 0, "nanosleep");
    need(poll(nullptr, 0, before_ms) == 0, "poll");
    left = {before_ms / 1000, before_ms % 1000 * 1'000'000};
    need(pselect(0, nullptr, nullptr, nullptr, &left, nullptr) == 0, "pselect");
    become_user(user_a);
    execl("/bin/sleep", "sleep", "1000", nullptr);
    need(false, "exec of sleep");
}

/// What one snapshot says of the task.
struct Told {
    uint32_t traces_total = 0;
    std::vector<lt_entry_rec> entries;
    bool found = false;

    [[nodiscard]] auto other() const {
        return std::ranges::find(entries, LT_TRACE_OTHER, &lt_entry_rec::trace);
    }
};

Told told_of(const Descriptor& descriptor, pid_t pid, lt_traces traces) {
    lt_query query = plain_query();
    query.traces = traces;
    need(descriptor.query(query) == 0, "query");
    const auto snapshot = descriptor.records();
    Told told;
    for (uint32_t i = 0; i < snapshot.count(LT_SEC_TASKS); ++i) {
        const lt_task_rec& task = snapshot.task(i);
        if (task.pid != static_cast<uint32_t>(pid)) continue;
        told.found = true;
        told.traces_total = task.traces_total;
        for (uint32_t j = 0; j < task.n_entries; ++j)
            told.entries.push_back(snapshot.entry(task.first_entry + j));
    }
    return told;
}

/// As user a, of the same task at the same rest.
void compare(Checks& checks, pid_t pid) {
    const Descriptor descriptor(O_RDONLY);
    const Told all = told_of(descriptor, pid, LT_TRACES_ALL);
    checks.expect(all.found && all.entries.size() >= 2, "{} has {} stacks", pid,
                  all.entries.size());
    const auto hidden = all.other();
    if (hidden == all.entries.end()) {
        checks.expect(false, "{}: nothing is hidden", pid);
        return;
    }
    checks.expect(hidden->blocked_ns >= all_before_ns, "{} ns are hidden", hidden->blocked_ns);
    checks.expect(all.traces_total == all.entries.size(), "all: {} of {}", all.entries.size(),
                  all.traces_total);
    for (const lt_traces traces : {LT_TRACES_NONE, LT_TRACES_WORST, LT_TRACES_WORST_AND_ONGOING}) {
        const int which = static_cast<int>(traces);
        const Told some = told_of(descriptor, pid, traces);
        checks.expect(some.traces_total == all.traces_total, "traces {}: {} in all, {} by all",
                      which, some.traces_total, all.traces_total);
        checks.expect(some.entries.size() == (traces == LT_TRACES_NONE    ? 0U
                                              : traces == LT_TRACES_WORST ? 1U
                                                                          : 2U),
                      "traces {}: {} are shown", which, some.entries.size());
        if (traces == LT_TRACES_NONE) continue;
        const auto worst = some.other();
        checks.expect(worst != some.entries.end() && worst->blocked_ns == hidden->blocked_ns &&
                          worst->sleeps == hidden->sleeps && worst->max_ns == hidden->max_ns,
                      "traces {}: what is hidden is not what it is by all", which);
    }
}

/// Processes of root's become a's, and go on without a sleep while a asks for root's.
/// shared().state is odd while one waits to be read.
void check_former_user(Checks& checks) {
    constexpr uint64_t rounds = 20;
    shared().state = 0;
    std::fflush(stdout);
    const pid_t reader = begin([&] {
        become_mortal_a();
        const Descriptor descriptor(O_RDONLY);
        lt_query query = plain_query();
        query.uid = 0;
        need(descriptor.query(query) == 0, "query");
        Checks his;
        for (uint64_t i = 0; i < rounds; ++i) {
            while (shared().state != 2 * i + 1)
                continue;
            const auto snapshot = descriptor.records();
            shared().state = 2 * i + 2;
            his.expect(snapshot.count(LT_SEC_TASKS) == 0 && snapshot.header().tasks_matched == 0,
                       "{} tasks of root's are found, {} match", snapshot.count(LT_SEC_TASKS),
                       snapshot.header().tasks_matched);
        }
        need(his.conclude(), "by whose they were (above)");
    });
    for (uint64_t i = 0; i < rounds; ++i)
        end(begin([&] {
                usleep(10'000);
                become_user(user_a);
                set_dumpable(true);
                shared().state = 2 * i + 1;
                while (shared().state == 2 * i + 1)
                    continue;
            }),
            "who becomes a's");
    int status = 0;
    waitpid(reader, &status, 0);
    checks.expect(status == 0, "the reader of former users ended with {:#x}", status);
}

}  // namespace

void past(Checks& checks) {
    check_former_user(checks);
    const pid_t sleeper = begin(sleep_and_become_another);
    // Less than all that it slept before
    usleep(3 * before_ms * 1000 + 2'000'000);
    std::fflush(stdout);
    const pid_t reader = begin([&] {
        become_mortal_a();
        Checks his;
        compare(his, sleeper);
        need(his.conclude(), "what user a is shown (above)");
    });
    int status = 0;
    waitpid(reader, &status, 0);
    checks.expect(status == 0, "the reader ended with {:#x}", status);
    kill(sleeper, SIGKILL);
    waitpid(sleeper, nullptr, 0);
}

}  // namespace poke
