// SPDX-License-Identifier: GPL-2.0-or-later
//
// See pread_all.h.
#include "unwind/pread_all.h"

#include <unistd.h>

#include <cerrno>

namespace lattop {

std::size_t pread_all(const UniqueFd& fd, std::span<std::byte> into, std::uint64_t offset) {
    std::size_t done = 0;
    while (done < into.size()) {
        const ssize_t n = ::pread(fd.get(), into.data() + done, into.size() - done,
                                  static_cast<off_t>(offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        done += static_cast<std::size_t>(n);
    }
    return done;
}

}  // namespace lattop
