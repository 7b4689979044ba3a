// SPDX-License-Identifier: GPL-2.0-or-later
//
// See recording_source.h.
#include "lattop/recording/recording_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

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
    FilePath file{UniqueFd(::open(path.c_str(), O_PATH | O_CLOEXEC))};
    const auto refuse = [&] {
        throw Error(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
    };
    if (!file || ::fstat(file.fd.get(), &file.info) != 0) refuse();
    if (!S_ISREG(file.info.st_mode)) throw RecordingError(path + " is not a regular file");
    if (!is_stored(file.fd.get()))
        throw RecordingError(path + " is one of the kernel's own files, as those of /proc are");
    const auto fd = std::make_shared<UniqueFd>(open_to_read(file));
    if (!*fd) refuse();
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
