// SPDX-License-Identifier: GPL-2.0-or-later
//
// The golden screens show the sample machine: what it says must be what a machine could say, by
// the rules of module/uapi/lattop.h.
#include <bit>
#include <numeric>

#include "tests/unit/support/catch.h"
#include "tests/unit/support/sample.h"

namespace lattop::test {
namespace {

std::uint64_t least_of(const Histogram& hist) {
    std::uint64_t ns = 0;
    for (std::size_t i = 1; i < hist.size(); ++i)
        ns += hist[i] << i;
    return ns;
}

std::size_t bucket_of(std::uint64_t ns) {
    return ns < 2 ? 0 : static_cast<std::size_t>(std::bit_width(ns) - 1);
}

void check_entry(const Task& task, const Entry& entry) {
    const bool ongoing = (entry.flags & LT_E_ONGOING) != 0;
    const std::uint64_t ended = entry.sleeps - (ongoing ? 1 : 0);
    const std::uint64_t ended_ns = entry.blocked_ns - entry.ongoing_ns;
    CHECK(std::accumulate(entry.hist.begin(), entry.hist.end(), std::uint64_t{0}) == ended);
    CHECK(least_of(entry.hist) <= ended_ns);
    CHECK(ended_ns < 2 * least_of(entry.hist) + ended + 1);
    CHECK(ended_ns <= ended * entry.max_ns);
    if (ended != 0 && entry.max_ns != entry.ongoing_ns)
        CHECK(entry.hist[bucket_of(entry.max_ns)] != 0);
    CHECK(entry.max_ns >= entry.ongoing_ns);
    CHECK(entry.max_ns <= task.max_ns);
    CHECK(entry.exec_id <= task.exec_id);
    if (ongoing) CHECK((task.asleep() && entry.ongoing_ns == task.ongoing_ns));
}

void check_task(const Snapshot& snapshot, const Task& task) {
    const std::uint64_t wall_ns = snapshot.header.time_ns - snapshot.header.since_ns;
    std::uint64_t blocked_ns = 0;
    std::uint64_t sleeps = 0;
    std::uint64_t max_ns = 0;
    int ongoing = 0;
    for (const Entry& entry : snapshot.entries_of(task)) {
        check_entry(task, entry);
        blocked_ns += entry.blocked_ns;
        sleeps += entry.sleeps;
        max_ns = std::max(max_ns, entry.max_ns);
        if ((entry.flags & LT_E_ONGOING) != 0) ++ongoing;
        const Trace* trace = snapshot.trace_of(entry);
        if (trace == nullptr) continue;
        CHECK(((trace->flags & LT_TR_NO_USER) != 0) == task.kernel_thread());
        if (task.kernel_thread()) CHECK(trace->nr_user == 0);
    }
    CHECK(task.blocked_ns == blocked_ns);
    CHECK(task.sleeps == sleeps);
    CHECK(task.max_ns == max_ns);
    CHECK(ongoing == (task.asleep() ? 1 : 0));
    if (task.kind == LT_KIND_TASK) CHECK(task.blocked_ns + task.runq_ns <= wall_ns);
    CHECK(task.runs <= task.sleeps + 1);
    CHECK(task.asleep() == (task.state != 'R' && task.state != 'X'));
    CHECK(task.exited() == (task.state == 'X'));
}

}  // namespace

TEST_CASE("the sample machine is a possible one") {
    for (const std::uint64_t seconds : {10U, 12U, 14U, 110U}) {
        const Snapshot snapshot = sample_machine(seconds).snapshot();
        const Snapshot before = sample_machine(seconds - 2).snapshot();
        std::uint64_t without_trace = 0;
        for (std::size_t i = 0; i < snapshot.tasks.size(); ++i) {
            const Task& task = snapshot.tasks[i];
            INFO(task.comm << " after " << seconds << " s");
            check_task(snapshot, task);
            CHECK(task.blocked_ns - before.tasks[i].blocked_ns + task.runq_ns -
                      before.tasks[i].runq_ns <=
                  2 * kSecond);
            for (const Entry& entry : snapshot.entries_of(task))
                if (snapshot.trace_of(entry) == nullptr) without_trace += entry.sleeps;
        }
        CHECK(snapshot.header.lost[LT_LOST_entry_pool] == without_trace);
        for (const UserHoldings& user : snapshot.header.users)
            CHECK(user.held[LT_HELD_tasks] ==
                  std::ranges::count_if(snapshot.tasks, [&](const Task& task) {
                      return task.uid == user.uid && task.kind == LT_KIND_TASK;
                  }));
    }
}

}  // namespace lattop::test
