// SPDX-License-Identifier: GPL-2.0-or-later
//
// See socket_ends.h. Asking the socket itself costs the same whatever else is
// open; the tables of /proc/PID/net would have to be searched.
#include "lattop/model/socket_ends.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "lattop/model/proc_text.h"
#include "unwind/unique_fd.h"

namespace lattop {
namespace {

struct Address {
    sockaddr_storage bytes{};
    socklen_t size = 0;
};

template <typename Ask>
Address ask(const Ask& get, int fd) {
    Address address;
    address.size = sizeof(address.bytes);
    if (get(fd, reinterpret_cast<sockaddr*>(&address.bytes), &address.size) != 0) address.size = 0;
    return address;
}

int option(int fd, int name) {
    int value = 0;
    socklen_t size = sizeof(value);
    return ::getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : 0;
}

std::string inet_text(const Address& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (address.bytes.ss_family == AF_INET) {
        sockaddr_in in{};
        std::memcpy(&in, &address.bytes, sizeof(in));
        ::inet_ntop(AF_INET, &in.sin_addr, text.data(), text.size());
        return fmt::format("{}:{}", text.data(), ntohs(in.sin_port));
    }
    sockaddr_in6 in6{};
    std::memcpy(&in6, &address.bytes, sizeof(in6));
    ::inet_ntop(AF_INET6, &in6.sin6_addr, text.data(), text.size());
    return fmt::format("[{}]:{}", text.data(), ntohs(in6.sin6_port));
}

/// An abstract name begins with "@", as in /proc/net/unix; "" without a name.
std::string unix_text(const Address& address) {
    constexpr std::size_t kPath = offsetof(sockaddr_un, sun_path);
    if (address.size <= kPath) return "";
    sockaddr_un un{};
    std::memcpy(&un, &address.bytes, sizeof(un));
    // Of a path without a NUL the kernel counts one more than there is room for
    const std::size_t size = std::min<std::size_t>(address.size - kPath, sizeof(un.sun_path));
    if (un.sun_path[0] == '\0') return "@" + std::string(un.sun_path + 1, size - 1);
    return {un.sun_path, strnlen(un.sun_path, size)};
}

std::string inet_ends(int fd, const Address& own) {
    const int type = option(fd, SO_TYPE);
    const std::string protocol = type == SOCK_STREAM  ? "TCP"
                                 : type == SOCK_DGRAM ? "UDP"
                                                      : "socket";
    const std::string text = protocol + " " + inet_text(own);
    if (option(fd, SO_ACCEPTCONN) != 0) return text + " listens";
    const Address peer = ask(::getpeername, fd);
    return peer.size == 0 ? text : text + " to " + inet_text(peer);
}

std::string unix_ends(int fd, const Address& own) {
    const Address peer = ask(::getpeername, fd);
    std::string name = unix_text(own);
    if (name.empty()) name = unix_text(peer);
    std::string text = "unix socket" + (name.empty() ? "" : " " + name);
    if (option(fd, SO_ACCEPTCONN) != 0) return text + " listens";
    ucred other{};
    socklen_t size = sizeof(other);
    if (peer.size == 0 || ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &other, &size) != 0 ||
        other.pid == 0)
        return text;
    return fmt::format("{}, peer set up by {} {}", text, other.pid,
                       read_proc_line(fmt::format("/proc/{}/comm", other.pid)));
}

}  // namespace

std::string socket_ends(std::uint32_t pid, int fd, const std::string& link) {
    const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!process) return "";
    const UniqueFd borrowed(static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), fd, 0)));
    struct stat status {};
    if (!borrowed || ::fstat(borrowed.get(), &status) != 0 ||
        fmt::format("socket:[{}]", status.st_ino) != link)
        return "";
    const Address own = ask(::getsockname, borrowed.get());
    if (own.size == 0) return "";
    switch (own.bytes.ss_family) {
        case AF_INET:
        case AF_INET6: return inet_ends(borrowed.get(), own);
        case AF_UNIX: return unix_ends(borrowed.get(), own);
        default: return "";
    }
}

}  // namespace lattop
