// SPDX-License-Identifier: GPL-2.0-or-later
//
// See encoder.h. Every section in the order of enum lt_sec, each aligned.
#include "lattop/source/encoder.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace lattop {
namespace {

constexpr std::size_t kAlign = 8;
constexpr std::uint32_t kUnused = ~0U;

template <std::size_t N>
void copy_string(char (&to)[N], const std::string& from) {
    std::memcpy(to, from.data(), std::min(N, from.size()));
}

lt_header encode_header(const Header& header) {
    lt_header raw{};
    raw.magic = LT_MAGIC;
    raw.version = LT_VERSION;
    raw.header_bytes = sizeof(raw);
    raw.section_nr = LT_SEC_NR;
    raw.time_ns = header.time_ns;
    raw.since_ns = header.since_ns;
    copy_string(raw.hook, header.hook);
    copy_string(raw.release, header.release);
    raw.tasks_total = header.tasks_total;
    raw.tasks_matched = header.tasks_matched;
    std::ranges::copy(header.limit, std::begin(raw.limit));
    std::ranges::copy(header.used, std::begin(raw.used));
    raw.memory_bytes = header.memory_bytes;
    raw.hooks_ns = header.hooks_ns;
    raw.user_share = header.user_share;
    std::ranges::copy(header.share, std::begin(raw.share));
    std::ranges::copy(header.lost, std::begin(raw.lost));
    return raw;
}

lt_task_rec encode_task(const Task& task, std::size_t first_entry) {
    lt_task_rec raw{};
    raw.pid = task.pid;
    raw.tgid = task.tgid;
    raw.uid = task.uid;
    raw.kind = task.kind;
    raw.start_ns = task.start_ns;
    copy_string(raw.comm, task.comm);
    raw.state = static_cast<unsigned char>(task.state);
    raw.flags = task.flags;
    raw.blocked_ns = task.blocked_ns;
    raw.ongoing_ns = task.ongoing_ns;
    raw.max_ns = task.max_ns;
    raw.sleeps = task.sleeps;
    raw.runq_ns = task.runq_ns;
    raw.runs = task.runs;
    raw.exec_id = task.exec_id;
    raw.first_entry = static_cast<__u32>(first_entry);
    raw.n_entries = task.n_entries;
    raw.traces_total = task.traces_total;
    return raw;
}

lt_entry_rec encode_entry(const Entry& entry, std::uint32_t trace) {
    lt_entry_rec raw{};
    raw.trace = trace;
    raw.flags = entry.flags;
    raw.exec_id = entry.exec_id;
    raw.blocked_ns = entry.blocked_ns;
    raw.ongoing_ns = entry.ongoing_ns;
    raw.max_ns = entry.max_ns;
    raw.sleeps = entry.sleeps;
    std::ranges::copy(entry.hist, std::begin(raw.hist));
    return raw;
}

lt_waker_rec encode_waker(const Waker& waker, std::uint32_t trace, std::uint32_t waited_trace) {
    lt_waker_rec raw{};
    raw.trace = trace;
    raw.waited_trace = waited_trace;
    raw.waited_ns = waker.waited_ns;
    raw.kind = waker.kind;
    raw.pid = waker.pid;
    raw.tgid = waker.tgid;
    raw.start_ns = waker.start_ns;
    raw.exec_id = waker.exec_id;
    copy_string(raw.comm, waker.comm);
    raw.blocked_ns = waker.blocked_ns;
    raw.max_ns = waker.max_ns;
    raw.sleeps = waker.sleeps;
    return raw;
}

std::vector<lt_user_rec> encode_users(const std::vector<UserHoldings>& users) {
    std::vector<lt_user_rec> records(users.size());
    for (std::size_t i = 0; i < users.size(); ++i) {
        records[i].uid = users[i].uid;
        std::ranges::copy(users[i].held, std::begin(records[i].held));
    }
    return records;
}

/// Gathers the sections; what is shared is written when it is first named.
class Encoder {
public:
    explicit Encoder(const Snapshot& snapshot)
        : snapshot_(snapshot),
          trace_index_(snapshot.traces.size(), kUnused),
          ksym_index_(snapshot.ksyms.size(), kUnused) {}

