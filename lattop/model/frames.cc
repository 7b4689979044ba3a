// SPDX-License-Identifier: GPL-2.0-or-later
//
// See frames.h.
#include "lattop/model/frames.h"

#include <fmt/format.h>

#include <algorithm>

#include "lattop/model/kernel_stack.h"

namespace lattop {
namespace {

const UserStack* named_stack(const Trace& trace, const StackId& id, const UserStacks& stacks) {
    return trace.nr_user == 0 ? nullptr : stacks.find(id);
}

/// A frame in a narrow column: no offset, no parameters.
std::string short_text(const UserFrame& frame) {
    if (!frame.symbol.empty()) return without_parameters(frame.symbol);
    return frame_text(frame);
}

/// The innermost function whose code a frame is in, which may have been inlined
/// there. The C++ library's own are not what a program calls its functions.
std::string innermost_text(const UserFrame& frame) {
    const auto own = std::ranges::find_if(frame.inlined, [](const InlinedFrame& inlined) {
        const std::string_view name = without_return_type(inlined.symbol);
        return !name.empty() && !name.starts_with("std::") && !name.starts_with("__");
    });
    return own == frame.inlined.end() ? short_text(frame) : without_parameters(own->symbol);
}

/// " main.cc:12", "" where not known.
std::string line_text(const std::string& file, std::uint32_t line) {
    if (file.empty()) return "";
    return fmt::format(" {}:{}", file.substr(file.rfind('/') + 1), line);
}

/// "ns::Pool<>::take" of "ns::Pool<int, 3>::take". Operators that are made of
/// angles keep theirs: their pairs do not match.
std::string without_template_arguments(const std::string& name) {
    if (name.find("operator") != std::string::npos) return name;
    std::string result;
    int depth = 0;
    for (const char c : name) {
        if (c == '>') --depth;
        if (depth == 0) result += c;
        if (c == '<') ++depth;
    }
    return depth == 0 ? result : name;
}

/// Index of the '(' that opens the parameters of a demangled name, or npos.
/// Walks back over the last balanced pair, so that "(anonymous namespace)::f"
/// and "operator()(int)" keep theirs.
std::size_t parameters_begin(const std::string& name) {
    const std::size_t close = name.rfind(')');
    if (close == std::string::npos) return std::string::npos;
    int depth = 0;
    for (std::size_t i = close + 1; i-- > 0;) {
        if (name[i] == ')') ++depth;
        if (name[i] == '(' && --depth == 0) return i;
    }
    return std::string::npos;
}

std::vector<std::string> user_frame_texts(const Snapshot& snapshot, const Trace* trace,
                                          const StackId& id, const UserStacks& stacks) {
    std::vector<std::string> texts;
    if (trace == nullptr) return texts;
    if (const UserStack* stack = named_stack(*trace, id, stacks)) return user_frame_texts(*stack);
    for (const std::uint64_t address : snapshot.user_frames(*trace))
        texts.push_back(fmt::format("{:#x}", address));
    return texts;
}

TopFrame top_frame(const Snapshot& snapshot, const Trace& trace, const StackId& id,
                   const UserStacks& stacks) {
    const UserStack* stack = named_stack(trace, id, stacks);
    if (stack != nullptr && stack->own != UserStack::kNone) {
        const UserFrame& own = *stack->frames[stack->own];
        if (!own.symbol.empty()) return {innermost_text(own), true};
    }
    const auto kernel = snapshot.kernel_frames(trace);
    if (const auto telling = telling_frame(kernel))
        return {std::string(plain_name(kernel[*telling].symbol.name)), false};
    if (stack != nullptr && !stack->frames.empty())
        return {short_text(*stack->frames.front()), true};
    return {"", false};
}

}  // namespace

std::string frame_text(const KernelFrame& frame) {
    std::string text = fmt::format("{}+{:#x}", frame.symbol.name, frame.offset);
    if (!frame.symbol.module.empty()) text += fmt::format(" [{}]", frame.symbol.module);
    return text;
}

std::string frame_text(const UserFrame& frame) {
    if (frame.symbol.empty())
        return frame.module.empty() ? fmt::format("{:#x}", frame.offset)
                                    : fmt::format("{}+{:#x}", frame.module, frame.offset);
    return fmt::format("{}+{:#x} {}", without_parameters(frame.symbol), frame.offset,
                       frame.module) +
           line_text(frame.file, frame.line);
}

std::string frame_text(const InlinedFrame& frame, const UserFrame& around) {
    const std::string name = frame.symbol.empty() ? "?" : without_parameters(frame.symbol);
    return name + " (inlined) " + around.module + line_text(frame.file, frame.line);
}

std::string_view without_return_type(std::string_view name) {
    std::string open;  // brackets
    std::size_t begin = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const bool parameters = name[i] == '(' && open.empty() && i != begin;
        if (parameters || name.substr(i).starts_with("operator")) break;
        if (name[i] == ' ' && open.empty()) begin = i + 1;
        if (name[i] == '<' || name[i] == '(') open += name[i];
        // In parentheses both angles may be comparisons, which have no other side
        const bool arrow = name[i] == '>' && i != 0 && name[i - 1] == '-';
        if (name[i] == '>' && !arrow && open.ends_with('<')) open.pop_back();
        if (name[i] == ')') open.resize(std::min(open.rfind('('), open.size()));
    }
    return name.substr(begin);
}

