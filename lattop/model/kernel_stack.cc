// SPDX-License-Identifier: GPL-2.0-or-later
//
// See kernel_stack.h. Both tables are read against the innermost frames first.
// Names are those of kernels 5.10 to 7.2; a name that one of them lacks costs
// nothing. A trailing '*' matches any ending.
#include "lattop/model/kernel_stack.h"

#include <algorithm>
#include <array>

namespace lattop {
namespace {

/// How a task waits, never for what.
constexpr auto kWaiting = std::to_array<std::string_view>({
    "__schedule",
    "schedule",
    "schedule_idle",
    "schedule_preempt_disabled",
    "schedule_rtlock",
    "schedule_timeout*",
    "schedule_hrtimeout*",
    "io_schedule*",
    "preempt_schedule*",
    "__cond_resched",
    "__traceiter_*",
    "wait_woken",
    "bit_wait*",
    "__wait_on_bit*",
    "out_of_line_wait_on_bit*",
    "wait_on_bit*",
    "__wait_on_buffer",
    "do_wait_for_common",
    "__wait_for_common",
    "wait_for_common*",
    "wait_for_completion*",
    "__wait_rcu_gp",
    "rt_mutex_schedule",
    "__rt_mutex_slowlock*",
    "rt_mutex_slowlock*",
    "rt_mutex_handle_deadlock",
    "__mutex_lock*",
    "__ww_mutex_lock*",
    "mutex_lock*",
    "rwsem_down_*",
    "__down_read*",
    "__down_write*",
    "down_read*",
    "down_write*",
    "__down*",
    "down",
    "down_interruptible",
    "down_killable",
    "percpu_rwsem_wait",
    "__percpu_down_read",
    "rtlock_slowlock*",
    "rt_spin_lock*",
    "__rt_spin_lock*",
    "folio_wait_bit*",
    "wait_on_page_bit*",
    "__lock_page*",
    "__folio_lock*",
    "folio_wait_writeback",
    "wait_on_page_writeback",
    "poll_schedule_timeout*",
    "do_nanosleep",
    "freezable_schedule*",
});

struct Kind {
    std::string_view function;
    std::string_view reason;
};

/// The first match from the innermost frame outwards is the kind of wait; the
/// general waiting functions count only where nothing else matches.
constexpr auto kKinds = std::to_array<Kind>({
    {"futex_*", "futex"},
    {"__futex_*", "futex"},
    {"do_futex", "futex"},
    {"do_nanosleep", "sleep"},
    {"hrtimer_nanosleep", "sleep"},
    {"usleep_range*", "sleep"},
    {"msleep*", "sleep"},
    {"ep_poll", "epoll"},
    {"do_epoll_*", "epoll"},
    {"do_poll*", "poll"},
    {"do_sys_poll", "poll"},
    {"do_select", "select"},
    {"core_sys_select", "select"},
    {"pipe_read", "pipe"},
    {"pipe_write", "pipe"},
    {"pipe_wait*", "pipe"},
    {"anon_pipe_*", "pipe"},
    {"wait_for_partner", "pipe"},
    {"fifo_open", "pipe"},
    {"unix_*", "socket"},
    {"__unix_*", "socket"},
    {"__skb_wait_for_more_packets", "socket"},
    {"sk_wait_data", "socket"},
    {"sk_stream_wait_*", "socket"},
    {"inet_csk_*", "socket"},
    {"inet_*", "socket"},
    {"tcp_*", "socket"},
    {"udp_*", "socket"},
    {"netlink_*", "socket"},
    {"packet_recvmsg", "socket"},
    {"sock_alloc_send_pskb", "socket"},
    {"do_wait", "child"},
    {"do_wait4", "child"},
    {"kernel_wait4", "child"},
    {"kernel_waitid*", "child"},
    {"wait_for_vfork_done", "child"},
    {"do_signal_stop", "stopped"},
    {"do_jobctl_trap", "stopped"},
    {"ptrace_stop*", "traced"},
    {"ptrace_do_notify", "traced"},
    {"do_sigtimedwait", "signal"},
    {"sigsuspend", "signal"},
    {"do_sigsuspend", "signal"},
    {"__do_sys_pause", "signal"},
    {"__x64_sys_pause", "signal"},
    {"n_tty_*", "tty"},
    {"tty_*", "tty"},
    {"eventfd_*", "eventfd"},
    {"timerfd_*", "timerfd"},
    {"signalfd_*", "signalfd"},
    {"inotify_read", "inotify"},
    {"fanotify_read", "fanotify"},
    {"io_cqring_wait", "io_uring"},
    {"io_wq_*", "io_uring"},
    {"io_sq_thread", "io_uring"},
    {"read_events", "aio"},
    {"do_io_getevents", "aio"},
    {"do_msgrcv", "ipc"},
    {"do_msgsnd", "ipc"},
    {"do_semtimedop", "ipc"},
    {"__do_semtimedop", "ipc"},
    {"wq_sleep", "ipc"},
    {"request_wait_answer", "fuse"},
    {"fuse_*", "fuse"},
    {"rpc_*", "nfs"},
    {"__rpc_*", "nfs"},
    {"nfs*", "nfs"},
    {"p9_*", "9p"},
    {"jbd2_*", "journal"},
    {"__jbd2_*", "journal"},
    {"wait_transaction_*", "journal"},
    {"add_transaction_credits", "journal"},
    {"xlog_*", "journal"},
    {"xfs_log_*", "journal"},
    {"blk_*", "disk"},
    {"__blk_*", "disk"},
    {"submit_bio_wait", "disk"},
    {"rq_qos_wait", "disk"},
    {"wbt_wait", "disk"},
    {"balance_dirty_pages*", "dirty pages"},
    {"shrink_*", "memory"},
    {"try_to_free_*", "memory"},
    {"__alloc_pages*", "memory"},
    {"throttle_direct_reclaim", "memory"},
    {"mem_cgroup_*", "memory"},
    {"do_swap_page", "page fault"},
    {"filemap_fault", "page fault"},
    {"handle_mm_fault", "page fault"},
    {"filemap_*", "disk"},
    {"generic_file_*", "disk"},
    {"blkdev_*", "disk"},
    {"ext4_*", "disk"},
    {"xfs_*", "disk"},
    {"btrfs_*", "disk"},
    {"locks_lock_*", "file lock"},
    {"fcntl_setlk", "file lock"},
    {"posix_lock_*", "file lock"},
    {"flock_lock_*", "file lock"},
    {"synchronize_rcu*", "rcu"},
    {"rcu_*", "rcu"},
    {"__flush_work", "work queue"},
    {"flush_workqueue*", "work queue"},
    {"__flush_workqueue", "work queue"},
    {"worker_thread", "idle"},
    {"rescuer_thread", "idle"},
    {"smpboot_thread_fn", "idle"},
    {"kthreadd", "idle"},
    {"kthread_worker_fn", "idle"},
    {"kswapd*", "idle"},
    {"kcompactd", "idle"},
    {"oom_reaper", "idle"},
    {"khugepaged*", "idle"},
    {"kjournald2", "idle"},
    {"irq_thread", "idle"},
    {"kauditd_thread", "idle"},
    {"ksm_scan_thread", "idle"},
    {"folio_wait_*", "disk"},
    {"wait_on_page_*", "disk"},
    {"__folio_lock*", "disk"},
    {"__lock_page*", "disk"},
    {"__wait_on_buffer", "disk"},
});

/// Locks are kinds of their own, whatever function takes them: they are looked
/// for in the innermost frames, before what lies further out names the wait.
constexpr auto kLocks = std::to_array<Kind>({
    {"__mutex_lock*", "mutex"},
    {"mutex_lock*", "mutex"},
    {"__ww_mutex_lock*", "mutex"},
    {"rt_mutex_slowlock*", "mutex"},
    {"rwsem_down_*", "rwsem"},
    {"down_read*", "rwsem"},
    {"down_write*", "rwsem"},
    {"rtlock_slowlock*", "spinlock"},
    {"rt_spin_lock*", "spinlock"},
    {"__down_interruptible*", "semaphore"},
    {"__down_killable*", "semaphore"},
    {"__down_timeout*", "semaphore"},
    {"__down", "semaphore"},
});

bool matches(std::string_view name, std::string_view pattern) {
    if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
    return name == pattern;
}

bool general(std::string_view name) {
    return std::ranges::any_of(kWaiting, [&](auto pattern) { return matches(name, pattern); });
}

std::string_view kind_in(std::span<const Kind> table, std::string_view name) {
    const auto found =
        std::ranges::find_if(table, [&](const Kind& kind) { return matches(name, kind.function); });
    return found == table.end() ? std::string_view{} : found->reason;
}

}  // namespace

std::string_view plain_name(std::string_view name) {
    return name.substr(0, name.find('.', 1));
}

std::optional<std::size_t> telling_frame(std::span<const KernelFrame> frames) {
    if (frames.empty()) return std::nullopt;
    for (std::size_t i = 0; i < frames.size(); ++i)
        if (!general(plain_name(frames[i].symbol.name))) return i;
    return frames.size() - 1;
}

std::string wait_reason(std::span<const KernelFrame> frames) {
    const auto telling = telling_frame(frames);
    if (!telling) return "other";
    for (const KernelFrame& frame : frames.first(*telling))
        if (const auto lock = kind_in(kLocks, plain_name(frame.symbol.name)); !lock.empty())
            return std::string(lock);
    for (const bool with_general : {false, true})
        for (const KernelFrame& frame : frames) {
            const std::string_view name = plain_name(frame.symbol.name);
            if (general(name) != with_general) continue;
            if (const auto kind = kind_in(kKinds, name); !kind.empty()) return std::string(kind);
        }
    return std::string(plain_name(frames[*telling].symbol.name));
}

}  // namespace lattop
