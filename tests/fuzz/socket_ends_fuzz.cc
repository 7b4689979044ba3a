// SPDX-License-Identifier: GPL-2.0-or-later
//
// Names of unix sockets, which are any bytes: a socket of this process has the name
// that the fuzzer says, and is asked for it. All of an abstract name is said.
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "lattop/model/socket_ends.h"
#include "tests/fuzz/bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::size_t bytes = std::min(size, sizeof(address.sun_path) - 1);
    if (bytes != 0) std::memcpy(address.sun_path + 1, data, bytes);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + bytes);
    const lattop::UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    struct stat status {};
    REQUIRE(fd && ::fstat(fd.get(), &status) == 0);
    // Another process of this machine may have that name.
    if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) return 0;
    const auto own = static_cast<std::uint32_t>(::getpid());
    const std::string link = fmt::format("socket:[{}]", status.st_ino);
    const std::string ends = lattop::socket_ends(own, fd.get(), link);
    const std::string name(lattop::fuzz::text_of(data, bytes));
    REQUIRE(ends == "unix socket @" + name || ends.empty());  // empty: before Linux 5.6
    // What is not the link asked for does not depend on the name
    if (size % 8 == 0) REQUIRE(lattop::socket_ends(own, fd.get(), link + "0").empty());
    return 0;
}
