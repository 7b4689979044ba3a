// SPDX-License-Identifier: GPL-2.0-or-later
//
// A snapshot as the rest of the front end sees it: decoded, checked, in the
// words of the design. Made by the decoder, kept by the model; nothing in it
// points into the bytes it came from. Every index in it is in range.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "module/uapi/lattop.h"

namespace lattop {

using Histogram = std::array<std::uint64_t, LT_HIST_BUCKETS>;

/// The name of a loss counter and what one count of it is.
struct LostCause {
    std::string_view name;
    std::string_view text;
};

/// By index of lt_header.lost; counters of newer modules have no name here.
inline constexpr std::array<LostCause, LT_LOST_NR> kLostCauses = {{
#define LATTOP_LOST_ROW(name, text) {#name, text},
    LT_LOST_LIST(LATTOP_LOST_ROW)
#undef LATTOP_LOST_ROW
}};

/// All counters of the header: the named ones and the spare ones behind.
inline constexpr std::size_t kLostSlots = LT_LOST_SLOTS;

/// What one user may hold his share of, by index of lt_user_rec.held.
inline constexpr std::array<std::string_view, LT_HELD_NR> kHeldNames = {
#define LATTOP_HELD_NAME(name) #name,
    LT_HELD_LIST(LATTOP_HELD_NAME)
#undef LATTOP_HELD_NAME
};

/// Counts by LT_HELD_*; those of newer modules have no name here.
using Holdings = std::array<std::uint32_t, LT_HELD_SLOTS>;

struct UserHoldings {
    std::uint32_t uid = 0;
    Holdings held{};
};

struct Header {
    std::uint64_t time_ns = 0;   ///< CLOCK_MONOTONIC of the snapshot
    std::uint64_t since_ns = 0;  ///< CLOCK_MONOTONIC of load or of the last reset
    std::uint64_t load = 0;      ///< counts loads of the module: trace ids begin anew with each
    std::string hook;
    std::string release;
    std::uint32_t tasks_total = 0;
    std::uint32_t tasks_matched = 0;
    std::array<std::uint32_t, LT_LIMIT_SLOTS> limit{};
    std::array<std::uint32_t, LT_LIMIT_SLOTS> used{};
    std::uint64_t memory_bytes = 0;
    std::uint64_t hooks_ns = 0;  ///< what the module's hooks cost since since_ns, all CPUs
    std::string filter;          ///< what the module accounts at all; "none": everything
    std::array<std::uint64_t, kLostSlots> lost{};
    std::uint32_t user_share = 0;     ///< percent of each table; 100: nobody is limited
    Holdings share{};                 ///< the most that one user may hold
    std::vector<UserHoldings> users;  ///< who is limited and holds something: those the reader sees
};

/// Index into Snapshot::traces, or kOtherTrace for the entry named [other].
using TraceIndex = std::uint32_t;
inline constexpr TraceIndex kOtherTrace = LT_TRACE_OTHER;

/// The sleeps of one task in one trace.
struct Entry {
    TraceIndex trace = kOtherTrace;
    std::uint32_t flags = 0;    ///< LT_E_*
    std::uint32_t exec_id = 0;  ///< the program that slept
    std::uint64_t blocked_ns = 0;
    std::uint64_t ongoing_ns = 0;
    std::uint64_t max_ns = 0;
    std::uint64_t sleeps = 0;
    Histogram hist{};
    std::uint32_t first_waker = 0;
    std::uint32_t n_wakers = 0;

    /// A sleep under way is among them.
    [[nodiscard]] bool asleep() const { return (flags & LT_E_ONGOING) != 0; }
};

/// Who ended sleeps of one entry: a task, an interrupt, or somebody that this
/// reader is not shown.
struct Waker {
    TraceIndex trace = kOtherTrace;  ///< from where; kOtherTrace where that is not known
    std::uint32_t kind = LT_WAKER_TASK;
    std::uint32_t pid = 0;
    std::uint32_t tgid = 0;
    std::uint64_t start_ns = 0;  ///< CLOCK_BOOTTIME
    std::uint32_t exec_id = 0;
    std::string comm;              ///< any bytes but NUL
    std::uint64_t blocked_ns = 0;  ///< of the sleeps that it ended
    std::uint64_t max_ns = 0;
    std::uint64_t sleeps = 0;
    TraceIndex waited_trace = kOtherTrace;  ///< of its own last sleep before; kOtherTrace: none
    std::uint64_t waited_ns = 0;            ///< how much of blocked_ns that was
};

struct Task {
    std::uint32_t pid = 0;
    std::uint32_t tgid = 0;
    std::uint32_t uid = 0;
    std::uint32_t kind = LT_KIND_TASK;  ///< LT_KIND_*; a newer module may have more
    std::uint64_t start_ns = 0;         ///< CLOCK_BOOTTIME
    std::string comm;                   ///< any bytes but NUL
    char state = '?';
    std::uint32_t flags = 0;  ///< LT_T_*
    std::uint64_t blocked_ns = 0;
    std::uint64_t ongoing_ns = 0;
    std::uint64_t max_ns = 0;
    std::uint64_t sleeps = 0;
    std::uint64_t runq_ns = 0;
    std::uint64_t runs = 0;
    std::uint32_t exec_id = 0;
    std::uint32_t first_entry = 0;
    std::uint32_t n_entries = 0;
    std::uint32_t traces_total = 0;
    /// Path, as the reader sees it, shared by the tasks in it; null for not known.
    std::shared_ptr<const std::string> cgroup_path;

