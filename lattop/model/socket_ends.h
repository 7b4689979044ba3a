// SPDX-License-Identifier: GPL-2.0-or-later
//
// The two ends of another process's socket. Called by wait_object.h.
#pragma once

#include <cstdint>
#include <string>

namespace lattop {

/// "TCP 127.0.0.1:5432 to 127.0.0.1:41234", "TCP [::]:80 listens", "unix socket
/// /run/x, peer set up by 123 postgres" (who connected, or listened); any bytes.
/// "" where this user may not know, where the descriptor is not the socket that
/// `link` ("socket:[INODE]") names any more, or before Linux 5.6.
///
/// Borrows the descriptor for the moment (pidfd_getfd(2)): only for one that the
/// process's own system call holds, whose last close it cannot delay then.
std::string socket_ends(std::uint32_t pid, int fd, const std::string& link);

}  // namespace lattop
