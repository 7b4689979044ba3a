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
    std::string text = safe_name(command);
    for (const MergedFrame& frame : frames)
        text += ";" + safe_name(frame.name) + (frame.kernel ? "_[k]" : "");
    if (frames.empty()) text += ";[other]";
    return text;
}

std::vector<MergedStack> merge_stacks(const Snapshot& snapshot, const UserStacks& names,
                                      Reasons& reasons, std::size_t max_bytes) {
    std::size_t bytes = 0;
    std::unordered_map<std::string, MergedStack> by_text;
    for (const Task& task : snapshot.tasks) {
        for (const Entry& entry : snapshot.entries_of(task)) {
            if (entry.blocked_ns == 0 && entry.sleeps == 0) continue;
            MergedStack stack = merged_stack(snapshot, task, entry, names, reasons);
            std::string text = stack.folded();
            if (!by_text.contains(text)) {
                if (bytes + bytes_of(stack) > max_bytes) {
                    stack.frames.clear();
                    text = stack.folded();
                }
                bytes += bytes_of(stack);
            }
            MergedStack& all = by_text.try_emplace(text, std::move(stack)).first->second;
            all.blocked_ns += entry.blocked_ns;
            all.sleeps += entry.sleeps;
            all.max_ns = std::max(all.max_ns, entry.max_ns);
            ++all.tasks;
            append_pointers(all.wakers, snapshot.wakers_of(entry));
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