    /// "" for not known.
    [[nodiscard]] const std::string& cgroup() const {
        static const std::string unknown;
        return cgroup_path ? *cgroup_path : unknown;
    }
    [[nodiscard]] bool kernel_thread() const { return (flags & LT_T_KTHREAD) != 0; }
    [[nodiscard]] bool exited() const { return (flags & LT_T_EXITED) != 0; }
    [[nodiscard]] bool asleep() const { return (flags & LT_T_ASLEEP) != 0; }
    [[nodiscard]] bool waits_for_io() const { return (flags & LT_T_IOWAIT) != 0; }
    /// As ps shows it, but s and d for S and D that wait for I/O.
    [[nodiscard]] char state_letter() const {
        if (!waits_for_io()) return state;
        return state == 'S' ? 's' : state == 'D' ? 'd' : state;
    }
};

struct Trace {
    std::uint64_t id = 0;
    std::uint32_t first_frame = 0;
    std::uint16_t nr_kernel = 0;
    std::uint16_t nr_user = 0;
    std::int32_t syscall = -1;
    std::uint32_t flags = 0;  ///< LT_TR_*

    [[nodiscard]] bool complete() const { return (flags & LT_TR_COMPLETE) != 0; }
};

/// A function of the kernel; views into Snapshot::strings.
struct KernelSymbol {
    std::string_view name;
    std::string_view module;  ///< "" for the kernel itself
};

struct KernelFrame {
    KernelSymbol symbol;
    std::uint32_t offset = 0;
};

/// A kernel frame in `Snapshot::frames`: a function's index above these bits,
/// the offset of the return address in it below.
inline constexpr unsigned kKsymShift = 32;

/// Moves only: the symbols' views must stay with their strings.
struct Snapshot {
    Snapshot() = default;
    Snapshot(Snapshot&&) = default;
    Snapshot& operator=(Snapshot&&) = default;
    Snapshot(const Snapshot&) = delete;
    Snapshot& operator=(const Snapshot&) = delete;
    ~Snapshot() = default;

    Header header;
    std::vector<Task> tasks;
    std::vector<Entry> entries;
    std::vector<Waker> wakers;
    std::vector<Trace> traces;
    std::vector<std::uint64_t> frames;
    std::vector<KernelSymbol> ksyms;
    std::vector<char> strings;  ///< a vector: moving it keeps its bytes where they are

    /// Entries of a task, most blocked time first.
    [[nodiscard]] std::span<const Entry> entries_of(const Task& task) const {
        return std::span(entries).subspan(task.first_entry, task.n_entries);
    }

    /// The entry of the sleep that a task is in; nullptr where it is in none, or the snapshot holds
    /// another of its entries alone.
    [[nodiscard]] const Entry* ongoing_entry(const Task& task) const;

    /// Wakers of an entry, in no order.
    [[nodiscard]] std::span<const Waker> wakers_of(const Entry& entry) const {
        return std::span(wakers).subspan(entry.first_waker, entry.n_wakers);
    }

    /// nullptr for kOtherTrace.
    [[nodiscard]] const Trace* trace_at(TraceIndex index) const {
        return index == kOtherTrace ? nullptr : &traces[index];
    }

    /// The trace of an entry; nullptr for [other].
    [[nodiscard]] const Trace* trace_of(const Entry& entry) const { return trace_at(entry.trace); }

    /// Kernel frames of a trace, innermost first.
    [[nodiscard]] std::vector<KernelFrame> kernel_frames(const Trace& trace) const;

    /// User addresses of a trace, innermost first.
    [[nodiscard]] std::span<const std::uint64_t> user_frames(const Trace& trace) const {
        return std::span(frames).subspan(std::size_t{trace.first_frame} + trace.nr_kernel,
                                         trace.nr_user);
    }
};

}  // namespace lattop
