// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/model/wait_object.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "lattop/model/socket_ends.h"
#include "tests/unit/support/catch.h"
#include "unwind/unique_fd.h"

namespace lattop::test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kAddress = 0x1000;

/// A /proc with one process 440 whose thread 441 sleeps; gone at the end.
class Proc {
public:
    Proc() {
        char name[] = "/tmp/lattop-wait-object-XXXXXX";
        path_ = ::mkdtemp(name);
        add_thread(441, "sleeper", 'S');
        fs::create_directories(task(441) / "fd");
        fs::create_directories(task(441) / "fdinfo");
    }
    ~Proc() { fs::remove_all(path_); }
    Proc(const Proc&) = delete;
    Proc& operator=(const Proc&) = delete;

    [[nodiscard]] fs::path task(int tid) const { return path_ / "440/task" / std::to_string(tid); }
    void add_thread(int tid, const std::string& comm, char state,
                    const std::string& inner = "") const {
        fs::create_directories(task(tid));
        std::ofstream(task(tid) / "comm") << comm << "\n";
        std::ofstream(task(tid) / "status")
            << "Name:\tx\nState:\t" << state << " (some)\nPid:\t" << tid << "\nNSpid:\t" << tid
            << (inner.empty() ? "" : "\t" + inner) << "\nFDSize:\t64\nThreads:\t2\n";
    }
    void add_fd(int fd, const std::string& target) const {
        fs::create_symlink(target, task(441) / "fd" / std::to_string(fd));
    }
    void write_memory(const void* bytes, std::size_t size) const {
        std::ofstream memory(path_ / "440/mem", std::ios::binary);
        memory.seekp(kAddress);
        memory.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
    }
    [[nodiscard]] const fs::path& path() const { return path_; }

    [[nodiscard]] std::string object(long number, std::uint64_t first, std::uint64_t second = 0,
                                     std::uint64_t third = 0) const {
        return wait_object(path_, 440, 441,
                           fmt::format("{} {:#x} {:#x} {:#x} 0x0 0x0 0x0 0x7ffd00000000 0x7f00\n",
                                       number, first, second, third));
    }

private:
    fs::path path_;
};

std::string ends_of(int fd) {
    std::error_code gone;
    const auto link = fs::read_symlink(fmt::format("/proc/self/fd/{}", fd), gone);
    return socket_ends(static_cast<std::uint32_t>(::getpid()), fd, link);
}

std::string port_of(int fd) {
    sockaddr_in in{};
    socklen_t size = sizeof(in);
    REQUIRE(::getsockname(fd, reinterpret_cast<sockaddr*>(&in), &size) == 0);
    return std::to_string(ntohs(in.sin_port));
}

}  // namespace

TEST_CASE("a wait on a descriptor says what that is") {
    const Proc proc;
    proc.add_fd(7, "/var/lib/shop/journal");
    proc.add_fd(8, "pipe:[123]");
    CHECK(proc.object(SYS_fdatasync, 7) == "fd 7: /var/lib/shop/journal");
    CHECK(proc.object(SYS_read, 8, kAddress) == "fd 8: pipe:[123]");
    CHECK(proc.object(SYS_recvfrom, 9) == "fd 9");
    CHECK(proc.object(SYS_clock_nanosleep, 7).empty());
    CHECK(wait_object(proc.path(), 440, 441, "running\n").empty());
    CHECK(wait_object(proc.path(), 440, 441, "-1 0x7ffd 0x7f00\n").empty());
    CHECK(wait_object(proc.path(), 440, 441, "").empty());
    CHECK(wait_object(proc.path(), 440, 441, "0 0x7\n").empty());
    CHECK(wait_object(proc.path(), 440, 442, "0 0x7 0x0 0x0 0x0 0x0 0x0 0x7ffd00000000 0x2\n") ==
          "fd 7");
    // A 32-bit program: the numbers of its calls are others
    CHECK(wait_object(proc.path(), 440, 441, "0 0x7 0x0 0x0 0x0 0x0 0x0 0xffffd000 0x2\n").empty());
    CHECK(proc.object(SYS_splice, 7, 0, 8) == "fd 7: /var/lib/shop/journal, fd 8: pipe:[123]");
    CHECK(proc.object(SYS_close, 7).empty());
}

