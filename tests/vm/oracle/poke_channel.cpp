// SPDX-License-Identifier: GPL-2.0-or-later
// See poke_channel.h.
#include "poke_channel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "poke_people.h"

namespace poke {
namespace {

constexpr std::size_t most_bytes = 1 << 17;

}  // namespace

std::string Seen::name() const {
    return {comm, strnlen(comm, sizeof(comm))};
}

Channel::~Channel() {
    if (fd_ >= 0) close(fd_);
}

std::pair<Channel, Channel> Channel::pair() {
    std::array<int, 2> ends{};
    need(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0, "socketpair");
    return {Channel(ends[0]), Channel(ends[1])};
}

void Channel::send(std::span<const std::byte> bytes, int fd) const {
    iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (fd >= 0) {
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(header), &fd, sizeof(int));
    }
    need(sendmsg(fd_, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()), "sendmsg");
}

bool Channel::receive(std::vector<std::byte>& bytes, int& fd) const {
    bytes.resize(most_bytes);
    iovec part{bytes.data(), bytes.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t got = recvmsg(fd_, &message, MSG_CMSG_CLOEXEC);
    fd = -1;
    need(got >= 0, "recvmsg");
    if (got == 0) return false;
    bytes.resize(static_cast<std::size_t>(got));
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (header != nullptr && header->cmsg_type == SCM_RIGHTS)
        std::memcpy(&fd, CMSG_DATA(header), sizeof(int));
    return true;
}

}  // namespace poke
