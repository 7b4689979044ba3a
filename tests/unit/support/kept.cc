// SPDX-License-Identifier: GPL-2.0-or-later
//
// See kept.h. A change here makes later recordings tell something else than those that are kept,
// and the test of them fail: what a later format adds stands beside what is there.
#include "tests/unit/support/kept.h"

#include "lattop/recording/writer.h"
#include "tests/unit/support/fakes.h"
#include "tests/unit/support/sample.h"

namespace lattop::test {
namespace {

constexpr std::uint64_t kBegun = 1'790'000'000'000'000'000;

enum KeptTrace : std::uint64_t { kWait = 71, kWake = 72, kDisk = 73 };

/// After so many seconds, of which the waiter has waited three quarters.
Snapshot kept_machine(std::uint64_t seconds) {
    SnapshotBuilder builder;
    builder.header.since_ns = 500 * kSecond;
    builder.header.time_ns = builder.header.since_ns + seconds * kSecond;
    builder.header.lost[LT_LOST_user_cut] = 3;
    builder.header.user_share = 50;
    builder.header.share[LT_HELD_tasks] = 8192;
    builder.users = {{1000, 0, {2, 2, 3}}};
    const auto wait = builder.add_trace({.id = kWait,
                                         .kernel = {"schedule", "futex_wait", "do_syscall_64"},
                                         .user = {0x7f0000001234, 0x401136},
                                         .flags = LT_TR_USER_CUT,
                                         .syscall = 202});
    const auto wake = builder.add_trace(
        {.id = kWake, .kernel = {"futex_wake", "do_syscall_64"}, .user = {0x401200}});
    const auto disk = builder.add_trace({.id = kDisk,
                                         .kernel = {"io_schedule", "ext4_sync_file [ext4]"},
                                         .user = {0x401300},
                                         .syscall = 74});
    const std::uint64_t blocked = 750 * kMs * seconds;
    builder.add_task({.pid = 4001,
                      .tgid = 4000,
                      .comm = "waiter",
                      .blocked_ns = blocked,
                      .sleeps = 3 * seconds,
                      .max_ns = 260 * kMs,
                      .ongoing_ns = 200 * kMs,
                      .runq_ns = 2 * kMs,
                      .runs = 3 * seconds - 1,
                      .uid = 1000,
                      .start_ns = 77'000,
                      .exec_id = 2,
                      .cgroup = kSampleContainer,
                      .entries = {{.trace = wait,
                                   .blocked_ns = blocked,
                                   .sleeps = 3 * seconds,
                                   .max_ns = 260 * kMs,
                                   .ongoing_ns = 200 * kMs,
                                   .flags = LT_E_ONGOING,
                                   .exec_id = 2,
                                   .hist = {{27, 3 * seconds - 1}},
                                   .wakers = {{.trace = wake,
                                               .pid = 4002,
                                               .comm = "holder",
                                               .blocked_ns = blocked - 200 * kMs,
                                               .sleeps = 3 * seconds - 1,
                                               .exec_id = 2,
                                               .waited_trace = disk,
                                               .waited_ns = 400 * kMs,
                                               .tgid = 4000}}}}});
    builder.add_task({.pid = 4002,
                      .tgid = 4000,
                      .comm = "holder",
                      .blocked_ns = 500 * kMs * seconds,
                      .sleeps = 4 * seconds,
                      .max_ns = 130 * kMs,
                      .runs = 4 * seconds,
                      .uid = 1000,
                      .start_ns = 77'001,
                      .state = 'R',
                      .flags = 0,
                      .exec_id = 2,
                      .cgroup = kSampleContainer,
                      .entries = {{.trace = disk,
                                   .blocked_ns = 500 * kMs * seconds,
                                   .sleeps = 4 * seconds,
                                   .max_ns = 130 * kMs,
                                   .exec_id = 2,
                                   .hist = {{26, 4 * seconds}}}}});
    return builder.snapshot();
}

class KeptStacks final : public UserStacks {
public:
    KeptStacks() {
        UserFrame lock{"pthread_mutex_lock", 0x20, "libc.so.6", "/usr/lib/libc.so.6", "", 0, {}};
        UserFrame order{"shop::order(int)", 0x16, "shop", "/opt/shop/bin/shop",
                        "/src/order.cc",    42,   {}};
        order.inlined.push_back({"shop::guard()", "/src/guard.h", 7});
        stacks_[kWait] = {{std::make_shared<UserFrame>(lock), std::make_shared<UserFrame>(order)},
                          1};
        UserFrame sync{"shop::journal()", 0x8, "shop", "/opt/shop/bin/shop",
                       "/src/journal.cc", 9,   {}};
        stacks_[kDisk] = {{std::make_shared<UserFrame>(sync)}, 0};
    }
    void want(const Snapshot& /*snapshot*/) override {}
    bool collect() override { return false; }
    void want_live(const Task& /*task*/) override {}
    [[nodiscard]] int ready_fd() const override { return -1; }
    [[nodiscard]] const UserStack* find(const StackId& id) const override {
        const auto found = stacks_.find(id.trace_id);
        return found == stacks_.end() ? nullptr : &found->second;
    }
    [[nodiscard]] const LiveNames* find_live(const Task& /*task*/) const override {
        return nullptr;
    }

private:
    std::map<std::uint64_t, UserStack> stacks_;
};

class KeptUsers final : public Users {
public:
    const std::string& name(std::uint32_t uid) override {
        name_ = uid == 1000 ? "alice" : "";
        return name_;
    }

private:
    std::string name_;
};

}  // namespace

std::vector<std::byte> kept_recording() {
    std::vector<std::byte> bytes;
    KeptStacks stacks;
    KeptUsers users;
    FakeCgroups cgroups;
    cgroups.call(kSampleContainer, "docker:shop");
    recording::Writer writer(
        [&](std::span<const std::byte> more) {
            bytes.insert(bytes.end(), more.begin(), more.end());
        },
        {{"host", "kept"}, {"kernel", "6.1.0"}, {"lattop", "0.1.0"}, {"command", "shop --open"}},
        kBegun);
    for (std::uint64_t n = 0; n < 3; ++n) {
        const Snapshot snapshot = kept_machine(10 + n);
        writer.add(snapshot, {stacks, users, cgroups}, kBegun + n * kSecond);
        const auto sleep = sleep_of(snapshot, snapshot.tasks.at(0));
        writer.add_objects({snapshot.header.time_ns, {{sleep.value(), "mutex order_lock"}}},
                           kBegun + n * kSecond);
    }
    writer.end(kBegun + 3 * kSecond);
    return bytes;
}

}  // namespace lattop::test
