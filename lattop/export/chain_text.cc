// SPDX-License-Identifier: GPL-2.0-or-later
//
// See chain_text.h:
//
//	1  db-worker/1 1203 blocked 2.40s, 60.0% of the time, in 120 sleeps, max 180ms: futex
//	        futex_wait < ... < db::BufferPool::acquire < db::worker_main
//	     98.2%   2.36s    118  woken by db-worker/2 1204, whose own last sleep took 1.90s of it
//	        try_to_wake_up < ... < db::BufferPool::release < db::worker_main
//	      1.8%  42.0ms      2  woken by dbserver 1200
//	2  db-worker/2 1204 blocked ...
#include "lattop/export/chain_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "lattop/export/wrapped_stack.h"
#include "lattop/model/frames.h"

namespace lattop {
namespace {

constexpr std::string_view kStack = "        ";
constexpr std::size_t kWakersShown = 4;

/// Kernel and user frames as one stack.
std::string whole_stack(std::vector<std::string> frames, std::vector<std::string> user,
                        Charset charset) {
    std::ranges::move(user, std::back_inserter(frames));
    return wrapped_stack(kStack, frames, charset);
}

std::string step_text(const Snapshot& snapshot, const ChainStep& step, const UserStacks& names,
                      Reasons& reasons) {
    const Entry& entry = *step.entry;
    const std::uint64_t time_ns = snapshot.header.time_ns - snapshot.header.since_ns;
    const Reason& reason = reasons.of(snapshot, *step.task, entry, names);
    return fmt::format("{} {} blocked {}, {}% of the time, in {} sleep{}, max {}: {}{}",
                       step.task->comm, step.task->pid, format_duration(entry.blocked_ns),
                       format_percent(share_of(entry.blocked_ns, time_ns)),
                       with_commas(entry.sleeps), entry.sleeps == 1 ? "" : "s",
                       format_duration(entry.max_ns), reason.name,
                       reason.idle ? " (waiting for work)" : "");
}

std::string waker_line(const WakerSum& waker) {
    std::string text = fmt::format("   {:>6}% {:>7} {:>6}  woken by {}",
                                   format_percent(waker.share), format_duration(waker.blocked_ns),
                                   format_count(waker.sleeps), waker_text(waker));
    if (waker.waited_ns != 0)
        text +=
            fmt::format(", whose own last sleep took {} of it", format_duration(waker.waited_ns));
    return text;
}

std::string waker_stack(const Snapshot& snapshot, const Waker& waker, TraceIndex of,
                        const UserStacks& names, Charset charset) {
    const Trace* trace = snapshot.trace_at(of);
    if (trace == nullptr) return "";
    return whole_stack(kernel_function_texts(snapshot, *trace),
                       user_frame_texts(snapshot, waker, of, names), charset);
}

std::string end_text(const Chain& chain) {
    const ChainStep& last = chain.steps.back();
    const Waker* waker = last.wakers.empty() ? nullptr : last.wakers.front().worst;
    switch (chain.end) {
        case ChainEnd::Unwoken:
            return "Nobody is known to have ended a sleep there: it goes on, or its wakers found "
                   "no room (lattop report says what was lost).";
        case ChainEnd::Interrupt:
            return "It ends at an interrupt, a timer's, a device's or another CPU's: its stack "
                   "says which.";
        case ChainEnd::Hidden: return "It ends at a task that is not yours to see.";
        case ChainEnd::Ran:
            return fmt::format(
                "It ends at {}, whose last sleep before was short: it ran, waited for a CPU, or "
                "slept before that one.",
                waker_text(*waker));
        case ChainEnd::NotShown:
            return fmt::format("{} had slept there, but its figures are not here.",
                               waker_text(*waker));
        case ChainEnd::Again:
            return fmt::format("{} had waited in the place of step {}: they take turns.",
                               waker_text(*waker), chain.again + 1);
        case ChainEnd::Deep:
            return fmt::format("It goes on; {} steps are shown.", chain.steps.size());
    }
    return "";
}

}  // namespace

std::string chain_text(const Snapshot& snapshot, const Chain& chain, const UserStacks& names,
                       Reasons& reasons, Charset charset) {
    std::string text;
    for (std::size_t i = 0; i < chain.steps.size(); ++i) {
        const ChainStep& step = chain.steps[i];
        text += fmt::format("{}  {}\n", i + 1,
                            printable(step_text(snapshot, step, names, reasons), charset));
        text += whole_stack(kernel_function_texts(snapshot, *snapshot.trace_of(*step.entry)),
                            user_frame_texts(snapshot, *step.task, *step.entry, names), charset);
        const std::size_t shown = std::min(step.wakers.size(), kWakersShown);
        for (std::size_t j = 0; j < shown; ++j) {
            const WakerSum& waker = step.wakers[j];
            text += printable(waker_line(waker), charset) + "\n";
            if (j == 0)
                text += waker_stack(snapshot, *waker.worst, waker.worst->trace, names, charset);
        }
        if (step.wakers.size() > shown)
            text += fmt::format("           and {} more\n", step.wakers.size() - shown);
    }
    if (chain.end == ChainEnd::NotShown) {
        const Waker& waker = *chain.steps.back().wakers.front().worst;
        text += printable(waker_text(waker), charset) + " had blocked in\n" +
                waker_stack(snapshot, waker, waker.waited_trace, names, charset);
    }
    return text + printable(end_text(chain), charset) + "\n";
}

}  // namespace lattop
