// SPDX-License-Identifier: GPL-2.0-or-later
//
// The one place that reads bytes of a snapshot. The decoder steps through
// sections with it; nothing else touches the buffer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "lattop/source/error.h"
#include "module/uapi/lattop.h"

namespace lattop {

/// How many bytes of a record every writer has written; what a type has grown by
/// since is 0 in older ones.
template <typename Record>
inline constexpr std::size_t kLeastBytes = sizeof(Record);
template <>
inline constexpr std::size_t kLeastBytes<lt_task_rec> = offsetof(lt_task_rec, cgroup);
template <>
inline constexpr std::size_t kLeastBytes<lt_entry_rec> = offsetof(lt_entry_rec, first_waker);

/// A bounds-checked reader of one run of equal-sized records. Refuses records
/// smaller than kLeastBytes; bytes behind the type read from them are from a
/// newer writer and are stepped over.
template <typename Record>
class RecordCursor {
    static_assert(std::is_trivially_copyable_v<Record>);

public:
    /// `bytes` holds, from its start, `count` records of `record_bytes` each.
    /// Throws FormatError; after that, count() is safe to allocate for.
    RecordCursor(std::span<const std::byte> bytes, std::string_view what, std::uint32_t count,
                 std::uint32_t record_bytes)
        : bytes_(bytes), what_(what), count_(count), record_bytes_(record_bytes) {
        if (count != 0 && record_bytes < kLeastBytes<Record>)
            throw FormatError(what_ + ": records have " + std::to_string(record_bytes) +
                              " bytes, at least " + std::to_string(kLeastBytes<Record>) +
                              " are needed");
        if (std::uint64_t{count} * record_bytes > bytes.size())
            throw FormatError(what_ + ": " + std::to_string(count) + " records of " +
                              std::to_string(record_bytes) + " bytes do not fit in " +
                              std::to_string(bytes.size()));
    }

    [[nodiscard]] bool done() const { return index_ == count_; }
    [[nodiscard]] std::uint32_t count() const { return count_; }

    /// The next record. Throws FormatError behind the last one.
    Record next() {
        if (done()) throw FormatError(what_ + ": read behind the last record");
        Record record{};
        std::memcpy(&record, bytes_.data() + std::size_t{index_} * record_bytes_,
                    std::min<std::size_t>(sizeof(record), record_bytes_));
        ++index_;
        return record;
    }

    /// "tasks[3]", for messages about the record read last.
    [[nodiscard]] std::string where() const {
        return what_ + "[" + std::to_string(index_ == 0 ? 0 : index_ - 1) + "]";
    }

private:
    std::span<const std::byte> bytes_;
    std::string what_;
    std::uint32_t count_;
    std::uint32_t record_bytes_;
    std::uint32_t index_ = 0;
};

}  // namespace lattop
