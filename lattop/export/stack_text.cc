// SPDX-License-Identifier: GPL-2.0-or-later
//
// See stack_text.h:
//
//	SHARE   TOTAL SLEEPS   MEAN    MAX TASKS REASON       COMMAND
//	58.2%   30.8s    303  101ms  1.19s     8 futex        worker
//	        futex_wait_queue < futex_wait < ... < checkout_connection < worker
//	        woken by 100.0%  30.8s    303 worker (8 tasks)
#include "lattop/export/stack_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <vector>

#include "lattop/export/woken_text.h"
#include "lattop/export/wrapped_stack.h"

namespace lattop {
namespace {

/// "worker 4711", "worker (8 tasks)"
std::string name_of(const WakerSum& sum) {
    if (sum.worst->kind != LT_WAKER_TASK || sum.tasks == 1) return waker_text(*sum.worst);
    return fmt::format("{} ({} tasks)", sum.worst->comm, with_commas(sum.tasks));
}

/// Of no sleep there is none: what the time is of began before.
std::string mean_text(const MergedStack& stack) {
    return stack.sleeps == 0 ? "-" : format_duration(stack.blocked_ns / stack.sleeps);
}

}  // namespace

std::string frames_text(const MergedStack& stack, Charset charset) {
    std::vector<std::string> names;
    for (auto frame = stack.frames.rbegin(); frame != stack.frames.rend(); ++frame)
        names.push_back(frame->name);
    if (names.empty()) names.emplace_back("[other]: its stacks found no room");
    return wrapped_stack(kStackIndent, names, charset);
}

std::string stacks_text(std::span<const MergedStack> stacks, std::size_t limit, Charset charset) {
    const auto total = std::accumulate(
        stacks.begin(), stacks.end(), std::uint64_t{0},
        [](std::uint64_t sum, const MergedStack& stack) { return sum + stack.blocked_ns; });
    std::string text = fmt::format("{:>6} {:>7} {:>6} {:>6} {:>6} {:>5} {:<12} {}\n", "SHARE",
                                   "TOTAL", "SLEEPS", "MEAN", "MAX", "TASKS", "REASON", "COMMAND");
    if (limit != 0) stacks = stacks.first(std::min(limit, stacks.size()));
    for (const MergedStack& stack : stacks) {
        text += fmt::format("{:>5}% {:>7} {:>6} {:>6} {:>6} {:>5} {:<12} {}\n",
                            format_percent(share_of(stack.blocked_ns, total)),
                            format_duration(stack.blocked_ns), format_count(stack.sleeps),
                            mean_text(stack), format_duration(stack.max_ns), stack.tasks,
                            printable(stack.reason, charset), printable(stack.command, charset));
        text += frames_text(stack, charset);
        text += woken_text(sum_wakers_by_name(stack.wakers), name_of, charset);
    }
    return text;
}

}  // namespace lattop
