// SPDX-License-Identifier: GPL-2.0-or-later
//
// See file_source.h.
#include "lattop/source/file_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "lattop/source/decoder.h"
#include "lattop/source/error.h"
#include "lattop/source/read_snapshot.h"
#include "lattop/source/select.h"

namespace lattop {

FileSource::FileSource(std::string path) : path_(std::move(path)) {
    fd_ = UniqueFd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat info {};
    if (!fd_ || ::fstat(fd_.get(), &info) != 0)
        throw Error(fmt::format("cannot open {}: {}", path_, std::strerror(errno)));
    if (!S_ISREG(info.st_mode))
        throw Error(path_ + " is not a regular file", "give a file of saved snapshots");
    file_bytes_ = static_cast<std::uint64_t>(info.st_size);
}

Snapshot FileSource::take(const Query& query, Moment moment) {
    if (moment == Moment::Next && more()) current_ = next_;
    const auto bytes = read_snapshot(fd_.get(), current_, file_bytes_ - current_, path_, buffer_);
    if (bytes.empty()) throw Error(path_ + " holds no snapshot");
    Snapshot snapshot = decode(bytes);
    next_ = current_ + bytes.size();
    apply_query(snapshot, query);
    return snapshot;
}

void FileSource::reset() {
    throw Error("saved snapshots cannot be reset");
}

}  // namespace lattop
