// SPDX-License-Identifier: GPL-2.0-or-later
// What a run of the oracle found: failures (the first ones are kept, all are counted) and the
// worst deviation of each kind of figure, whether it is a failure or not.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace oracle {

/// 10 on the debug kernel, whose schedule() alone takes half a millisecond when emulated; else 1.
int64_t slowness();

/// How far a time may be from the oracle's: 0.1%, or 20 us (times slowness) for each event that it
/// is a sum over. The kernel and lattop read their clocks some instructions apart. Where the
/// guest's time is the host's (any guest without -icount), the host may run something else just
/// between the two, for milliseconds: `host_noise` allows for that, so many times 150 ms and a
/// share; 1 where the guest has about as many CPUs as the host. What is beyond the strict rule is
/// counted.
struct Tolerance {
    double host_noise = 0;

    [[nodiscard]] int64_t strict(int64_t time_ns, uint64_t events) const;
    [[nodiscard]] int64_t of(int64_t time_ns, uint64_t events) const;
};

/// How far off an oracle may be itself: ours may be this much less, or more.
struct Slack {
    int64_t less_ns = 0;
    int64_t more_ns = 0;
};

class Report {
public:
    explicit Report(Tolerance tolerance) : tolerance_(tolerance) {}

    template <typename... Args>
    void fail(fmt::format_string<Args...> format, Args&&... args) {
        add_failure(fmt::format(format, std::forward<Args>(args)...));
    }

    /// Compares a time and keeps the worst. `what` names the kind, `who` the task; `slack` is what
    /// the oracle itself cannot know.
    void time(const std::string& what, const std::string& who, int64_t ours_ns, int64_t theirs_ns,
              uint64_t events, Slack slack = {});
    /// The same where the oracle is a lower bound: what is above it is shown and no failure.
    void time_at_least(const std::string& what, const std::string& who, int64_t ours_ns,
                       int64_t theirs_ns, uint64_t events, Slack slack = {});
    /// The same where the oracle is an upper bound.
    void time_at_most(const std::string& what, const std::string& who, int64_t ours_ns,
                      int64_t theirs_ns, uint64_t events, Slack slack = {});

    /// The same where the host's noise can only add to ours: a lower bound then, else exact.
    void time_or_noise(const std::string& what, const std::string& who, int64_t ours_ns,
                       int64_t theirs_ns, uint64_t events, Slack slack = {});

    /// Adds what another one found.
    void absorb(const Report& other);

    /// Prints the worst deviations; true when nothing failed.
    [[nodiscard]] bool conclude() const;
    [[nodiscard]] uint64_t failures() const { return failures_; }
    [[nodiscard]] bool host_noise() const { return tolerance_.host_noise > 0; }

private:
    struct Worst {
        uint64_t compared = 0;
        uint64_t beyond_strict = 0;
        int64_t deviation_ns = 0;
        int64_t theirs_ns = 0;
        uint64_t events = 0;
        double burden = 0;  // deviation as a part of what is allowed
        std::string who;
    };

    void add_failure(const std::string& text);
    Worst& keep(const std::string& what, const std::string& who, int64_t ours_ns, int64_t theirs_ns,
                uint64_t events, double burden);

    Tolerance tolerance_;
    std::map<std::string, Worst> worst_;
    std::vector<std::string> texts_;  // the first failures
    uint64_t failures_ = 0;
};

}  // namespace oracle