    std::vector<std::byte> bytes() {
        lt_header header = encode_header(snapshot_.header);
        header.filter = string(snapshot_.header.filter);
        for (const Task& task : snapshot_.tasks) {
            tasks_.push_back(encode_task(task, entries_.size()));
            for (const Entry& entry : snapshot_.entries_of(task))
                add_entry(entry);
        }
        for (std::size_t i = 0; i < tasks_.size(); ++i)
            tasks_[i].cgroup = string(snapshot_.tasks[i].cgroup());
        std::vector<std::byte> bytes(sizeof(header));
        header.section[LT_SEC_TASKS] = append(bytes, tasks_);
        header.section[LT_SEC_ENTRIES] = append(bytes, entries_);
        header.section[LT_SEC_TRACES] = append(bytes, traces_);
        header.section[LT_SEC_FRAMES] = append(bytes, frames_);
        header.section[LT_SEC_KSYMS] = append(bytes, ksyms_);
        header.section[LT_SEC_STRINGS] = append(bytes, strings_);
        header.wakers = append(bytes, wakers_);
        header.users = append(bytes, encode_users(snapshot_.header.users));
        header.total_bytes = bytes.size();
        std::memcpy(bytes.data(), &header, sizeof(header));
        return bytes;
    }

private:
    template <typename Record>
    static lt_section append(std::vector<std::byte>& bytes, const std::vector<Record>& records) {
        const lt_section section{bytes.size(), static_cast<__u32>(records.size()), sizeof(Record)};
        const std::size_t size = records.size() * sizeof(Record);
        bytes.resize((bytes.size() + size + kAlign - 1) / kAlign * kAlign);
        if (size != 0) std::memcpy(bytes.data() + section.offset, records.data(), size);
        return section;
    }

    void add_entry(const Entry& entry) {
        lt_entry_rec raw = encode_entry(entry, trace(entry.trace));
        raw.first_waker = static_cast<__u32>(wakers_.size());
        raw.n_wakers = entry.n_wakers;
        for (const Waker& waker : snapshot_.wakers_of(entry))
            wakers_.push_back(encode_waker(waker, trace(waker.trace), trace(waker.waited_trace)));
        entries_.push_back(raw);
    }

    std::uint32_t string(std::string_view text) {
        if (text.empty()) return 0;
        const auto [found, added] =
            string_index_.try_emplace(text, static_cast<std::uint32_t>(strings_.size()));
        if (added) {
            strings_.insert(strings_.end(), text.begin(), text.end());
            strings_.push_back('\0');
        }
        return found->second;
    }

    std::uint32_t ksym(std::size_t index) {
        std::uint32_t& place = ksym_index_[index];
        if (place == kUnused) {
            const KernelSymbol& symbol = snapshot_.ksyms[index];
            place = static_cast<std::uint32_t>(ksyms_.size());
            const std::uint32_t name = string(symbol.name);
            ksyms_.push_back({name, string(symbol.module)});
        }
        return place;
    }

    std::uint32_t trace(TraceIndex index) {
        if (index == kOtherTrace) return LT_TRACE_OTHER;
        if (trace_index_[index] != kUnused) return trace_index_[index];
        const Trace& trace = snapshot_.traces[index];
        lt_trace_rec raw{};
        raw.id = trace.id;
        raw.first_frame = static_cast<__u32>(frames_.size());
        raw.nr_kernel = trace.nr_kernel;
        raw.nr_user = trace.nr_user;
        raw.syscall = trace.syscall;
        raw.flags = trace.flags;
        const auto kernel = std::span(snapshot_.frames).subspan(trace.first_frame, trace.nr_kernel);
        for (const std::uint64_t frame : kernel)
            frames_.push_back(std::uint64_t{ksym(frame >> kKsymShift)} << kKsymShift |
                              static_cast<std::uint32_t>(frame));
        const auto user = snapshot_.user_frames(trace);
        frames_.insert(frames_.end(), user.begin(), user.end());
        traces_.push_back(raw);
        return trace_index_[index] = static_cast<std::uint32_t>(traces_.size() - 1);
    }

    const Snapshot& snapshot_;
    std::vector<lt_task_rec> tasks_;
    std::vector<lt_entry_rec> entries_;
    std::vector<lt_waker_rec> wakers_;
    std::vector<lt_trace_rec> traces_;
    std::vector<std::uint64_t> frames_;
    std::vector<lt_ksym_rec> ksyms_;
    std::vector<char> strings_ = {'\0'};
    std::vector<std::uint32_t> trace_index_, ksym_index_;
    std::map<std::string_view, std::uint32_t> string_index_;
};

}  // namespace

std::vector<std::byte> encode(const Snapshot& snapshot) {
    return Encoder(snapshot).bytes();
}

}  // namespace lattop
