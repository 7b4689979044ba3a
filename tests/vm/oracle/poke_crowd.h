// SPDX-License-Identifier: GPL-2.0-or-later
// What matrix and wakers have in common: a process for each who reads and for each whose sleeps are
// read, and which of the first may see which of the second by the kernel's own answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "poke.h"
#include "poke_channel.h"
#include "poke_people.h"

namespace poke {

struct Answer {
    std::vector<std::byte> bytes;
    int fd = -1;

    template <typename T>
    [[nodiscard]] T as(std::size_t at = 0) const {
        if (bytes.size() < at + sizeof(T)) throw std::runtime_error("a short answer");
        T value;
        std::memcpy(&value, bytes.data() + at, sizeof(T));
        return value;
    }
};

Answer ask(const Channel& channel, const Request& request, int fd = -1);

struct Sleeper {
    const Person& person;
    std::string name;
    uint32_t pid = 0;        // in the first pid namespace
    uint32_t inner_pid = 0;  // in its own
    uint64_t start_ns = 0;
};

struct Reader {
    const Person& person;
    Channel channel;
    int fd = -1;                   // of /proc/lattop, opened by it
    std::vector<bool> may_read{};  // the kernel's answers, by sleeper
};

/// What both may see by the descriptor of the one: those who need not be asked about each task.
bool sees_all(const Reader& reader);
bool is_root_in_pids(const Reader& reader);

class Crowd {
public:
    /// Those who begin the others, and know the folder of the programs.
    Crowd(Checks& checks, const std::string& folder);
    /// Those whose sleeps are read, each begun by this verb and at last asleep; then those who
    /// read.
    void begin(Verb verb);
    /// Waits until all of these are asleep under their names.
    void find(std::vector<Sleeper>& asleep) const;
    /// Asked once, of people who do not change: it holds while the sleepers live.
    void ask_kernel();
    /// Ends the sleepers; their records go on.
    void end();
    void reap() const;

    [[nodiscard]] const Channel& host_of(const Person& person) const;
    /// Whether the kernel lets both see it, and it has a number where the one is that reads.
    [[nodiscard]] bool allowed(const Reader& opener, const Reader& reader, const Sleeper& s) const;
    /// Those who were nothing but their owner's are his when they have ended; all is root's.
    [[nodiscard]] bool stays_seen(const Reader& opener, const Reader& reader,
                                  const Sleeper& s) const;
    [[nodiscard]] static uint32_t number_of(const Sleeper& s, const Reader& reader);

    std::vector<Sleeper> sleepers;
    std::vector<Reader> readers;

private:
    void begin_reader(uint32_t i);

    Checks& checks_;
    std::vector<Channel> hosts_;
};

}  // namespace poke
