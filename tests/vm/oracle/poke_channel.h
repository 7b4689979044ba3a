// SPDX-License-Identifier: GPL-2.0-or-later
// Between lattop-poke matrix and the processes that it has be somebody: requests and answers, with
// a descriptor where one goes along.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lattop.h"

namespace poke {

enum class Verb : uint32_t {
    spawn_reader,   // number: who; fd: its channel
    spawn_sleeper,  // number: who
    spawn_waker,    // number: who; wakes the waiters, then sleeps
    spawn_waiter,   // number: who; pids[0]: by whom it is woken, pids[1]: which one of his it is
    reap,           // waits for its sleepers, which have been killed
    open,           // number: flags; the answer has the descriptor
    may_read,       // pids: whom by ptrace's rules
    read,           // fd
    read_wakers,    // fd
    begin_reading,  // fd: takes a snapshot and reads its beginning
    read_on,        // fd: in whatever snapshot it has
    use,            // fd, pids[0]: what needs privileges
};

struct Request {
    Verb verb{};
    uint32_t number = 0;
    uint32_t n_pids = 0;
    uint32_t pids[64]{};
};

/// A record that somebody was shown.
struct Seen {
    uint64_t start_ns;
    uint32_t pid, tgid, kind, flags, uid;
    char comm[LT_COMM_BYTES];
    [[nodiscard]] std::string name() const;
};

/// What `read` answers, in front of the records.
struct Reading {
    int32_t error;
    uint32_t same_as_text;      // the text view shows the same sleepers
    uint32_t matched_is_shown;  // the header tells of no record that is not there
};

/// What `read_wakers` answers: who ended a sleep of a waiter.
struct SeenWaker {
    char waiter[LT_COMM_BYTES];
    lt_waker_rec by;
};

/// What `use` answers: errnos, 0 where it was done.
struct Uses {
    int32_t misses, teach, registers, write;
};

class Channel {
public:
    explicit Channel(int fd) : fd_(fd) {}
    Channel(Channel&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Channel& operator=(Channel&&) = delete;
    ~Channel();
    /// Both ends of a new one.
    static std::pair<Channel, Channel> pair();

    void send(std::span<const std::byte> bytes, int fd = -1) const;
    /// A message, and the descriptor that came with it or -1. False: the other side has gone.
    [[nodiscard]] bool receive(std::vector<std::byte>& bytes, int& fd) const;
    [[nodiscard]] int fd() const { return fd_; }

private:
    int fd_;
};

/// How many wait for each waker; waiters have names and pipes of their own.
constexpr uint32_t waiters_of_each = 3;
std::string waiter_name(uint32_t waker, uint32_t which);

/// What lattop-poke's processes for `matrix` and `wakers` do: `host FD` has children that are
/// somebody, `serve FD` does what it is asked as who it is, `sleep NAME` sleeps, `wake NUMBER`
/// wakes those who wait for that one of sleepers() first, `wait NAME` does.
int host(int fd);
int serve(int fd);
[[noreturn]] void sleep_as(const std::string& name);
[[noreturn]] void wake_as(uint32_t who);
[[noreturn]] void wait_as(const std::string& name);

}  // namespace poke
