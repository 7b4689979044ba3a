// SPDX-License-Identifier: GPL-2.0-or-later
//
// See sample.h.
#include "tests/unit/support/sample.h"

namespace lattop::test {
namespace {

constexpr std::uint64_t kUs = 1'000;
constexpr std::uint64_t kSampleSince = 100 * kSecond;

enum TraceId : std::uint64_t { kLock = 11, kRead = 12, kEpoll = 13, kSleep = 14, kIdle = 15 };

struct Traces {
    std::uint32_t lock, read, epoll, sleep, idle;
};

Traces add_traces(SnapshotBuilder& builder) {
    Traces traces{};
    traces.lock = builder.add_trace(
        {.id = kLock,
         .kernel = {"schedule", "futex_wait_queue", "futex_wait", "do_futex", "__x64_sys_futex",
                    "do_syscall_64", "entry_SYSCALL_64_after_hwframe"},
         .user = {0x7f1000086f16, 0x55d000012345, 0x55d000013000, 0x7f10000891f5},
         .flags = LT_TR_FP,
         .syscall = 202});
    traces.read = builder.add_trace(
        {.id = kRead,
         .kernel = {"io_schedule", "folio_wait_bit_common", "filemap_get_pages", "filemap_read",
                    "ext4_file_read_iter [ext4]", "vfs_read", "ksys_read", "do_syscall_64",
                    "entry_SYSCALL_64_after_hwframe"},
         .user = {0x7f1000092a5d, 0x55d000020001, 0x55d000013000, 0x7f10000891f5},
         .flags = LT_TR_COMPLETE,
         .syscall = 0});
    traces.epoll = builder.add_trace(
        {.id = kEpoll,
         .kernel = {"schedule", "schedule_hrtimeout_range_clock", "ep_poll", "do_epoll_wait",
                    "do_syscall_64", "entry_SYSCALL_64_after_hwframe"},
         .user = {0x7f10000ff0e6},
         .flags = LT_TR_FP,
         .syscall = 232});
    traces.sleep = builder.add_trace(
        {.id = kSleep,
         .kernel = {"schedule", "do_nanosleep", "hrtimer_nanosleep", "__x64_sys_clock_nanosleep",
                    "do_syscall_64", "entry_SYSCALL_64_after_hwframe"},
         .user = {0x401136},
         .flags = LT_TR_FP | LT_TR_USER_FAULT,
         .syscall = 230});
    traces.idle =
        builder.add_trace({.id = kIdle,
                           .kernel = {"schedule", "worker_thread", "kthread", "ret_from_fork"},
                           .flags = LT_TR_COMPLETE | LT_TR_NO_USER});
    return traces;
}

/// What is asleep has begun one sleep more than have ended, and those are in the histogram.
EntrySpec asleep_for(std::uint64_t ns, EntrySpec entry) {
    entry.ongoing_ns = ns;
    entry.flags |= LT_E_ONGOING;
    ++entry.sleeps;
    entry.blocked_ns += ns;
    entry.max_ns = std::max(entry.max_ns, ns);
    return entry;
}

/// Two workers wait for a lock, the one between them reads.
void add_database(SnapshotBuilder& builder, const Traces& traces, std::uint64_t t) {
    for (std::uint32_t i = 0; i < 3; ++i) {
        const bool reads = i == 1;
        const std::uint64_t now = reads ? 3 * kMs : 12 * kMs;
        EntrySpec lock = {
            .trace = traces.lock,
            .blocked_ns = (600 + i) * kMs * t - (reads ? 0 : now),
            .sleeps = 30 * t - (reads ? 0 : 1),
            .max_ns = 180 * kMs,
            .hist = {{20, 5 * t - (reads ? 0 : 1)}, {23, 20 * t}, {25, 4 * t}, {27, t}}};
        EntrySpec read = {.trace = traces.read,
                          .blocked_ns = 250 * kMs * t - (reads ? now : 0),
                          .sleeps = 99 * t - (reads ? 1 : 0),
                          .max_ns = 9 * kMs,
                          .hist = {{18, 9 * t}, {21, 90 * t - (reads ? 2 : 1)}, {23, 1}}};
        (reads ? read : lock) = asleep_for(now, reads ? read : lock);
        builder.add_task({.pid = 1200 + i,
                          .tgid = 1200,
                          .comm = i == 0 ? "dbserver" : "db-worker/" + std::to_string(i),
                          .blocked_ns = lock.blocked_ns + read.blocked_ns + 3 * kMs,
                          .sleeps = 129 * t + 2,
                          .max_ns = 180 * kMs,
                          .ongoing_ns = now,
                          .runq_ns = 2 * kMs * t,
                          .runs = 129 * t + 1,
                          .uid = 112,
                          .start_ns = 5'000 + i,
                          .state = reads ? 'D' : 'S',
                          .flags = LT_T_ASLEEP | (reads ? __u32{LT_T_IOWAIT} : 0),
                          .cgroup = kSampleContainer,
                          .entries = {lock,
                                      read,
                                      {.blocked_ns = 3 * kMs,
                                       .sleeps = 2,
                                       .max_ns = 2 * kMs,
                                       .hist = {{19, 1}, {20, 1}}}}});
    }
}

void add_others(SnapshotBuilder& builder, const Traces& traces, std::uint64_t t) {
    builder.add_task({.pid = 877,
                      .comm = "nginx",
                      .blocked_ns = 950 * kMs * t,
                      .sleeps = 4'100 * t,
                      .max_ns = 40 * kMs,
                      .runq_ns = 900 * kUs * t,
                      .runs = 4'100 * t,
                      .uid = 33,
                      .state = 'R',
                      .flags = 0,
                      .cgroup = "/system.slice/nginx.service",
                      .entries = {{.trace = traces.epoll,
                                   .blocked_ns = 950 * kMs * t,
                                   .sleeps = 4'100 * t,
                                   .max_ns = 40 * kMs,
                                   .hist = {{17, 4'100 * t - 1}, {25, 1}}}}});
    // Its name tries to clear the screen. It has slept since soon after the module was loaded.
    const EntrySpec stuck = asleep_for(t * kSecond - 5 * kMs, {.trace = traces.sleep, .sleeps = 0});
    builder.add_task({.pid = 2001,
                      .comm = "evil\x1b[2J\xff",
                      .blocked_ns = stuck.blocked_ns,
                      .sleeps = stuck.sleeps,
                      .max_ns = stuck.max_ns,
                      .ongoing_ns = stuck.ongoing_ns,
                      .uid = 1000,
                      .cgroup = "/user.slice/evil\x1b[2J",
                      .entries = {stuck}});
    builder.add_task({.pid = 2050,
                      .tgid = 2049,
                      .comm = "brief",
                      .blocked_ns = 450 * kUs,
                      .sleeps = 2,
                      .max_ns = 400 * kUs,
                      .runq_ns = 20 * kUs,
                      .runs = 2,
                      .uid = 1000,
                      .state = 'X',
                      .flags = LT_T_EXITED,
                      .exec_id = 8,
                      .entries = {{.trace = traces.sleep,
                                   .blocked_ns = 450 * kUs,
                                   .sleeps = 2,
                                   .max_ns = 400 * kUs,
                                   .exec_id = 7,
                                   .hist = {{15, 1}, {18, 1}}}}});
    for (std::uint32_t pid : {12U, 45U}) {
        const EntrySpec idle =
            asleep_for(77 * kMs, {.trace = traces.idle,
                                  .blocked_ns = t * (kSecond - 20 * kUs) - 77 * kMs,
                                  .sleeps = 2 * t,
                                  .max_ns = 500 * kMs,
                                  .hist = {{28, 2 * t}}});
        builder.add_task({.pid = pid,
                          .comm = pid == 12 ? "kworker/0:1" : "kworker/1:2",
                          .blocked_ns = idle.blocked_ns,
                          .sleeps = idle.sleeps,
                          .max_ns = idle.max_ns,
                          .ongoing_ns = idle.ongoing_ns,
                          .runq_ns = 4 * kUs * t,
                          .runs = 2 * t,
                          .state = 'I',
                          .flags = LT_T_ASLEEP | LT_T_KTHREAD,
                          .cgroup = "/",
                          .entries = {idle}});
    }
    builder.add_task({.pid = 1500,
                      .comm = "cc1plus",
                      .blocked_ns = 77 * kMs,
                      .sleeps = 12,
                      .max_ns = 30 * kMs,
                      .runq_ns = 300 * kUs,
                      .runs = 12,
                      .uid = 1000,
                      .kind = LT_KIND_EXITED,
                      .state = 'X',
                      .flags = LT_T_EXITED,
                      .entries = {{.blocked_ns = 77 * kMs,
                                   .sleeps = 12,
                                   .max_ns = 30 * kMs,
                                   .hist = {{21, 8}, {22, 3}, {24, 1}}}}});
}

UserFramePtr frame(const char* symbol, std::uint64_t offset, const char* module,
                   const char* file = "", std::uint32_t line = 0) {
    return std::make_shared<UserFrame>(
        UserFrame{symbol, offset, module, std::string("/usr/bin/") + module, file, line, {}});
}

}  // namespace

SnapshotBuilder sample_machine(std::uint64_t seconds) {
    SnapshotBuilder builder;
    builder.header.since_ns = kSampleSince;
    builder.header.time_ns = kSampleSince + seconds * kSecond;
    const Traces traces = add_traces(builder);
    add_database(builder, traces, seconds);
    add_others(builder, traces, seconds);
    // All sleeps that stand under [other].
    builder.header.lost[LT_LOST_entry_pool] = 3 * 2 + 12;
    builder.header.used[LT_LIMIT_EXITED] = 1;
    builder.header.user_share = 50;
    std::ranges::fill_n(builder.header.share, LT_HELD_NR, 8192);
    builder.users = {{33, 0, {1, 1, 1}}, {112, 0, {3, 6, 2}}, {1000, 0, {2, 2, 1, 0, 0, 1, 1}}};
    return builder;
}

SampleStacks::SampleStacks() {
    stacks_[kLock] = {{frame("", 0x86f16, "libc.so.6"),
                       frame("db::BufferPool::acquire(db::PageId, std::chrono::nanoseconds)", 0x45,
                             "dbserver", "/src/db/buffer_pool.cc", 210),
                       frame("db::worker_main(void*)", 0x100, "dbserver", "/src/db/main.cc", 77),
                       frame("", 0x891f5, "libc.so.6")},
                      1};
    stacks_[kRead] = {
        {frame("read", 0xd, "libc.so.6"), frame("db::Log::replay() const", 0x11, "dbserver"),
         frame("db::worker_main(void*)", 0x100, "dbserver", "/src/db/main.cc", 77),
         frame("", 0x891f5, "libc.so.6")},
        1};
    stacks_[kEpoll] = {{frame("epoll_wait", 0x56, "libc.so.6")}, UserStack::kNone};
}

const UserStack* SampleStacks::find(const StackId& id) const {
    const auto found = stacks_.find(id.trace_id);
    return found == stacks_.end() ? nullptr : &found->second;
}

const std::string& SampleUsers::name(std::uint32_t uid) {
    static const std::map<std::uint32_t, std::string> names = {
        {0, "root"}, {33, "www-data"}, {112, "postgres"}, {1000, "\x1b]0;title\a"}};
    const auto found = names.find(uid);
    name_ = found == names.end() ? std::to_string(uid) : found->second;
    return name_;
}

}  // namespace lattop::test
