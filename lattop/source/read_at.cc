// SPDX-License-Identifier: GPL-2.0-or-later
//
// See read_at.h.
#include "lattop/source/read_at.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "lattop/source/error.h"

namespace lattop {

std::size_t read_at(int fd, std::uint64_t offset, std::span<std::byte> into,
                    const std::string& path) {
    for (;;) {
        const ssize_t n = ::pread(fd, into.data(), into.size(), static_cast<off_t>(offset));
        if (n >= 0) return static_cast<std::size_t>(n);
        if (errno == EDQUOT) throw SnapshotQuotaError(path);
        if (errno == EINTR) continue;
        const std::string what = fmt::format("cannot read {}: {}", path, std::strerror(errno));
        if (errno == ENOMEM || errno == EAGAIN) throw PassingError(what);
        throw Error(what);
    }
}

}  // namespace lattop
