// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/reasons/reasons.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "lattop/model/kernel_stack.h"
#include "lattop/reasons/load.h"
#include "lattop/source/error.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"
#include "tests/unit/support/sample.h"

namespace lattop::test {
namespace {

/// Names for every stack, which a test may change.
class NamedStacks final : public UserStacks {
public:
    void want(const Snapshot& /*snapshot*/) override {}
    bool collect() override { return false; }
    void want_live(const Task& /*task*/) override {}
    [[nodiscard]] int ready_fd() const override { return -1; }
    [[nodiscard]] const UserStack* find(const StackId& /*id*/) const override {
        return stack.frames.empty() ? nullptr : &stack;
    }
    [[nodiscard]] const LiveNames* find_live(const Task& /*task*/) const override {
        return nullptr;
    }
    void name(std::vector<std::string> functions) {
        stack.frames.clear();
        stack.version = new_version();
        for (const std::string& function : functions) {
            UserFrame frame;
            frame.symbol = function;
            stack.frames.push_back(std::make_shared<const UserFrame>(frame));
        }
    }

    UserStack stack;
};

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t at = text.find(separator);
        parts.push_back(text.substr(0, at));
        if (at == std::string_view::npos) return parts;
        text.remove_prefix(at + separator.size());
    }
}

/// A task that waits for a futex, with two user frames.
Snapshot futex_snapshot() {
    SnapshotBuilder builder;
    const auto trace = builder.add_trace(
        {.kernel = {"schedule", "futex_wait_queue", "do_futex"}, .user = {0x10, 0x20}});
    builder.add_task({.entries = {{.trace = trace}}});
    return builder.snapshot();
}

}  // namespace

TEST_CASE("stacks recorded on four kernels have the reason they were made for") {
    const ReasonTable table = built_in_reasons();
    std::ifstream file(LATTOP_TEST_REASONS "/recorded-waits.txt");
    std::size_t checked = 0;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) continue;
        const auto fields = split(line, "\t");
        REQUIRE(fields.size() == 3);
        FunctionStack stack;
        for (const std::string_view name : split(fields[2], " < "))
            stack.kernel.push_back(plain_name(name));
        const Reason* reason = table.decide(stack);
        INFO(line);
        REQUIRE(reason != nullptr);
        CHECK(reason->name + (reason->idle ? "*" : "") == fields[1]);
        ++checked;
    }
    CHECK(checked > 130);
}

TEST_CASE("what a trace cannot show on every machine has its reason by the names of kernels") {
    struct Case {
        std::vector<std::string_view> kernel;
        const char* reason;
        std::vector<std::string_view> user = {};
    };
    const std::vector<Case> cases = {
        {{"schedule", "__mutex_lock", "ext4_readdir"}, "kernel mutex"},
        {{"schedule", "rwsem_down_read_slowpath", "do_user_addr_fault"}, "mmap lock"},
        {{"schedule", "rwsem_down_write_slowpath", "ext4_truncate"}, "kernel rwsem"},
        {{"schedule_rtlock", "rtlock_slowlock_locked", "rt_spin_lock"}, "kernel spin"},
        {{"io_schedule", "folio_wait_bit_common", "__lock_page_or_retry", "do_swap_page"}, "swap"},
        {{"schedule", "reclaim_throttle", "shrink_node", "try_to_free_pages"}, "reclaim"},
        {{"schedule", "rpc_wait_bit_killable", "__rpc_execute", "nfs_file_fsync"}, "NFS"},
        {{"schedule", "request_wait_answer", "fuse_file_read_iter"}, "fuse"},
        {{"schedule", "fuse_dev_do_read", "fuse_dev_read", "vfs_read"}, "fuse server"},
        {{"schedule", "schedule_timeout", "svc_recv", "nfsd", "kthread"}, "idle"},
        {{"schedule", "rpc_wait_bit_killable", "nfsd4_probe", "nfsd", "kthread"}, "NFS"},
        {{"schedule", "svc_recv", "nfs4_callback_svc", "kthread"}, "idle"},
        {{"schedule", "tcp_recvmsg", "cifs_read_from_socket", "cifs_demultiplex_thread"}, "idle"},
        {{"schedule", "md_thread", "kthread"}, "idle"},
        {{"schedule", "md_do_sync", "md_thread", "kthread"}, "disk"},
        {{"schedule", "balance_dirty_pages", "ext4_file_write_iter"}, "dirty pages"},
        {{"schedule", "process_one_work", "worker_thread", "kthread"}, "kernel work"},
        {{"schedule", "some_new_thread", "kthread"}, "kernel thread"},
        {{"futex_wait_queue", "do_futex"}, "condition", {"", "pthread_cond_wait", "main"}},
        {{"futex_wait_queue", "do_futex"}, "mutex", {"", "pthread_mutex_lock", "main"}},
        {{"futex_wait_queue", "do_futex"}, "malloc lock", {"", "malloc", "main"}},
        {{"futex_wait_queue", "do_futex"}, "semaphore", {"sem_wait", "main"}},
        {{"futex_wait_queue", "do_futex"}, "job queue", {"runtime.futex", "runtime.stopm"}},
        {{"do_sys_poll"}, "database", {"poll", "PQgetResult", "main"}},
        {{"do_sys_poll"}, "DNS reply", {"poll", "getaddrinfo"}},
        {{"do_sys_poll"}, "D-Bus reply", {"ppoll", "sd_bus_call", "main"}},
        {{"do_sys_poll"}, "name service", {"poll", "__nscd_getpw_r", "getpwnam"}},
        {{"do_sys_poll"}, "LDAP reply", {"poll", "wait4msg", "ldap_result", "main"}},
        {{"do_sys_poll"}, "X reply", {"poll", "xcb_wait_for_reply64", "XSync"}},
        {{"do_sys_poll"}, "socket recv", {"poll", "internal_select", "sock_call_ex", "sock_recv"}},
        {{"do_sys_poll"}, "accept", {"poll", "internal_select", "sock_call_ex", "sock_accept"}},
        {{"do_sys_poll"}, "poll", {"poll", "g_main_context_iterate", "g_main_loop_run"}},
    };
    const ReasonTable table = built_in_reasons();
    for (const Case& one : cases) {
        const Reason* reason = table.decide({one.kernel, one.user});
        INFO(one.reason);
        REQUIRE(reason != nullptr);
        CHECK(reason->name == one.reason);
    }
}

