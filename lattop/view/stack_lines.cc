// SPDX-License-Identifier: GPL-2.0-or-later
//
// See stack_lines.h.
#include "lattop/view/stack_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "lattop/model/frames.h"
#include "lattop/model/kernel_stack.h"
#include "lattop/model/wakers.h"

namespace lattop {
namespace {

constexpr std::size_t kBarColumns = 40;
constexpr std::size_t kShareColumns = 6;
constexpr std::size_t kWakersShown = 5;

std::uint64_t mean_ns(const Entry& entry) {
    return entry.sleeps == 0 ? 0 : entry.blocked_ns / entry.sleeps;
}

/// At least one column for what is there at all; no more than there are, although a recording may
/// say that a stack has more than its task.
std::string bar(double share, std::size_t columns, Charset charset) {
    const auto filled =
        static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(columns));
    std::string text;
    for (std::size_t i = 0; i < std::max<std::size_t>(filled, share > 0 ? 1 : 0); ++i)
        text += charset == Charset::Utf8 ? "\u2588" : "#";
    return text;
}

/// Time, sleeps and their mean, as they stand under the titles.
std::string figures_text(const StackSum& stack) {
    if (!stack.known) return fmt::format("{:>6} {:>6} {:>6}", "-", "-", "-");
    return fmt::format("{:>6} {:>6} {:>6}", format_duration(stack.sum.blocked_ns),
                       format_count(stack.sum.sleeps), format_duration(mean_ns(stack.sum)));
}

void append_frames(std::vector<Line>& lines, std::string_view label,
                   const std::vector<std::string>& frames, Style style) {
    for (std::size_t i = 0; i < frames.size(); ++i)
        lines.push_back(
            {{fmt::format("    {:<7}", i == 0 ? label : ""), Style::Dim}, {frames[i], style}});
}

/// Who ended the sleeps of an open stack: a line each, and from where the one
/// did that ended the longest, and what it had waited in.
void append_wakers(std::vector<Line>& lines, const Snapshot& snapshot, const StackSum& stack,
                   const UserStacks& stacks) {
    const auto sums = sum_wakers(stack.wakers, Waits::Together);
    const std::size_t n = std::min(sums.size(), kWakersShown);
    for (std::size_t i = 0; i < n; ++i) {
        const WakerSum& sum = sums[i];
        const TopFrame top = top_frame(snapshot, *sum.worst, sum.worst->trace, stacks);
        lines.push_back({{fmt::format("    {:<9}", i == 0 ? "woken by" : ""), Style::Dim},
                         {fmt::format("{:>5}% {:>6} {:>6} {} ", format_percent(sum.share),
                                      format_duration(sum.blocked_ns), format_count(sum.sleeps),
                                      waker_text(sum)),
                          Style::Normal},
                         {top.text, top.user ? Style::User : Style::Kernel}});
    }
    if (sums.size() > n)
        lines.push_back({{fmt::format("             and {} more", sums.size() - n), Style::Dim}});
    if (n == 0) return;
    const Waker& worst = *sums.front().worst;
    const auto append_stack = [&](std::string_view label, TraceIndex of) {
        if (const Trace* trace = snapshot.trace_at(of))
            append_frames(lines, label, kernel_frame_texts(snapshot, *trace), Style::Kernel);
        append_frames(lines, "", user_frame_texts(snapshot, worst, of, stacks), Style::User);
    };
    append_stack("from", worst.trace);
    if (snapshot.trace_at(worst.waited_trace) == nullptr) return;
    lines.push_back(
        {{fmt::format("    whose own last sleep took {} of {}, in",
                      format_duration(worst.waited_ns), format_duration(worst.blocked_ns)),
          Style::Dim}});
    append_stack("", worst.waited_trace);
}

/// What that look gave, where it was at a sleep in the same place: the sleep
/// may have ended meanwhile and another begun.
const LiveNames* live_names(const Snapshot& snapshot, const Task& task, const Entry& entry,
                            const UserStacks& stacks) {
    if (!wants_live(snapshot, task, entry)) return nullptr;
    const LiveNames* live = stacks.find_live(task);
    if (live == nullptr || live->addresses.empty()) return live;
    const auto recorded = snapshot.user_frames(*snapshot.trace_of(entry));
    const bool same = recorded.empty() || recorded.front() == live->addresses.front();
    return same ? live : nullptr;
}

/// What the task waits for, by the recording or a look at it now. Until a look at this sleep has
/// been answered, the line stands without what the sleep before waited for, so that what follows
/// stays in its place.
std::string object_text(const Snapshot& snapshot, const BlockedNow& sleeper,
                        const UserStacks& stacks, const LiveNames* live) {
    const Task& task = *sleeper.task;
    if (wants_live(snapshot, task, *sleeper.entry))
        if (const std::string* recorded = stacks.object(snapshot, task)) return *recorded;
    if (live == nullptr || live->object.empty()) return "";
    return live->sleeps == task.sleeps ? live->object : "...";
}

std::string live_remark(const Trace& trace, const LiveNames* live) {
    if (live == nullptr || !lacks_frames(trace)) return "";
    if (live->addresses.empty()) return "; not seen as it is now: " + live->end;
    return live->end.empty() ? "; shown as it is now, whole"
                             : "; shown as it is now, up to here: " + live->end;
}

/// "epoll, waiting for work, says reasons.conf:83"
std::string reason_remark(const Reason& reason) {
    std::string text = "reason: " + reason.name;
    if (reason.idle) text += ", waiting for work";
    if (reason.decided.empty()) return text + ", the function: no line of reasons.conf knows it";
    return text + ", says " + reason.decided;
}

std::string remarks(const Task& task, const Entry& entry, const Trace* trace,
                    const LiveNames* live) {
    if (trace == nullptr) return "no room for these stacks: the loss counters say which limit";
    std::string text = completeness(*trace) + live_remark(*trace, live);
    if (entry.exec_id != task.exec_id) text += "; an earlier program of this task";
    if (entry.asleep()) text += fmt::format("; * ongoing {}", format_duration(entry.ongoing_ns));
    return text;
}

/// Of several tasks the one that is looked at as it is now, for how long it has been blocked,
/// and what it waits for.
Line sleeper_line(const BlockedNow& sleeper, const std::string& object) {
    const Task& task = *sleeper.task;
    const std::string process =
        task.pid == task.tgid ? "" : fmt::format(" (process {})", task.tgid);
    Line line = {{"    longest now ", Style::Dim},
                 {fmt::format("{} {}{} for {}", task.pid, command_text(task), process,
                              format_duration(sleeper.entry->ongoing_ns)),
                  Style::Normal}};
    if (!object.empty()) {
        line.push_back({", waits for ", Style::Dim});
        line.push_back({object, Style::Normal});
    }
    return line;
}

}  // namespace

