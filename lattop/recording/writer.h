// SPDX-License-Identifier: GPL-2.0-or-later
//
// Writes a recording, record by record, each whole in one call of its output.
// Used by `lattop record` and `lattop run -o`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "lattop/recording/compress.h"
#include "lattop/recording/format.h"
#include "lattop/recording/names.h"
#include "lattop/recording/objects.h"
#include "lattop/source/snapshot.h"

namespace lattop::recording {

/// Appends all of the bytes, or none and throws Error.
using Append = std::function<void(std::span<const std::byte>)>;

/// About the machine and the recording: "host", "kernel", "command" and such;
/// at the end "unnamed-stacks", how many had no room for names, and "objects-left-out", of how
/// many sleepers there was no room for what they waited for, if any.
using Info = std::map<std::string, std::string>;

class Writer {
public:
    /// Writes the beginning. `realtime_ns`: the wall clock, here and below.
    Writer(Append append, const Info& info, std::uint64_t realtime_ns);

    /// Writes the names that are new with it, then the snapshot.
    void add(const Snapshot& snapshot, NameSources names, std::uint64_t realtime_ns);

    /// Writes names of `snapshot`, which was written before, that are new since then.
    void add_names(const Snapshot& snapshot, NameSources names, std::uint64_t realtime_ns);

    /// Writes names that were being looked for when their snapshots were written.
    void add_late_names(NameSources names, std::uint64_t realtime_ns);

    /// Writes what sleepers of a snapshot that was written before were found to wait for.
    void add_objects(const FoundObjects& found, std::uint64_t realtime_ns);

    /// Nothing can be added behind it.
    void end(std::uint64_t realtime_ns);

    [[nodiscard]] std::uint64_t snapshots() const { return snapshots_; }
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

private:
    void put_info(const Info& info, std::uint64_t realtime_ns);
    void put(Kind kind, std::span<const std::byte> raw, std::span<const std::byte> prefix,
             std::uint64_t time_ns, std::uint64_t realtime_ns);

    Append append_;
    Compressor compressor_;
    NameBook names_;
    ObjectBook objects_;
    std::vector<std::byte> previous_;
    std::uint64_t snapshots_ = 0;
    std::uint64_t bytes_ = 0;
};

}  // namespace lattop::recording