TEST_CASE("poll and epoll say which descriptors they watch") {
    const Proc proc;
    for (int fd = 3; fd < 8; ++fd)
        proc.add_fd(fd, fmt::format("/dev/{}", fd));
    std::ofstream(proc.task(441) / "fdinfo/3")
        << "pos:\t0\nflags:\t02\ntfd:        5 events:       19 data: 5\ntfd:        6 events: 1\n";
    CHECK(proc.object(SYS_epoll_wait, 3) ==
          "epoll fd 3, 2 descriptors: fd 5: /dev/5, fd 6: /dev/6");
    CHECK(proc.object(SYS_epoll_pwait2, 4) == "epoll fd 4, 0 descriptors");

    const std::array<pollfd, 5> polled{
        {{4, POLLIN, 0}, {-1, 0, 0}, {5, POLLIN, 0}, {6, POLLIN, 0}, {7, POLLIN, 0}}};
    proc.write_memory(polled.data(), sizeof(polled));
    CHECK(proc.object(SYS_poll, kAddress, 1) == "1 descriptor: fd 4: /dev/4");
    CHECK(proc.object(SYS_ppoll, kAddress, 5) ==
          "4 descriptors: fd 4: /dev/4, fd 5: /dev/5, fd 6: /dev/6, ...");
    CHECK(proc.object(SYS_poll, kAddress, 6).empty());  // memory that is not there
    CHECK(proc.object(SYS_poll, 0, 0).empty());
}

TEST_CASE("of an epoll that another process has filled so many descriptors are listed") {
    const Proc proc;
    const auto watch = [&](int count, const std::string& rest) {
        std::ofstream info(proc.task(441) / "fdinfo/3");
        info << "pos:\t0\n";
        for (int fd = 0; fd < count; ++fd)
            info << fmt::format("tfd: {:8} events: {:8x} data: {:16x} {}\n", fd, 1, fd, rest);
    };
    const std::string named = " descriptors: fd 0, fd 1, fd 2, ...";
    watch(4096, "");
    CHECK(proc.object(SYS_epoll_wait, 3) == "epoll fd 3, 4096" + named);
    watch(4097, "");
    CHECK(proc.object(SYS_epoll_wait, 3) == "epoll fd 3, more than 4096" + named);
    watch(9000, "");
    CHECK(proc.object(SYS_epoll_wait, 3) == "epoll fd 3, more than 4096" + named);
    watch(600, std::string(1000, 'x'));
    CHECK(proc.object(SYS_epoll_wait, 3) == "epoll fd 3, more than 496" + named);
}

TEST_CASE("a mutex of glibc's says who holds it") {
    const Proc proc;
    proc.add_thread(445, "worker", 'D');
    constexpr int kWait = 128;  // FUTEX_WAIT_PRIVATE
    std::array<std::uint32_t, 5> words{2, 0, 445, 1, 0};
    proc.write_memory(words.data(), sizeof(words));
    CHECK(proc.object(SYS_futex, kAddress, kWait, 2) == "mutex 0x1000, held by 445 worker (D)");
    // A condition variable, another value, a holder that is no thread of it: not known to be one
    CHECK(proc.object(SYS_futex, kAddress, kWait, 0) == "futex 0x1000");
    CHECK(proc.object(SYS_futex, kAddress, 9 | kWait, 2) == "futex 0x1000");
    words[3] = 0;  // no user: another lock with such a value, as those of malloc's arenas
    proc.write_memory(words.data(), sizeof(words));
    CHECK(proc.object(SYS_futex, kAddress, kWait, 2) == "futex 0x1000");
    words[3] = 1;
    words[4] = 16;  // robust: not of that layout
    proc.write_memory(words.data(), sizeof(words));
    CHECK(proc.object(SYS_futex, kAddress, kWait, 2) == "futex 0x1000");
    words[4] = 0;
    words[2] = 446;
    proc.write_memory(words.data(), sizeof(words));
    CHECK(proc.object(SYS_futex, kAddress, kWait, 2) == "futex 0x1000");
    words[0] = 1;  // it was released meanwhile
    words[2] = 445;
    proc.write_memory(words.data(), sizeof(words));
    CHECK(proc.object(SYS_futex, kAddress, kWait, 2) == "futex 0x1000");
    words[0] = 445 | 0x80000000U;  // of one with priority inheritance: the owner is in the word
    proc.write_memory(words.data(), sizeof(words));
    CHECK(proc.object(SYS_futex, kAddress, 6 | kWait) == "mutex 0x1000, held by 445 worker (D)");
}

