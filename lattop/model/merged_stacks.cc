// SPDX-License-Identifier: GPL-2.0-or-later
//
// See merged_stacks.h.
#include "lattop/model/merged_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "lattop/model/format.h"
#include "lattop/model/frames.h"
#include "lattop/model/kernel_stack.h"
#include "lattop/model/wakers.h"

namespace lattop {
namespace {

std::string name_of(const UserFrame& frame) {
    if (!frame.symbol.empty()) return without_parameters(frame.symbol);
    if (!frame.module.empty()) return fmt::format("{}+{:#x}", frame.module, frame.offset);
    return fmt::format("{:#x}", frame.offset);
}

/// Whether there was room for it.
bool append(std::vector<MergedFrame>& frames, std::string_view name, const std::string& file,
            std::uint32_t line, bool kernel) {
    if (frames.size() == kMaxMergedFrames) {
        frames.back() = {"[more]", "", 0, false};
        return false;
    }
    frames.push_back({std::string(name.substr(0, kMaxMergedName)), file, line, kernel});
    return true;
}

/// Innermost first, as they are kept.
void append_user(std::vector<MergedFrame>& frames, const Snapshot& snapshot, const Trace& trace,
                 const UserStack* stack) {
    if (stack == nullptr) {
        for (const std::uint64_t address : snapshot.user_frames(trace))
            if (!append(frames, fmt::format("{:#x}", address), "", 0, false)) return;
        return;
    }
    for (const UserFramePtr& frame : stack->frames) {
        for (const InlinedFrame& inlined : frame->inlined) {
            const std::string name =
                inlined.symbol.empty() ? "[inlined]" : without_parameters(inlined.symbol);
            if (!append(frames, name, inlined.file, inlined.line, false)) return;
        }
        if (!append(frames, name_of(*frame), frame->file, frame->line, false)) return;
    }
}

/// About what a stack takes in memory, its text beside.
std::size_t bytes_of(const MergedStack& stack) {
    std::size_t bytes = sizeof(stack);
    for (const MergedFrame& frame : stack.frames)
        bytes += sizeof(frame) + 2 * frame.name.size() + frame.file.size();
    return bytes;
}

std::string safe_name(const std::string& name) {
    std::string safe = printable(name, Charset::Utf8);
    std::ranges::replace(safe, ';', ':');
    return safe.empty() ? "?" : safe;
}

std::string folded_as(const std::string& name, const std::vector<MergedFrame>& frames) {
    std::string text = safe_name(name);
    for (const MergedFrame& frame : frames)
        text += ";" + safe_name(frame.name) + (frame.kernel ? "_[k]" : "");
    if (frames.empty()) text += ";[other]";
    return text;
}

/// A stack in the making.
struct Merging {
    // Not an aggregate: it is made in place, of a stack without figures.
    explicit Merging(MergedStack begun) : stack(std::move(begun)) {}

    void add(const Task& task, const Entry& entry) {
        stack.blocked_ns += entry.blocked_ns;
        stack.sleeps += entry.sleeps;
        stack.max_ns = std::max(stack.max_ns, entry.max_ns);
        if (last != &task) {  // its sleeps come in a row
            last = &task;
            of_last = 0;
            ++stack.tasks;
        }
        of_last += entry.blocked_ns;
        const std::string name = command_text(task);
        several = several || name != stack.command;
        if (of_last > of_most) {
            of_most = of_last;
            most = name;
        }
    }

    /// Of several names the one of the task that was blocked longest.
    MergedStack finish() {
        if (several)
            stack.command =
                fmt::format("{} +{}", most.empty() ? stack.command : most, stack.tasks - 1);
        return std::move(stack);
    }

    MergedStack stack;
    const Task* last = nullptr;
    std::uint64_t of_last = 0, of_most = 0;
    std::string most;
    bool several = false;
};

}  // namespace

MergedStack merged_stack(const Snapshot& snapshot, const Task& task, const Entry& entry,
                         const UserStacks& names, Reasons& reasons) {
    MergedStack stack;
    stack.command = command_text(task);
    stack.reason = reasons.of(snapshot, task, entry, names).name;
    const Trace* trace = snapshot.trace_of(entry);
    if (trace == nullptr) return stack;
    for (const KernelFrame& frame : snapshot.kernel_frames(*trace))
        if (!append(stack.frames, plain_name(frame.symbol.name), "", 0, true)) break;
    append_user(stack.frames, snapshot, *trace, names.find(stack_id(snapshot, task, entry)));
    std::ranges::reverse(stack.frames);
    return stack;
}

std::string MergedStack::folded() const {
    return folded_as(command, frames);
}

std::string MergedStack::identity() const {
    return folded_as(process.empty() ? command : process, frames);
}

ProcessNames::ProcessNames(const Snapshot& snapshot) {
    for (const Task& task : snapshot.tasks)
        if (task.kind == LT_KIND_TASK && task.pid == task.tgid && !task.kernel_thread())
            leaders_.try_emplace({task.tgid, task.start_ns}, task.comm);
}

/// A tgid may have been used again: a thread's leader is the last that began
/// before it. A record of exited threads is of the last one.
std::string ProcessNames::of(const Task& task) const {
    if (task.kernel_thread()) return command_text(task);
    const std::uint64_t by = task.kind == LT_KIND_TASK ? task.start_ns : UINT64_MAX;
    const auto behind = leaders_.upper_bound({task.tgid, by});
    if (behind == leaders_.begin()) return command_text(task);
    const auto& [began, name] = *std::prev(behind);
    return began.first == task.tgid ? name : command_text(task);
}

std::vector<MergedStack> merge_stacks(const Snapshot& snapshot, const UserStacks& names,
                                      Reasons& reasons, const ProcessNames* processes,
                                      std::size_t max_bytes) {
    std::size_t bytes = 0;
    std::unordered_map<std::string, Merging> by_text;
    for (const Task& task : snapshot.tasks) {
        const std::string process = processes == nullptr ? "" : processes->of(task);
        for (const Entry& entry : snapshot.entries_of(task)) {
            if (entry.blocked_ns == 0 && entry.sleeps == 0) continue;
            MergedStack stack = merged_stack(snapshot, task, entry, names, reasons);
            stack.process = process;
            std::string text = stack.identity();
            if (!by_text.contains(text)) {
                if (bytes + bytes_of(stack) > max_bytes) {
                    stack.frames.clear();
                    text = stack.identity();
                }
                bytes += bytes_of(stack);
            }
            Merging& all = by_text.try_emplace(text, std::move(stack)).first->second;
            all.add(task, entry);
            append_pointers(all.stack.wakers, snapshot.wakers_of(entry));
        }
    }
    // By text before by cost: equal costs stand in the same order each time.
    std::vector<std::pair<std::string, MergedStack>> sorted;
    sorted.reserve(by_text.size());
    for (auto& [text, merging] : by_text)
        sorted.emplace_back(text, merging.finish());
    std::ranges::sort(sorted, [](const auto& a, const auto& b) {
        if (a.second.blocked_ns != b.second.blocked_ns)
            return a.second.blocked_ns > b.second.blocked_ns;
        return a.first < b.first;
    });
    std::vector<MergedStack> result;
    result.reserve(sorted.size());
    for (auto& [text, stack] : sorted)
        result.push_back(std::move(stack));
    return result;
}

}  // namespace lattop