std::string without_parameters(const std::string& name) {
    const std::size_t open = parameters_begin(name);
    if (open == std::string::npos || open == 0) return name;
    // What follows may only be qualifiers: else the pair was part of the name.
    const std::string_view rest = std::string_view(name).substr(name.rfind(')') + 1);
    const bool qualifiers = rest.empty() || rest.starts_with(" const") ||
                            rest.starts_with(" volatile") || rest.starts_with(" &") ||
                            rest.starts_with(" [clone");
    const bool call_operator = std::string_view(name).substr(0, open).ends_with("operator");
    return qualifiers && !call_operator ? name.substr(0, open) : name;
}

std::string fitted_name(const std::string& name, std::size_t columns) {
    if (name.size() <= columns) return name;
    const std::string plain = without_template_arguments(name);
    std::string_view rest = plain;
    for (std::size_t at = 0; rest.size() > columns && at != std::string::npos;) {
        at = rest.find("::");
        if (at != std::string::npos) rest.remove_prefix(at + 2);
    }
    return std::string(rest);
}

std::vector<std::string> kernel_frame_texts(const Snapshot& snapshot, const Trace& trace) {
    std::vector<std::string> texts;
    for (const KernelFrame& frame : snapshot.kernel_frames(trace))
        texts.push_back(frame_text(frame));
    return texts;
}

std::vector<std::string> kernel_function_texts(const Snapshot& snapshot, const Trace& trace) {
    const auto names = kernel_functions(snapshot, trace);
    return {names.begin(), names.end()};
}

std::vector<std::string> user_frame_texts(const Snapshot& snapshot, const Task& task,
                                          const Entry& entry, const UserStacks& stacks) {
    return user_frame_texts(snapshot, snapshot.trace_of(entry), stack_id(snapshot, task, entry),
                            stacks);
}

std::vector<std::string> user_frame_texts(const Snapshot& snapshot, const Waker& waker,
                                          TraceIndex of, const UserStacks& stacks) {
    return user_frame_texts(snapshot, snapshot.trace_at(of), stack_id(snapshot, waker, of), stacks);
}

std::vector<std::string> user_frame_texts(const UserStack& stack) {
    std::vector<std::string> texts;
    for (const UserFramePtr& frame : stack.frames) {
        for (const InlinedFrame& inlined : frame->inlined)
            texts.push_back(frame_text(inlined, *frame));
        texts.push_back(frame_text(*frame));
    }
    return texts;
}

bool lacks_frames(const Trace& trace) {
    return !trace.complete() && (trace.flags & (LT_TR_NO_USER | LT_TR_COMPAT)) == 0;
}

TopFrame top_frame(const Snapshot& snapshot, const Task& task, const Entry& entry,
                   const UserStacks& stacks) {
    const Trace* trace = snapshot.trace_of(entry);
    if (trace == nullptr) return {"[other]", false};
    return top_frame(snapshot, *trace, stack_id(snapshot, task, entry), stacks);
}

TopFrame top_frame(const Snapshot& snapshot, const Waker& waker, TraceIndex of,
                   const UserStacks& stacks) {
    const Trace* trace = snapshot.trace_at(of);
    if (trace == nullptr) return {"", false};
    return top_frame(snapshot, *trace, stack_id(snapshot, waker, of), stacks);
}

TopFrame top_frame(const Snapshot& snapshot, const Task& task, const UserStacks& stacks) {
    const auto entries = snapshot.entries_of(task);
    if (entries.empty()) return {};
    return top_frame(snapshot, task, entries.front(), stacks);
}

bool any_function(const Snapshot& snapshot, const Task& task, const Entry& entry,
                  const UserStacks& stacks, const std::function<bool(std::string_view)>& holds) {
    const Trace* trace = snapshot.trace_of(entry);
    if (trace == nullptr) return false;
    for (const KernelFrame& frame : snapshot.kernel_frames(*trace))
        if (holds(frame.symbol.name)) return true;
    const UserStack* user = named_stack(*trace, stack_id(snapshot, task, entry), stacks);
    if (user == nullptr) return false;
    return std::ranges::any_of(user->frames, [&](const UserFramePtr& frame) {
        return holds(frame->symbol.empty() ? frame->module : frame->symbol) ||
               std::ranges::any_of(frame->inlined, holds, &InlinedFrame::symbol);
    });
}

std::string completeness(const Trace& trace) {
    const auto has = [&](std::uint32_t flag) { return (trace.flags & flag) != 0; };
    if (has(LT_TR_SEEDED))
        return has(LT_TR_NO_USER) ? "complete, asleep since before lattop was loaded"
                                  : "incomplete: asleep since before lattop was loaded";
    std::string text;
    const auto add = [&text](const char* why) {
        text += text.empty() ? "incomplete: " : ", ";
        text += why;
    };
    if (has(LT_TR_KERNEL_CUT)) add("kernel part deeper than kernel_depth");
    if (has(LT_TR_USER_CUT)) add("user part deeper than user_depth");
    if (has(LT_TR_USER_FAULT)) add("user stack not readable to its end");
    if (has(LT_TR_MISS)) add("no row known yet for the next frame's code");
    if (has(LT_TR_CANNOT)) add("the next frame's code cannot be unwound");
    if (!trace.complete() && has(LT_TR_COMPAT)) add("a 32-bit task");
    if (!trace.complete() && has(LT_TR_FP)) add("walked by frame pointer, may skip frames");
    if (text.empty() && !trace.complete()) add("user part does not reach the first frame");
    if (!text.empty()) return text;
    return has(LT_TR_FP) ? "complete, walked by frame pointer" : "complete";
}

std::string command_text(const Task& task) {
    switch (task.kind) {
        case LT_KIND_TASK: return task.comm;
        case LT_KIND_EXITED: return task.comm + " [exited]";
        case LT_KIND_EXITED_ALL: return "[exited]";
        case LT_KIND_OTHER: return "[other]";
        default: return task.comm + " [?]";
    }
}

}  // namespace lattop