TEST_CASE("a futex is called what its program calls it") {
    const Proc proc;
    proc.add_thread(445, "worker", 'D');
    const auto object = [&](std::uint64_t expected_value, const std::string& called) {
        const std::string call =
            fmt::format("{} {:#x} 0x80 {:#x} 0x0 0x0 0x0 0x7ffd00000000 0x7f00\n",
                        static_cast<long>(SYS_futex), kAddress, expected_value);
        return wait_object(proc.path(), 440, 441, call, [&](std::uint64_t address) {
            CHECK(address == kAddress);
            return called;
        });
    };
    std::array<std::uint32_t, 5> words{2, 0, 445, 1, 0};
    proc.write_memory(words.data(), sizeof(words));
    CHECK(object(2, "queue_lock") == "mutex queue_lock, held by 445 worker (D)");
    CHECK(object(0, "queue_ready+0x8") == "futex queue_ready+0x8");
    CHECK(object(0, "") == "futex 0x1000");
}

TEST_CASE("in a pid namespace the holder is found by the number that it knows itself by") {
    const Proc proc;
    proc.add_thread(441, "sleeper", 'S', "11");
    proc.add_thread(450, "worker", 'S', "12");
    std::array<std::uint32_t, 5> words{2, 0, 12, 1, 0};
    proc.write_memory(words.data(), sizeof(words));
    CHECK(proc.object(SYS_futex, kAddress, 128, 2) == "mutex 0x1000, held by 450 worker (S)");
}

TEST_CASE("a wait for a child says which") {
    const Proc proc;
    fs::create_directories(proc.path() / "500");
    std::ofstream(proc.path() / "500/comm") << "cc1\n";
    std::ofstream(proc.path() / "500/status") << "Name:\tcc1\nPPid:\t440\n";
    fs::create_directories(proc.path() / "502");
    std::ofstream(proc.path() / "502/comm") << "other\n";
    std::ofstream(proc.path() / "502/status") << "Name:\tother\nPPid:\t1\n";
    CHECK(proc.object(SYS_wait4, 500) == "child 500 cc1");
    CHECK(proc.object(SYS_wait4, 501) == "child 501");
    CHECK(proc.object(SYS_wait4, 502) == "child 502");
    CHECK(proc.object(SYS_wait4, 0xffffffff) == "any child");
    CHECK(proc.object(SYS_wait4, 0xfffffff9) == "a child of process group 7");
    CHECK(proc.object(SYS_wait4, 0) == "a child of its process group");
    proc.add_thread(441, "sleeper", 'S', "11");  // in another pid namespace 500 is another
    CHECK(proc.object(SYS_wait4, 500) == "child 500");
}

TEST_CASE("a socket says what its ends are") {
    const auto self = static_cast<std::uint32_t>(::getpid());
    const UniqueFd listener(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&in), sizeof(in)) == 0);
    REQUIRE(::listen(listener.get(), 1) == 0);
    const std::string server = "127.0.0.1:" + port_of(listener.get());
    CHECK(ends_of(listener.get()) == "TCP " + server + " listens");

    const UniqueFd client(::socket(AF_INET, SOCK_STREAM, 0));
    socklen_t size = sizeof(in);
    REQUIRE(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&in), &size) == 0);
    REQUIRE(::connect(client.get(), reinterpret_cast<sockaddr*>(&in), sizeof(in)) == 0);
    CHECK(ends_of(client.get()) == "TCP 127.0.0.1:" + port_of(client.get()) + " to " + server);

    std::array<int, 2> pair{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()) == 0);
    const UniqueFd one(pair[0]);
    const UniqueFd other(pair[1]);
    CHECK(ends_of(one.get()) == fmt::format("unix socket, peer set up by {} lattop_tests", self));

    const UniqueFd named(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un un{};
    un.sun_family = AF_UNIX;
    const std::string name = fmt::format("lattop-test-{}", self);
    std::memcpy(un.sun_path + 1, name.data(), name.size());
    REQUIRE(::bind(named.get(), reinterpret_cast<sockaddr*>(&un),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())) == 0);
    CHECK(ends_of(named.get()) == "unix socket @" + name);

    CHECK(ends_of(9999).empty());
    CHECK(socket_ends(self, named.get(), "socket:[1]").empty());  // another by now

    // A path as long as there is room for, without a NUL
    const UniqueFd full(::socket(AF_UNIX, SOCK_STREAM, 0));
    char folder[] = "/tmp/lattop-socket-XXXXXX";
    REQUIRE(::mkdtemp(folder) != nullptr);
    std::string path = std::string(folder) + "/";
    path.resize(sizeof(un.sun_path), 'x');
    std::memcpy(un.sun_path, path.data(), path.size());
    REQUIRE(::bind(full.get(), reinterpret_cast<sockaddr*>(&un), sizeof(un)) == 0);
    CHECK(ends_of(full.get()) == "unix socket " + path);
    fs::remove_all(folder);
}

}  // namespace lattop::test
