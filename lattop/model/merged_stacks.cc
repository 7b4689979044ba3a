// SPDX-License-Identifier: GPL-2.0-or-later
//
// See merged_stacks.h.
#include "lattop/model/merged_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "lattop/model/format.h"
#include "lattop/model/frames.h"
#include "lattop/model/kernel_stack.h"

namespace lattop {
namespace {

std::string name_of(const UserFrame& frame) {
    if (!frame.symbol.empty()) return without_parameters(frame.symbol);
    if (!frame.module.empty()) return fmt::format("{}+{:#x}", frame.module, frame.offset);
    return fmt::format("{:#x}", frame.offset);
}

/// Innermost first, as they are kept.
void append_user(std::vector<MergedFrame>& frames, const Snapshot& snapshot, const Trace& trace,
                 const UserStack* stack) {
    if (stack == nullptr) {
        for (const std::uint64_t address : snapshot.user_frames(trace))
            frames.push_back({fmt::format("{:#x}", address), "", 0, false});
        return;
    }
    for (const UserFramePtr& frame : stack->frames) {
        for (const InlinedFrame& inlined : frame->inlined) {
            const std::string name =
                inlined.symbol.empty() ? "[inlined]" : without_parameters(inlined.symbol);
            frames.push_back({name, inlined.file, inlined.line, false});
        }
        frames.push_back({name_of(*frame), frame->file, frame->line, false});
    }
}

MergedStack stack_of(const Snapshot& snapshot, const Task& task, const Entry& entry,
                     const UserStacks& names, Reasons& reasons) {
    MergedStack stack;
    stack.command = command_text(task);
    stack.reason = reasons.of(snapshot, task, entry, names).name;
    const Trace* trace = snapshot.trace_of(entry);
    if (trace == nullptr) return stack;
    for (const KernelFrame& frame : snapshot.kernel_frames(*trace))
        stack.frames.push_back({std::string(plain_name(frame.symbol.name)), "", 0, true});
    append_user(stack.frames, snapshot, *trace, names.find(stack_id(snapshot, task, entry)));
    std::ranges::reverse(stack.frames);
    return stack;
}

std::string safe_name(const std::string& name) {
    std::string safe = printable(name, Charset::Utf8);
    std::ranges::replace(safe, ';', ':');
    return safe.empty() ? "?" : safe;
}

}  // namespace

std::string MergedStack::folded() const {
    std::string text = safe_name(command);
    for (const MergedFrame& frame : frames)
        text += ";" + safe_name(frame.name) + (frame.kernel ? "_[k]" : "");
    if (frames.empty()) text += ";[other]";
    return text;
}

std::vector<MergedStack> merge_stacks(const Snapshot& snapshot, const UserStacks& names,
                                      Reasons& reasons) {
    std::unordered_map<std::string, MergedStack> by_text;
    for (const Task& task : snapshot.tasks) {
        for (const Entry& entry : snapshot.entries_of(task)) {
            if (entry.blocked_ns == 0 && entry.sleeps == 0) continue;
            MergedStack stack = stack_of(snapshot, task, entry, names, reasons);
            MergedStack& all = by_text.try_emplace(stack.folded(), std::move(stack)).first->second;
            all.blocked_ns += entry.blocked_ns;
            all.sleeps += entry.sleeps;
            all.max_ns = std::max(all.max_ns, entry.max_ns);
            ++all.tasks;
        }
    }
    // By text before by cost: equal costs stand in the same order each time.
    std::vector<std::pair<std::string, MergedStack>> sorted(
        std::make_move_iterator(by_text.begin()), std::make_move_iterator(by_text.end()));
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
