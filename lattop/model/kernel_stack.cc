// SPDX-License-Identifier: GPL-2.0-or-later
//
// See kernel_stack.h. Names are those of kernels 5.10 to 7.2; a name that one of
// them lacks costs nothing. A trailing '*' matches any ending.
#include "lattop/model/kernel_stack.h"

#include <algorithm>
#include <array>

namespace lattop {
namespace {

/// How a task waits, or wakes another, never for what.
constexpr auto kGeneral = std::to_array<std::string_view>({
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
    "try_to_wake_up",
    "wake_up_process",
    "wake_up_state",
    "wake_up_q",
    "__wake_up*",
    "wake_up_var",
    "wake_up_bit",
    "default_wake_function",
    "autoremove_wake_function",
    "woken_wake_function",
    "wake_bit_function",
    "wake_page_function",
    "var_wake_function",
    "pollwake",
    "swake_up*",
    "complete",
    "complete_all",
    "complete_with_flags",
});

bool matches(std::string_view name, std::string_view pattern) {
    if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
    return name == pattern;
}

bool general(std::string_view name) {
    return std::ranges::any_of(kGeneral, [&](auto pattern) { return matches(name, pattern); });
}

}  // namespace

std::string_view plain_name(std::string_view name) {
    return name.substr(0, name.find('.', 1));
}

std::vector<std::string_view> kernel_functions(const Snapshot& snapshot, const Trace& trace) {
    std::vector<std::string_view> names;
    for (const KernelFrame& frame : snapshot.kernel_frames(trace))
        names.push_back(plain_name(frame.symbol.name));
    return names;
}

std::optional<std::size_t> telling_frame(std::span<const KernelFrame> frames) {
    if (frames.empty()) return std::nullopt;
    for (std::size_t i = 0; i < frames.size(); ++i)
        if (!general(plain_name(frames[i].symbol.name))) return i;
    return frames.size() - 1;
}

}  // namespace lattop
