// SPDX-License-Identifier: GPL-2.0-or-later
//
// What sleepers waited for, in a recording: a file, a socket's ends, a futex and who held the
// mutex in it. ObjectBook leaves out what a recording has already; add_objects() reads it.
//
// An Objects payload is of the snapshot whose time_ns its record's header says, which stands
// before it. It is a run of items, each as long as it says, so that they may grow:
//
//	u32 bytes of what follows, u32 pid, u32 tgid, u64 start_ns, u64 begin_ns,
//	u32 length, text
//
// begin_ns: when the sleep began, which is time_ns - ongoing_ns of its task in any snapshot
// that shows it. The object holds until a later one says another of the same sleep, and for
// the snapshots of that sleep before the first one. Thread 7 of process 6 in a read(2):
//
//	28 00 00 00 07 00 00 00 06 00 00 00 e8 03 00 00 00 00 00 00
//	00 ca 9a 3b 00 00 00 00 0c 00 00 00 'fd 3: /tmp/a'
//
// A text has any bytes: file names of others. What is beyond the limits below is refused; the
// writer cuts texts and counts the objects that have no room any more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "lattop/model/sleep_objects.h"

namespace lattop::recording {

inline constexpr std::size_t kMaxObjectText = std::size_t{1} << 14;  ///< bytes
/// All payloads of a recording: where each second 64 sleepers wait for something else, seven
/// hours of it.
inline constexpr std::size_t kMaxObjects = std::size_t{128} << 20;
/// An item without its text.
inline constexpr std::size_t kObjectBytes = 32;
static_assert(kMaxObjects / kObjectBytes <= SleepObjects::kMost);

/// What has been written, of sleeps that may still go on.
class ObjectBook {
public:
    /// `most`: bytes of all payloads.
    explicit ObjectBook(std::size_t most = kMaxObjects) : most_(most) {}

    /// The payload for what is new or has changed; empty where nothing is.
    std::vector<std::byte> news(const FoundObjects& found);

    /// How many had no room.
    [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

private:
    struct Written {
        std::uint64_t begin_ns = 0;
        std::size_t text = 0;  // its hash
    };

    std::unordered_map<TaskId, Written, HashTaskId> written_;  // the last one of each task
    std::size_t bytes_ = 0;
    std::size_t most_;
    std::uint64_t left_out_ = 0;
};

/// The objects of a recording.
class RecordedObjects {
public:
    explicit RecordedObjects(std::size_t most = kMaxObjects) : most_(most) {}

    /// Refuses a payload by its size, before it is unpacked. Throws RecordingError.
    void expect(std::size_t bytes) const;

    /// Takes a payload over, of the snapshot of `time_ns`. Throws RecordingError; what came
    /// before the fault stays.
    void add(std::uint64_t time_ns, std::span<const std::byte> payload);

    [[nodiscard]] const SleepObjects& objects() const { return objects_; }

private:
    SleepObjects objects_;
    std::size_t bytes_ = 0;
    std::size_t most_;
};

}  // namespace lattop::recording
