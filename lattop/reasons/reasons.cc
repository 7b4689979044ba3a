// SPDX-License-Identifier: GPL-2.0-or-later
//
// See reasons.h.
#include "lattop/reasons/reasons.h"

#include "lattop/model/frames.h"
#include "lattop/model/kernel_stack.h"
#include "lattop/reasons/load.h"

namespace lattop {
namespace {

/// More traces than a module with its largest limits in use has on a machine;
/// 100 bytes each.
constexpr std::size_t kMaxTraces = std::size_t{1} << 18;
constexpr std::size_t kMaxStacks = std::size_t{1} << 17;

/// Traces and stacks that stay although the snapshot has fewer: 100 bytes each. Some come back, and
/// one task has more beside it.
constexpr std::size_t kUnshown = 8192;

/// Names of functions that are reasons of their own, which stay for good. A kernel waits in some
/// thousands; a recording may say anything.
constexpr std::size_t kMaxFunctions = std::size_t{1} << 16;

/// As patterns have it: without parameters, and of templates without what they return.
std::string pattern_name(const std::string& symbol) {
    const bool is_template = symbol.find(">(") != std::string::npos;
    return without_parameters(is_template ? std::string(without_return_type(symbol)) : symbol);
}

/// Innermost first, functions that were inlined before those they are in.
std::vector<std::string> user_functions(const UserStack& stack) {
    std::vector<std::string> names;
    for (const UserFramePtr& frame : stack.frames) {
        for (const InlinedFrame& inlined : frame->inlined)
            names.push_back(pattern_name(inlined.symbol));
        names.push_back(pattern_name(frame->symbol));
    }
    return names;
}

}  // namespace

Reasons::Reasons() : Reasons(built_in_reasons()) {}

Reasons::Reasons(ReasonTable table)
    : table_(std::move(table)), traces_(kMaxTraces), stacks_(kMaxStacks) {}

void Reasons::forget_unseen(const Snapshot& snapshot) {
    traces_.keep_newest(snapshot.traces.size() + kUnshown);
    stacks_.keep_newest(snapshot.entries.size() + kUnshown);
}

const Reason& Reasons::function_name(const Snapshot& snapshot, const Trace& trace) {
    const auto kernel = snapshot.kernel_frames(trace);
    const auto telling = telling_frame(kernel);
    if (!telling) return other_;
    std::string name(plain_name(kernel[*telling].symbol.name));
    if (const auto known = functions_.find(name); known != functions_.end()) return known->second;
    if (functions_.size() == kMaxFunctions) return other_;
    Reason& reason = functions_[name];
    reason.name = std::move(name);
    return reason;
}

const Reasons::ByKernel& Reasons::by_kernel(const Snapshot& snapshot, const Trace& trace) {
    if (snapshot.header.load != load_) {
        traces_ = decltype(traces_)(kMaxTraces);
        load_ = snapshot.header.load;
    }
    if (const ByKernel* known = traces_.find(trace.id)) return *known;
    const FunctionStack stack{kernel_functions(snapshot, trace), {}};
    const Reason* decided = table_.decide(stack);
    if (decided == nullptr) decided = &function_name(snapshot, trace);
    return traces_.put(trace.id, {decided, table_.asks_for_user(stack.kernel)});
}

const Reason& Reasons::by_user(const Snapshot& snapshot, const Trace& trace, const StackId& id,
                               const UserStack& names) {
    if (const ByUser* known = stacks_.find(id); known != nullptr && known->version == names.version)
        return *known->reason;
    const std::vector<std::string> functions = user_functions(names);
    const FunctionStack stack{kernel_functions(snapshot, trace),
                              {functions.begin(), functions.end()}};
    const Reason* decided = table_.decide(stack);
    if (decided == nullptr) decided = &function_name(snapshot, trace);
    return *stacks_.put(id, {names.version, decided}).reason;
}

const Reason& Reasons::of(const Snapshot& snapshot, const Task& task, const Entry& entry,
                          const UserStacks& stacks) {
    const Trace* trace = snapshot.trace_of(entry);
    if (trace == nullptr) return other_;
    const ByKernel& known = by_kernel(snapshot, *trace);
    if (!known.asks_for_user || trace->nr_user == 0) return *known.reason;
    const StackId id = stack_id(snapshot, task, entry);
    const UserStack* names = stacks.find(id);
    return names == nullptr ? *known.reason : by_user(snapshot, *trace, id, *names);
}

const Reason& Reasons::of_worst(const Snapshot& snapshot, const Task& task,
                                const UserStacks& stacks) {
    const auto entries = snapshot.entries_of(task);
    if (!entries.empty()) return of(snapshot, task, entries.front(), stacks);
    return task.blocked_ns == 0 ? none_ : other_;
}

}  // namespace lattop
