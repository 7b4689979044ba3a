// SPDX-License-Identifier: GPL-2.0-or-later
//
// Traces kept beyond the snapshot they came in: ids are never reused, so a
// trace is kept once however many snapshots have it. Used by Period.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lattop/source/snapshot.h"

namespace lattop {

/// What a map takes of each that is in it, beside that: the places of the next one and of its
/// bucket, the hash, malloc's own.
inline constexpr std::uint64_t kMapNodeBytes = 32;

class TraceStore {
public:
    /// Index of the trace here: the same for the same trace of any snapshot.
    TraceIndex keep(const Snapshot& snapshot, const Trace& trace);

    /// Gives `snapshot` all the traces, at their indices here.
    void fill(Snapshot& snapshot) const;

    /// What all of them take, about.
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

private:
    std::uint64_t keep_symbol(const KernelSymbol& symbol);

    std::unordered_map<std::uint64_t, TraceIndex> index_;  // by Trace::id
    std::vector<Trace> traces_;
    std::vector<std::uint64_t> frames_;
    std::map<std::pair<std::string, std::string>, std::uint32_t> symbol_index_;
    std::vector<std::pair<std::string, std::string>> symbols_;  // name, module
    std::uint64_t bytes_ = 0;
};

}  // namespace lattop
