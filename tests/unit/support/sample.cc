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
         .user = {0x7f1000092a5d, 0x55d000020001, 0x55d000013000},
         .flags = LT_TR_COMPLETE | LT_TR_FP,
         .syscall = 0});
    traces.epoll = builder.add_trace(
        {.id = kEpoll,
         .kernel = {"schedule", "schedule_hrtimeout_range_clock", "ep_poll", "do_epoll_wait",
                    "do_syscall_64", "entry_SYSCALL_64_after_hwframe"},
         .user = {0x7f10000ff0e6},
         .flags = LT_TR_FP,
         .syscall = 232});
    traces.sleep = builder.add_trace({.id = kSleep,
                                      .kernel = {"schedule", "do_nanosleep", "hrtimer_nanosleep"},
                                      .user = {0x401136},
                                      .flags = LT_TR_FP | LT_TR_USER_FAULT,
                                      .syscall = 230});
    traces.idle = builder.add_trace({.id = kIdle,
                                     .kernel = {"schedule", "worker_thread", "kthread"},
                                     .flags = LT_TR_COMPLETE | LT_TR_NO_USER});
    return traces;
}

void add_database(SnapshotBuilder& builder, const Traces& traces, std::uint64_t t) {
    for (std::uint32_t i = 0; i < 3; ++i) {
        const std::uint64_t lock = (600 + i) * kMs * t;
        const std::uint64_t read = 250 * kMs * t;
        builder.add_task({.pid = 1200 + i,
                          .tgid = 1200,
                          .comm = i == 0 ? "dbserver" : "db-worker/" + std::to_string(i),
                          .blocked_ns = lock + read + 3 * kMs,
                          .sleeps = 130 * t,
                          .max_ns = 180 * kMs,
                          .ongoing_ns = 12 * kMs,
                          .runq_ns = 2 * kMs * t,
                          .runs = 131 * t,
                          .uid = 112,
                          .start_ns = 5'000 + i,
                          .cgroup = kSampleContainer,
                          .entries = {{.trace = traces.lock,
                                       .blocked_ns = lock,
                                       .sleeps = 30 * t,
                                       .max_ns = 180 * kMs,
                                       .ongoing_ns = 12 * kMs,
                                       .flags = LT_E_ONGOING,
                                       .hist = {{20, 5 * t}, {23, 20 * t}, {25, 4 * t}, {27, t}}},
                                      {.trace = traces.read,
                                       .blocked_ns = read,
                                       .sleeps = 99 * t,
                                       .max_ns = 9 * kMs,
                                       .hist = {{18, 9 * t}, {21, 90 * t}}},
                                      {.blocked_ns = 3 * kMs, .sleeps = t, .max_ns = 2 * kMs}}});
    }
}

void add_others(SnapshotBuilder& builder, const Traces& traces, std::uint64_t t) {
    builder.add_task({.pid = 877,
                      .comm = "nginx",
                      .blocked_ns = 995 * kMs * t,
                      .sleeps = 4'100 * t,
                      .max_ns = 40 * kMs,
                      .runq_ns = 900 * kUs * t,
                      .runs = 4'100 * t,
                      .uid = 33,
                      .state = 'R',
                      .flags = 0,
                      .cgroup = "/system.slice/nginx.service",
                      .entries = {{.trace = traces.epoll,
                                   .blocked_ns = 995 * kMs * t,
                                   .sleeps = 4'100 * t,
                                   .max_ns = 40 * kMs,
                                   .hist = {{17, 4'100 * t}}}}});
    // Its name tries to clear the screen.
    builder.add_task({.pid = 2001,
                      .comm = "evil\x1b[2J\xff",
                      .blocked_ns = t * kSecond,
                      .sleeps = 1,
                      .max_ns = t * kSecond,
                      .ongoing_ns = t * kSecond,
                      .uid = 1000,
                      .state = 'D',
                      .cgroup = "/user.slice/evil\x1b[2J",
                      .entries = {{.trace = traces.sleep,
                                   .blocked_ns = t * kSecond,
                                   .sleeps = 1,
                                   .max_ns = t * kSecond,
                                   .ongoing_ns = t * kSecond,
                                   .flags = LT_E_ONGOING}}});
    builder.add_task({.pid = 2050,
                      .tgid = 2049,
                      .comm = "brief",
                      .blocked_ns = 450 * kUs,
                      .sleeps = 2,
                      .max_ns = 400 * kUs,
                      .uid = 1000,
                      .state = 'X',
                      .flags = LT_T_EXITED,
                      .entries = {{.trace = traces.sleep,
                                   .blocked_ns = 450 * kUs,
                                   .sleeps = 2,
                                   .max_ns = 400 * kUs,
                                   .exec_id = 7}}});
    for (std::uint32_t pid : {12U, 45U})
        builder.add_task({.pid = pid,
                          .comm = pid == 12 ? "kworker/0:1" : "kcompactd0",
                          .blocked_ns = t * kSecond,
                          .sleeps = 2 * t,
                          .max_ns = 500 * kMs,
                          .ongoing_ns = 77 * kMs,
                          .state = 'I',
                          .flags = LT_T_ASLEEP | LT_T_KTHREAD,
                          .cgroup = "/",
                          .entries = {{.trace = traces.idle,
                                       .blocked_ns = t * kSecond,
                                       .sleeps = 2 * t,
                                       .max_ns = 500 * kMs,
                                       .ongoing_ns = 77 * kMs,
                                       .flags = LT_E_ONGOING}}});
    builder.add_task({.pid = 0,
                      .tgid = 1500,
                      .comm = "cc1plus",
                      .blocked_ns = 77 * kMs,
                      .sleeps = 12,
                      .max_ns = 30 * kMs,
                      .uid = 1000,
                      .kind = LT_KIND_EXITED,
                      .state = 'X',
                      .flags = LT_T_EXITED});
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
    builder.header.user_share = 50;
    std::ranges::fill_n(builder.header.share, LT_HELD_NR, 8192);
    builder.users = {{112, 0, {5, 11, 4}}, {1000, 0, {1}}};
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
         frame("db::worker_main(void*)", 0x100, "dbserver")},
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
