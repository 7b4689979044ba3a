// SPDX-License-Identifier: GPL-2.0-or-later
// What lattop-poke's verbs share.
#pragma once

#include <fmt/format.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>

#include "lattop.h"
#include "snapshot.h"

namespace poke {

/// Counts what was checked and prints what was wrong.
class Checks {
public:
    template <typename... Args>
    void expect(bool right, fmt::format_string<Args...> format, Args&&... args) {
        ++made_;
        if (right) return;
        ++wrong_;
        fmt::print("FAIL {}\n", fmt::format(format, std::forward<Args>(args)...));
    }
    /// Prints the count; true when all was right, and anything was checked at all.
    [[nodiscard]] bool conclude() const;

private:
    uint64_t made_ = 0;
    uint64_t wrong_ = 0;
};

/// A descriptor of /proc/lattop; throws when it cannot be opened.
class Descriptor {
public:
    explicit Descriptor(int flags);
    /// Of a descriptor that came from somewhere, and is closed in the end.
    static Descriptor of(int fd) { return Descriptor(Held{fd}); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor();
    [[nodiscard]] int fd() const { return fd_; }

    /// LT_IOC_QUERY; the errno, 0 when it was accepted.
    [[nodiscard]] int query(const lt_query& query) const;
    /// One whole snapshot of the record view.
    [[nodiscard]] oracle::Snapshot records() const;

private:
    struct Held {
        int fd;
    };
    explicit Descriptor(Held held) : fd_(held.fd) {}
    int fd_;
};

/// A valid query: the record view of every task, most blocked time first, without traces.
lt_query plain_query();

void input(Checks& checks);
void views(Checks& checks);
void queries(Checks& checks);
void hold(Checks& checks);
void visible(Checks& checks, unsigned long uid, unsigned long gid);
void matrix(Checks& checks, const std::string& folder);
void wakers(Checks& checks, const std::string& folder);
void past(Checks& checks);
void race(Checks& checks, const std::string& kind, uint64_t attempts, const std::string& folder);

}  // namespace poke
