// SPDX-License-Identifier: GPL-2.0-or-later
//
// See trace_store.h.
#include "lattop/model/trace_store.h"

namespace lattop {
std::uint64_t TraceStore::keep_symbol(const KernelSymbol& symbol) {
    const auto [found, added] =
        symbol_index_.try_emplace({std::string(symbol.name), std::string(symbol.module)},
                                  static_cast<std::uint32_t>(symbols_.size()));
    if (added) {
        symbols_.push_back(found->first);
        bytes_ += 2 * (sizeof(symbols_.back()) + symbol.name.size() + symbol.module.size()) +
                  kMapNodeBytes;
    }
    return found->second;
}

TraceIndex TraceStore::keep(const Snapshot& snapshot, const Trace& trace) {
    const auto [found, added] =
        index_.try_emplace(trace.id, static_cast<TraceIndex>(traces_.size()));
    if (!added) return found->second;
    Trace kept = trace;
    kept.first_frame = static_cast<std::uint32_t>(frames_.size());
    for (const KernelFrame& frame : snapshot.kernel_frames(trace))
        frames_.push_back(keep_symbol(frame.symbol) << kKsymShift | frame.offset);
    const auto user = snapshot.user_frames(trace);
    frames_.insert(frames_.end(), user.begin(), user.end());
    traces_.push_back(kept);
    bytes_ += sizeof(kept) + sizeof(*found) + kMapNodeBytes +
              (std::uint64_t{trace.nr_kernel} + trace.nr_user) * sizeof(frames_.front());
    return found->second;
}

void TraceStore::fill(Snapshot& snapshot) const {
    snapshot.traces = traces_;
    snapshot.frames = frames_;
    snapshot.strings.clear();
    for (const auto& [name, module] : symbols_) {
        snapshot.strings.insert(snapshot.strings.end(), name.begin(), name.end());
        snapshot.strings.insert(snapshot.strings.end(), module.begin(), module.end());
    }
    // Only now do the strings stay where they are.
    snapshot.ksyms.clear();
    const char* at = snapshot.strings.data();
    for (const auto& [name, module] : symbols_) {
        snapshot.ksyms.push_back({{at, name.size()}, {at + name.size(), module.size()}});
        at += name.size() + module.size();
    }
}

}  // namespace lattop
