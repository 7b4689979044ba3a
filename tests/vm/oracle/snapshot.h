// SPDX-License-Identifier: GPL-2.0-or-later
// The record view of /proc/lattop as module/uapi/lattop.h promises it. A snapshot that breaks the
// layout (sections outside it, records too short, strings without an end) is refused by
// SnapshotError: that alone fails a case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lattop.h"

namespace oracle {

struct SnapshotError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Snapshot {
public:
    /// Takes the bytes of one snapshot; throws SnapshotError where they break the contract.
    explicit Snapshot(std::vector<std::byte> bytes);

    [[nodiscard]] const lt_header& header() const { return *at<lt_header>(0); }
    [[nodiscard]] uint32_t count(lt_sec section) const { return header().section[section].count; }
    [[nodiscard]] const lt_task_rec& task(uint32_t i) const {
        return record<lt_task_rec>(LT_SEC_TASKS, i);
    }
    [[nodiscard]] const lt_entry_rec& entry(uint32_t i) const {
        return record<lt_entry_rec>(LT_SEC_ENTRIES, i);
    }
    [[nodiscard]] const lt_trace_rec& trace(uint32_t i) const {
        return record<lt_trace_rec>(LT_SEC_TRACES, i);
    }
    /// Of those who ended sleeps of an entry, all in one row.
    [[nodiscard]] const lt_waker_rec& waker(uint32_t i) const;
    /// Names of the trace's kernel functions, innermost first.
    [[nodiscard]] std::vector<std::string_view> kernel_frames(const lt_trace_rec& trace) const;
    /// User addresses of the trace, innermost first.
    [[nodiscard]] std::vector<uint64_t> user_frames(const lt_trace_rec& trace) const;
    [[nodiscard]] std::string_view string(uint32_t offset) const;

private:
    template <typename T>
    [[nodiscard]] const T* at(uint64_t offset) const {
        return static_cast<const T*>(static_cast<const void*>(bytes_.data() + offset));
    }
    template <typename T>
    [[nodiscard]] const T& record(lt_sec section, uint32_t i) const {
        const lt_section& where = header().section[section];
        return *at<T>(where.offset + uint64_t{i} * where.record_bytes);
    }
    void check_section(lt_sec section, std::size_t least_bytes) const;

    std::vector<std::byte> bytes_;
};

/// A held descriptor of /proc/lattop in the record view.
class LattopFile {
public:
    /// Every task there is, sorted by blocked time, with the given traces.
    explicit LattopFile(lt_traces traces);
    LattopFile(const LattopFile&) = delete;
    LattopFile& operator=(const LattopFile&) = delete;
    ~LattopFile();

    /// A fresh snapshot; throws SnapshotError.
    Snapshot read();

private:
    int fd_;
    std::size_t last_bytes_ = 1 << 18;
};

/// A task's name for messages: "pid comm".
std::string name_of(const lt_task_rec& task);

}  // namespace oracle
