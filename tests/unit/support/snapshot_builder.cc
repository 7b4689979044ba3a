// SPDX-License-Identifier: GPL-2.0-or-later
//
// See snapshot_builder.h.
#include "tests/unit/support/snapshot_builder.h"

#include <cstring>

#include "lattop/source/decoder.h"

namespace lattop::test {
namespace {

constexpr std::size_t kAlign = 8;

template <typename Record>
void append(std::vector<std::byte>& bytes, const Record& record, std::size_t record_bytes) {
    const std::size_t at = bytes.size();
    bytes.resize(at + record_bytes, std::byte{0xa5});
    std::memcpy(bytes.data() + at, &record, std::min(sizeof(record), record_bytes));
}

template <typename Record>
lt_section append_section(std::vector<std::byte>& bytes, const std::vector<Record>& records,
                          std::uint32_t growth, std::size_t size = sizeof(Record)) {
    const lt_section section{bytes.size(), static_cast<__u32>(records.size()),
                             static_cast<__u32>(size + growth)};
    for (const Record& record : records)
        append(bytes, record, size + growth);
    bytes.resize((bytes.size() + kAlign - 1) / kAlign * kAlign);
    return section;
}

template <std::size_t N>
void copy_string(char (&to)[N], const std::string& from) {
    std::memcpy(to, from.data(), std::min(N, from.size()));
}

}  // namespace

SnapshotBuilder::SnapshotBuilder() {
    header.magic = LT_MAGIC;
    header.version = LT_VERSION;
    header.section_nr = LT_SEC_NR;
    header.time_ns = 12'000'000'000;
    header.since_ns = 2'000'000'000;
    copy_string(header.hook, "tracepoint");
    copy_string(header.release, "0.1.0");
    header.limit[LT_LIMIT_TASKS] = 16384;
    header.limit[LT_LIMIT_ENTRIES] = 65536;
    header.limit[LT_LIMIT_TRACES] = 32768;
    header.limit[LT_LIMIT_EXITED] = 1024;
    header.memory_bytes = 12'345'678;
    header.hooks_ns = 40'000'000;
    header.filter = string("none");
}

std::uint32_t SnapshotBuilder::string(const std::string& text) {
    if (text.empty()) return 0;
    const auto at = static_cast<std::uint32_t>(strings_.size());
    strings_ += text;
    strings_ += '\0';
    return at;
}

std::uint32_t SnapshotBuilder::ksym(const std::string& text) {
    const auto [found, added] =
        ksym_index_.emplace(text, static_cast<std::uint32_t>(ksyms_.size()));
    if (added) {
        const std::size_t bracket = text.find(" [");
        const std::string module =
            bracket == std::string::npos ? "" : text.substr(bracket + 2, text.size() - bracket - 3);
        const std::uint32_t name = string(text.substr(0, bracket));
        ksyms_.push_back({name, string(module)});
    }
    return found->second;
}

std::uint32_t SnapshotBuilder::add_trace(const TraceSpec& spec) {
    lt_trace_rec raw{};
    raw.id = spec.id;
    raw.first_frame = static_cast<__u32>(frames_.size());
    raw.nr_kernel = static_cast<__u16>(spec.kernel.size());
    raw.nr_user = static_cast<__u16>(spec.user.size());
    raw.syscall = spec.syscall;
    raw.flags = spec.flags;
    for (const std::string& name : spec.kernel)
        frames_.push_back(std::uint64_t{ksym(name)} << 32 | 0x10);
    frames_.insert(frames_.end(), spec.user.begin(), spec.user.end());
    traces_.push_back(raw);
    header.used[LT_LIMIT_TRACES] = static_cast<__u32>(traces_.size());
    return static_cast<std::uint32_t>(traces_.size() - 1);
}

void SnapshotBuilder::add_task(const TaskSpec& spec) {
    lt_task_rec raw{};
    raw.pid = spec.pid;
    raw.tgid = spec.tgid == 0 ? spec.pid : spec.tgid;
    raw.uid = spec.uid;
    raw.kind = spec.kind;
    raw.start_ns = spec.start_ns;
    copy_string(raw.comm, spec.comm);
    raw.state = static_cast<unsigned char>(spec.state);
    raw.flags = spec.flags;
    raw.blocked_ns = spec.blocked_ns;
    raw.ongoing_ns = spec.ongoing_ns;
    raw.max_ns = spec.max_ns;
    raw.sleeps = spec.sleeps;
    raw.runq_ns = spec.runq_ns;
    raw.runs = spec.runs;
    raw.exec_id = spec.exec_id;
    raw.first_entry = static_cast<__u32>(entries_.size());
    raw.n_entries = static_cast<__u32>(spec.entries.size());
    raw.traces_total = spec.traces_total == 0 ? raw.n_entries : spec.traces_total;
    const auto [cgroup, added] = cgroups_.try_emplace(spec.cgroup, 0);
    if (added) cgroup->second = string(spec.cgroup);
    raw.cgroup = cgroup->second;
    for (const EntrySpec& entry : spec.entries) {
        lt_entry_rec rec{};
        rec.trace = entry.trace;
        rec.flags = entry.flags;
        rec.exec_id = entry.exec_id;
        rec.blocked_ns = entry.blocked_ns;
        rec.ongoing_ns = entry.ongoing_ns;
        rec.max_ns = entry.max_ns;
        rec.sleeps = entry.sleeps;
        for (const auto& [bucket, count] : entry.hist)
            rec.hist[bucket] = count;
        rec.first_waker = static_cast<__u32>(wakers_.size());
        rec.n_wakers = static_cast<__u32>(entry.wakers.size());
        for (const WakerSpec& waker : entry.wakers) {
            lt_waker_rec raw_waker{};
            raw_waker.trace = waker.trace;
            raw_waker.kind = waker.kind;
            raw_waker.waited_trace = waker.waited_trace;
            raw_waker.waited_ns = waker.waited_ns;
            raw_waker.pid = waker.pid;
            raw_waker.tgid = waker.tgid == 0 ? waker.pid : waker.tgid;
            raw_waker.start_ns = waker.pid == 0 ? 0 : 1000;
            raw_waker.exec_id = waker.pid == 0 ? 0 : waker.exec_id;
            copy_string(raw_waker.comm, waker.comm);
            raw_waker.blocked_ns = raw_waker.max_ns = waker.blocked_ns;
            raw_waker.sleeps = waker.sleeps;
            wakers_.push_back(raw_waker);
        }
        entries_.push_back(rec);
    }
    tasks_.push_back(raw);
    header.tasks_total = static_cast<__u32>(tasks_.size());
    header.tasks_matched = header.tasks_total;
    header.used[LT_LIMIT_TASKS] = header.tasks_total;
    header.used[LT_LIMIT_ENTRIES] = static_cast<__u32>(entries_.size());
}

std::vector<std::byte> SnapshotBuilder::bytes() const {
    lt_header raw = header;
    const std::size_t header_size = first_layout ? offsetof(lt_header, wakers) : sizeof(raw);
    raw.header_bytes = static_cast<__u32>(header_size) + growth;
    std::vector<std::byte> bytes(raw.header_bytes);
    raw.section[LT_SEC_TASKS] = append_section(
        bytes, tasks_, growth, first_layout ? offsetof(lt_task_rec, cgroup) : sizeof(lt_task_rec));
    raw.section[LT_SEC_ENTRIES] =
        append_section(bytes, entries_, growth,
                       first_layout ? offsetof(lt_entry_rec, first_waker) : sizeof(lt_entry_rec));
    raw.section[LT_SEC_TRACES] = append_section(bytes, traces_, growth);
    raw.section[LT_SEC_FRAMES] = append_section(bytes, frames_, growth);
    raw.section[LT_SEC_KSYMS] = append_section(bytes, ksyms_, growth);
    const std::vector<char> strings(strings_.begin(), strings_.end());
    raw.section[LT_SEC_STRINGS] = append_section(bytes, strings, 0);
    if (!first_layout) {
        raw.wakers = append_section(bytes, wakers_, growth);
        raw.users = append_section(bytes, users, growth);
    }
    raw.total_bytes = bytes.size();
    std::memcpy(bytes.data(), &raw, header_size);
    return bytes;
}

Snapshot SnapshotBuilder::snapshot() const {
    return decode(bytes());
}

}  // namespace lattop::test