TEST_CASE("reasons of what is gone are forgotten as refreshes show others") {
    Reasons reasons;
    NamedStacks stacks;
    stacks.name({"pthread_cond_wait", "main"});
    std::uint32_t id = 1;
    const auto rounds_until = [&](std::uint32_t end) {
        for (; id < end; ++id) {
            SnapshotBuilder builder;
            const auto trace = builder.add_trace(
                {.id = id, .kernel = {"futex_wait_queue", "do_futex"}, .user = {0x10, 0x20}});
            builder.add_task({.pid = id, .entries = {{.trace = trace}}});
            const Snapshot snapshot = builder.snapshot();
            reasons.forget_unseen(snapshot);
            CHECK(reasons.of_worst(snapshot, snapshot.tasks.at(0), stacks).name == "condition");
        }
    };
    rounds_until(10'000);
    const std::size_t soon = reasons.remembered();
    rounds_until(15'000);
    CHECK(reasons.remembered() == soon);
}

TEST_CASE("where no line decides, the telling function is the reason") {
    SnapshotBuilder builder;
    const auto trace = builder.add_trace({.kernel = {"schedule", "frobnicate.isra.0"}});
    const auto empty = builder.add_trace({.id = 2});
    builder.add_task({.entries = {{.trace = trace}, {.trace = empty}, {}}});
    builder.add_task({.pid = 2});
    const Snapshot snapshot = builder.snapshot();
    const NamedStacks stacks;
    Reasons reasons;
    const Task& task = snapshot.tasks.at(0);
    const auto name = [&](std::size_t entry) {
        return reasons.of(snapshot, task, snapshot.entries.at(entry), stacks).name;
    };
    CHECK(name(0) == "frobnicate");
    CHECK(name(0) == "frobnicate");
    CHECK(name(1) == "[other]");
    CHECK(name(2) == "[other]");
    CHECK(reasons.of_worst(snapshot, snapshot.tasks.at(1), stacks).name.empty());
}

TEST_CASE("a trace of another load of the module is another trace") {
    const NamedStacks names;
    Reasons reasons;
    const auto name = [&](const std::string& function, std::uint64_t load) {
        SnapshotBuilder builder;
        const auto trace = builder.add_trace({.id = 7, .kernel = {"schedule", function}});
        builder.add_task({.entries = {{.trace = trace}}});
        Snapshot snapshot = builder.snapshot();
        snapshot.header.load = load;
        return reasons.of_worst(snapshot, snapshot.tasks.at(0), names).name;
    };
    CHECK(name("pipe_read", 1) == "pipe read");
    CHECK(name("frobnicate", 2) == "frobnicate");
    CHECK(name("pipe_read", 3) == "pipe read");
}

TEST_CASE("names that come later change what depends on them") {
    const Snapshot snapshot = futex_snapshot();
    NamedStacks stacks;
    Reasons reasons;
    const auto name = [&] { return reasons.of_worst(snapshot, snapshot.tasks.at(0), stacks).name; };
    CHECK(name() == "futex");
    stacks.name({"x", "pthread_cond_wait(pthread_cond_t*)"});
    CHECK(name() == "condition");
    CHECK(name() == "condition");
    stacks.name({"x", "pthread_mutex_lock"});
    CHECK(name() == "mutex");
    stacks.name({});
    CHECK(name() == "futex");
}

TEST_CASE("a template's function is known without what it returns") {
    const Snapshot snapshot = futex_snapshot();
    NamedStacks stacks;
    const TempFolder folder;
    const std::string path = folder.path() + "/reasons.conf";
    std::ofstream(path) << "my queue: futex_*<user:my::Queue::pop*\nmy js: futex_*<user:JS:my::*\n";
    Reasons reasons(load_reasons(path));
    const auto name = [&] { return reasons.of_worst(snapshot, snapshot.tasks.at(0), stacks).name; };
    stacks.name({"x", "void my::Queue::pop<int>(int)"});
    CHECK(name() == "my queue");
    stacks.name({"x", "unsigned long my::Queue::pop<std::less<int> >(my::Queue*) [clone .cold]"});
    CHECK(name() == "my queue");
    stacks.name({"x", "std::enable_if<((sizeof (int))>(4)), int>::type my::Queue::pop<int>(long)"});
    CHECK(name() == "my queue");
    stacks.name({"x", "decltype (x->y) my::Queue::pop<int>(unsigned long, int)"});
    CHECK(name() == "my queue");
    stacks.name({"x", "JS:my::Queue::pop /srv/app.js"});
    CHECK(name() == "my js");
}

TEST_CASE("of a recording with ever other functions some are reasons of their own") {
    Reasons reasons;
    const NamedStacks stacks;
    std::size_t others = 0, named = 0;
    for (int i = 0; i < 80; ++i) {
        SnapshotBuilder builder;
        for (int j = 0; j < 1000; ++j) {
            const auto trace =
                builder.add_trace({.id = static_cast<std::uint64_t>(i * 1000 + j + 1),
                                   .kernel = {"schedule", fmt::format("f{}_{}", i, j)}});
            builder.add_task({.entries = {{.trace = trace}}});
        }
        const Snapshot snapshot = builder.snapshot();
        for (const Task& task : snapshot.tasks)
            ++(reasons.of_worst(snapshot, task, stacks).name == "[other]" ? others : named);
    }
    CHECK(named == 65536);
    CHECK(others == 80'000 - 65536);
}

TEST_CASE("a reason that is kept keeps no names") {
    const Snapshot snapshot = futex_snapshot();
    NamedStacks stacks;
    Reasons reasons;
    stacks.name({"x", "pthread_cond_wait"});
    const std::weak_ptr<const UserFrame> frame = stacks.stack.frames.at(0);
    CHECK(reasons.of_worst(snapshot, snapshot.tasks.at(0), stacks).name == "condition");
    stacks.name({});
    CHECK(frame.expired());
}

TEST_CASE("the user's file is tried before lattop's own") {
    const auto folder = std::filesystem::temp_directory_path() / "lattop-reasons-test";
    std::filesystem::create_directories(folder);
    const std::string path = folder / "reasons.conf";
    std::ofstream(path) << "my lock: futex_*\n";
    const ReasonTable table = load_reasons(path);
    CHECK(table.decide({{"futex_wait"}, {}})->name == "my lock");
    CHECK(table.decide({{"futex_wait"}, {}})->decided == path + ":1");
    CHECK(table.decide({{"pipe_read"}, {}})->name == "pipe read");

    std::ofstream(path) << "\nwrong\n";
    CHECK_THROWS_WITH(load_reasons(path), has_text(path + ":2: 'wrong' is not understood"));
    std::filesystem::remove_all(folder);
    CHECK(load_reasons(path).lines() == built_in_reasons().lines());
    CHECK(load_reasons("").lines() == built_in_reasons().lines());
    CHECK_THROWS_WITH(load_reasons("/proc"), has_text("cannot read /proc"));
}

TEST_CASE("a pipe or a device in the place of the user's file is refused, not read") {
    const TempFolder folder;
    const std::string path = folder.path() + "/reasons.conf";
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    CHECK_THROWS_WITH(load_reasons(path), has_text("not a regular file"));
    CHECK_THROWS_WITH(load_reasons("/dev/zero"), has_text("not a regular file"));
    // Regular ones by their mode, and what is read of /proc/kmsg nobody else gets
    CHECK_THROWS_WITH(load_reasons("/proc/self/status"), has_text("the kernel's own files"));
    std::filesystem::remove(path);
    std::ofstream(path) << std::string((1U << 20) + 1, '#');
    CHECK_THROWS_WITH(load_reasons(path), has_text("larger than 1 MiB"));
}

TEST_CASE("the user's file is where the XDG specification has it") {
    const char* home = std::getenv("HOME");
    const std::string before = home == nullptr ? "" : home;
    ::setenv("HOME", "/home/me", 1);
    ::setenv("XDG_CONFIG_HOME", "/etc/xdg-of-me", 1);
    CHECK(user_reasons_path() == "/etc/xdg-of-me/lattop/reasons.conf");
    ::setenv("XDG_CONFIG_HOME", "relative", 1);
    CHECK(user_reasons_path() == "/home/me/.config/lattop/reasons.conf");
    ::unsetenv("XDG_CONFIG_HOME");
    CHECK(user_reasons_path() == "/home/me/.config/lattop/reasons.conf");
    ::unsetenv("HOME");
    CHECK(user_reasons_path().empty());
    if (home != nullptr) ::setenv("HOME", before.c_str(), 1);
}

}  // namespace lattop::test