std::vector<std::string> histogram_lines(const Histogram& hist, std::size_t bar_columns,
                                         Charset charset) {
    const auto used = [](std::uint64_t n) { return n != 0; };
    const auto first = std::ranges::find_if(hist, used);
    const auto last = std::find_if(hist.rbegin(), hist.rend(), used).base();
    const std::uint64_t most = std::ranges::max(hist);
    std::vector<std::string> lines;
    for (auto bucket = first; bucket < last; ++bucket) {
        const auto index = static_cast<unsigned>(bucket - hist.begin());
        const std::uint64_t from = index == 0 ? 0 : std::uint64_t{1} << index;
        const double share = static_cast<double>(*bucket) / static_cast<double>(most);
        lines.push_back(fmt::format(">={:>6} {:>6} {}", format_duration(from),
                                    format_count(*bucket), bar(share, bar_columns, charset)));
    }
    return lines;
}

bool wants_live(const Snapshot& snapshot, const Task& task, const Entry& entry) {
    const Trace* trace = snapshot.trace_of(entry);
    return trace != nullptr && entry.asleep() && entry.exec_id == task.exec_id &&
           !task.kernel_thread();
}

Line stack_line(const Snapshot& snapshot, const StackSum& stack, double share, bool open,
                const TableContext& context, Charset charset) {
    const Entry& entry = stack.sum;
    const std::string& reason =
        context.reasons.of(snapshot, *stack.task, entry, context.stacks).name;
    const bool ongoing = entry.asleep();
    const Style style = open ? Style::Strong : Style::Normal;
    const std::string drawn = bar(share, kShareColumns, charset);
    const auto blanks = kShareColumns - static_cast<std::size_t>(text_columns(drawn, charset));
    const std::string figures =
        fmt::format("{:{}} {} {:>7}{} {:<12} ", "", blanks, figures_text(stack),
                    format_duration(entry.max_ns), ongoing ? '*' : ' ', reason.substr(0, 12));
    const std::string percent = stack.known ? format_percent(share) + "%" : "-";
    const TopFrame top = top_frame(snapshot, *stack.task, entry, context.stacks);
    Line line = {{fmt::format("{} {:>6} ", open ? '>' : ' ', percent), style},
                 {drawn, Style::Strong},
                 {figures, style},
                 {top.text, top.user ? Style::User : Style::Kernel}};
    if (stack.tasks > 1)
        line.push_back({fmt::format(" ({} tasks)", with_commas(stack.tasks)), Style::Dim});
    return line;
}

void append_open_stack(std::vector<Line>& lines, const Snapshot& snapshot, const StackSum& stack,
                       const BlockedNow& sleeper, bool several, const TableContext& context,
                       Charset charset) {
    const Task& task = *stack.task;
    const Entry& entry = stack.sum;
    const UserStacks& stacks = context.stacks;
    const Trace* trace = snapshot.trace_of(entry);
    const LiveNames* live = sleeper.task == nullptr
                                ? nullptr
                                : live_names(snapshot, *sleeper.task, *sleeper.entry, stacks);
    if (trace != nullptr) {
        const Reason& reason = context.reasons.of(snapshot, task, entry, stacks);
        lines.push_back({{"    " + reason_remark(reason), Style::Dim}});
        const std::string object =
            sleeper.task == nullptr ? "" : object_text(snapshot, sleeper, stacks, live);
        if (several && sleeper.task != nullptr)
            lines.push_back(sleeper_line(sleeper, object));
        else if (!object.empty())
            lines.push_back({{"    waits for ", Style::Dim}, {object, Style::Normal}});
        append_frames(lines, "kernel", kernel_frame_texts(snapshot, *trace), Style::Kernel);
        if (live != nullptr && !live->addresses.empty() && lacks_frames(*trace))
            append_frames(lines, "now", user_frame_texts(live->stack), Style::User);
        else
            append_frames(lines, "user", user_frame_texts(snapshot, task, entry, stacks),
                          Style::User);
    }
    lines.push_back({{"    " + remarks(task, entry, trace, live), Style::Dim}});
    if (context.interval && !stack.wakers.empty())
        lines.push_back({{"    since load or reset", Style::Dim}});
    append_wakers(lines, snapshot, stack, stacks);
    if (!stack.known) return;
    for (std::string& line : histogram_lines(entry.hist, kBarColumns, charset))
        lines.push_back({{"    " + std::move(line), Style::Normal}});
}

}  // namespace lattop
