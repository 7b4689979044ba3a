// SPDX-License-Identifier: GPL-2.0-or-later
// The calls that fuzz-proc makes on /proc/lattop, and which errors each may have: those of
// docs/man/proc-lattop.5 and those that the kernel itself gives for any file. Anything else, and
// anything that works for who may not, is a finding.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "fuzz_memory.h"
#include "fuzz_requests.h"

namespace fuzz {

/// X(name, share of all calls)
#define FUZZ_CALLS(X)   \
    X(query, 12)        \
    X(teach, 16)        \
    X(misses, 8)        \
    X(registers, 8)     \
    X(unknown_ioctl, 3) \
    X(read, 6)          \
    X(pread, 12)        \
    X(readv, 3)         \
    X(write, 8)         \
    X(pwrite, 2)        \
    X(lseek, 5)         \
    X(poll, 2)          \
    X(mmap, 2)          \
    X(sendfile, 1)      \
    X(fcntl, 2)         \
    X(open, 5)          \
    X(close, 3)         \
    X(dup, 3)           \
    X(pass, 3)          \
    X(snapshot, 3)

enum class Call {
#define FUZZ_ENUM(name, share) name,
    FUZZ_CALLS(FUZZ_ENUM)
#undef FUZZ_ENUM
        count
};

constexpr std::size_t n_calls = static_cast<std::size_t>(Call::count), n_errors = 134;

/// How often each call ended how: [call][errno], 0 for what worked. Shared by all processes.
struct Tally {
    std::array<std::array<std::atomic<uint64_t>, n_errors>, n_calls> ended;
    std::atomic<uint64_t> findings;
};

/// What the threads of one process share.
struct Desk {
    uint64_t seed = 0;
    const char* role = "";
    bool trusted = false;       ///< may teach, reset and filter
    bool keep_figures = false;  ///< writes nothing where it may
    Tally* tally = nullptr;
    std::array<std::atomic<int>, 16> slots{};  ///< descriptors of /proc/lattop
    std::array<int, 3> events{};               ///< two eventfds and what is none
    std::array<int, 2> sockets{};              ///< between processes of the same seed
    std::atomic<uint32_t> sleeper{0};          ///< a thread of this process that sleeps
    std::vector<lt_row_range> code;

    [[nodiscard]] bool failed() const { return tally->findings != 0; }
};

/// One thread's stream of calls.
class Caller {
public:
    Caller(Desk& desk, const Memory& memory, uint64_t seed, unsigned number)
        : desk_(desk), memory_(memory), random_(seed), number_(number) {}
    /// One more, chosen by the seed.
    void call();

private:
    void make(Call call, int fd);
    void judge(Call call, long result, int error);
    void finding(Call call, const char* what, long value);
    std::atomic<int>& slot() { return desk_.slots[random_.below(desk_.slots.size())]; }

    long query(int fd);
    long teach(int fd);
    long misses(int fd);
    long registers(int fd);
    long write_command(int fd, bool at_offset);
    long read_vector(int fd);
    long map(int fd);
    long open_one();
    long close_one();
    long dup_one(int fd);
    long pass_one(int fd);
    long take_snapshot();
    void replace(int fd);
    [[nodiscard]] uint64_t offset();
    [[nodiscard]] std::size_t length();

    Desk& desk_;
    const Memory& memory_;
    Random random_;
    unsigned number_;
    uint64_t calls_ = 0;
    Pupil pupil_;
};

const char* name_of(Call call);

}  // namespace fuzz
