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
    reap,           // waits for its sleepers, which have been killed
    open,           // number: flags; the answer has the descriptor
    may_read,       // pids: whom by ptrace's rules
    read,           // fd
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

/// What lattop-poke's processes for `matrix` do: `host FD` has children that are somebody, `serve
/// FD` does what it is asked as who it is, `sleep NAME` sleeps.
int host(int fd);
int serve(int fd);
[[noreturn]] void sleep_as(const std::string& name);

}  // namespace poke
