// SPDX-License-Identifier: GPL-2.0-or-later
//
// Writes the bytes of a record view from a description: what the module would
// have written. For every test that needs a snapshot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lattop/source/snapshot.h"

namespace lattop::test {

/// In ns.
inline constexpr std::uint64_t kMs = 1'000'000;
inline constexpr std::uint64_t kSecond = 1'000 * kMs;

struct WakerSpec {
    std::uint32_t trace = LT_TRACE_OTHER;  ///< as add_trace() numbered it
    std::uint32_t kind = LT_WAKER_TASK;
    std::uint32_t pid = 0;
    std::string comm{};
    std::uint64_t blocked_ns = 0;
    std::uint64_t sleeps = 1;
    std::uint32_t exec_id = 1;  ///< of one with a pid
    std::uint32_t waited_trace = LT_TRACE_OTHER;
    std::uint64_t waited_ns = 0;
    std::uint32_t tgid = 0;  ///< 0: the same as pid
};

struct EntrySpec {
    std::uint32_t trace = LT_TRACE_OTHER;  ///< as add_trace() numbered it
    std::uint64_t blocked_ns = 0;
    std::uint64_t sleeps = 1;
    std::uint64_t max_ns = 0;
    std::uint64_t ongoing_ns = 0;
    std::uint32_t flags = 0;
    std::uint32_t exec_id = 1;
    std::map<std::size_t, std::uint64_t> hist{};
    std::vector<WakerSpec> wakers{};
};

struct TaskSpec {
    std::uint32_t pid = 1;
    std::uint32_t tgid = 0;  ///< 0: the same as pid
    std::string comm = "task";
    std::uint64_t blocked_ns = 0;
    std::uint64_t sleeps = 0;
    std::uint64_t max_ns = 0;
    std::uint64_t ongoing_ns = 0;
    std::uint64_t runq_ns = 0;
    std::uint64_t runs = 0;
    std::uint32_t uid = 0;
    std::uint32_t kind = LT_KIND_TASK;
    std::uint64_t start_ns = 1000;
    char state = 'S';
    std::uint32_t flags = LT_T_ASLEEP;
    std::uint32_t exec_id = 1;
    std::uint32_t traces_total = 0;  ///< 0: as many as there are entries
    std::string cgroup{};
    std::vector<EntrySpec> entries{};
};

struct TraceSpec {
    std::uint64_t id = 1;
    std::vector<std::string> kernel{};  ///< "name" or "name [module]"; offset 0x10 each
    std::vector<std::uint64_t> user{};
    std::uint32_t flags = LT_TR_COMPLETE;
    std::int32_t syscall = -1;
};

class SnapshotBuilder {
public:
    SnapshotBuilder();

    lt_header header{};  ///< sections and total_bytes are filled in by bytes()

    std::vector<lt_user_rec> users;

    /// Bytes added to each record, as a newer module would have them.
    std::uint32_t growth = 0;

    /// Header, tasks and entries as the first snapshots had them: nothing of
    /// wakers, cgroups and users.
    bool first_layout = false;

    std::uint32_t add_trace(const TraceSpec& spec);
    void add_task(const TaskSpec& spec);

    [[nodiscard]] std::vector<std::byte> bytes() const;
    [[nodiscard]] Snapshot snapshot() const;

private:
    std::uint32_t string(const std::string& text);
    std::uint32_t ksym(const std::string& text);

    std::vector<lt_task_rec> tasks_;
    std::vector<lt_entry_rec> entries_;
    std::vector<lt_waker_rec> wakers_;
    std::vector<lt_trace_rec> traces_;
    std::vector<std::uint64_t> frames_;
    std::vector<lt_ksym_rec> ksyms_;
    std::map<std::string, std::uint32_t> ksym_index_, cgroups_;
    std::string strings_ = std::string(1, '\0');
};

}  // namespace lattop::test
