// SPDX-License-Identifier: GPL-2.0-or-later
//
// See recording_source.h.
#include "lattop/recording/recording_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "lattop/source/error.h"
#include "lattop/source/read_at.h"
#include "lattop/source/select.h"
#include "unwind/process_files.h"
#include "unwind/unique_fd.h"

namespace lattop::recording {
Reader open_recording(const std::string& path, const ReadProgress& progress) {
    RegularFile file = open_regular_file(path);
    if (!file.other_kind.empty())
        throw RecordingError(fmt::format("{} is {}", path, file.other_kind));
    if (!file) throw Error(fmt::format("cannot open {}: {}", path, std::strerror(file.error)));
    const auto fd = std::make_shared<UniqueFd>(std::move(file.fd));
    // While it is opened: who reads it later has a progress of his own.
    const auto opening = std::make_shared<ReadProgress>(progress);
    const auto size = static_cast<std::uint64_t>(file.info.st_size);
    Reader reader(
        [fd, path, opening, size](std::uint64_t offset, std::span<std::byte> into) {
            if (*opening) (*opening)(offset, size);
            return read_at(fd->get(), offset, into, path);
        },
        path);
    *opening = {};
    return reader;
}

RecordingSource::RecordingSource(Reader reader) : reader_(std::move(reader)) {
    if (reader_.size() == 0)
        throw RecordingError("the recording holds no snapshot" +
                             (reader_.damage().empty() ? "" : ": " + reader_.damage()));
}

Snapshot RecordingSource::take(const Query& query, Moment moment) {
    if (moment == Moment::Next) next_ = std::min(next_ + 1, reader_.size());
    Snapshot snapshot = reader_.snapshot(current());
    apply_query(snapshot, query);
    return snapshot;
}

void RecordingSource::reset() {
    throw Error("a recording cannot be reset");
}

std::optional<std::uint64_t> RecordingSource::realtime_ns() const {
    return reader_.realtime_ns(current());
}

int RecordingSource::travel(std::int64_t snapshots) {
    const auto last = static_cast<std::int64_t>(reader_.size()) - 1;
    const auto from = static_cast<std::int64_t>(current());
    const auto to = static_cast<std::size_t>(std::clamp<std::int64_t>(from + snapshots, 0, last));
    next_ = to == 0 ? 0 : to - 1;
    return to == 0 ? 1 : 2;
}

std::string RecordingSource::position() const {
    return fmt::format("snapshot {} of {}", current() + 1, reader_.size());
}

}  // namespace lattop::recording
