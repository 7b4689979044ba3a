// SPDX-License-Identifier: GPL-2.0-or-later
#include "report.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace oracle {
namespace {

constexpr uint64_t shown_failures = 25;
constexpr double strict_share = 0.001;
constexpr int64_t strict_per_event_ns = 20'000;
constexpr double noisy_share = 0.02;
constexpr int64_t noisy_per_event_ns = 200'000;
constexpr int64_t noisy_ns = 150'000'000;

int64_t part(double share, int64_t time_ns) {
    return static_cast<int64_t>(share * static_cast<double>(std::abs(time_ns)));
}

}  // namespace

int64_t slowness() {
    static const char* kernel = std::getenv("LATTOP_KERNEL");
    return kernel && (std::string_view(kernel) == "debug" || std::string_view(kernel) == "kcsan") ? 10 : 1;
}

int64_t Tolerance::strict(int64_t time_ns, uint64_t events) const {
    return std::max(part(strict_share, time_ns),
                    strict_per_event_ns * slowness() * static_cast<int64_t>(events));
}

int64_t Tolerance::of(int64_t time_ns, uint64_t events) const {
    if (host_noise <= 0 || events == 0) return strict(time_ns, events);
    return part(host_noise, noisy_ns) +
           std::max(part(noisy_share, time_ns),
                    noisy_per_event_ns * slowness() * static_cast<int64_t>(events));
}

void Report::add_failure(const std::string& text) {
    if (++failures_ <= shown_failures) texts_.push_back(text);
}

void Report::absorb(const Report& other) {
    for (const std::string& text : other.texts_)
        add_failure(text);
    failures_ += other.failures_ - other.texts_.size();
    for (const auto& [what, theirs] : other.worst_) {
        Worst& ours = worst_[what];
        const uint64_t compared = ours.compared + theirs.compared;
        const uint64_t beyond = ours.beyond_strict + theirs.beyond_strict;
        if (ours.compared == 0 || theirs.burden > ours.burden) ours = theirs;
        ours.compared = compared;
        ours.beyond_strict = beyond;
    }
}

Report::Worst& Report::keep(const std::string& what, const std::string& who, int64_t ours_ns,
                            int64_t theirs_ns, uint64_t events, double burden) {
    Worst& worst = worst_[what];
    if (++worst.compared > 1 && burden <= worst.burden) return worst;
    worst.deviation_ns = ours_ns - theirs_ns;
    worst.theirs_ns = theirs_ns;
    worst.events = events;
    worst.burden = burden;
    worst.who = who;
    return worst;
}

void Report::time(const std::string& what, const std::string& who, int64_t ours_ns,
                  int64_t theirs_ns, uint64_t events, Slack slack) {
    const int64_t deviation = std::abs(ours_ns - theirs_ns);
    const int64_t slack_ns = ours_ns < theirs_ns ? slack.less_ns : slack.more_ns;
    const int64_t allowed = tolerance_.of(theirs_ns, events) + slack_ns;
    Worst& worst =
        keep(what, who, ours_ns, theirs_ns, events,
             static_cast<double>(deviation) / static_cast<double>(std::max<int64_t>(allowed, 1)));
    if (deviation > tolerance_.strict(theirs_ns, events)) ++worst.beyond_strict;
    if (deviation > allowed)
        fail("{}: {}: lattop {} ns, oracle {} ns: {:+} ns, {} allowed ({} events)", who, what,
             ours_ns, theirs_ns, ours_ns - theirs_ns, allowed, events);
}

void Report::time_at_least(const std::string& what, const std::string& who, int64_t ours_ns,
                           int64_t theirs_ns, uint64_t events, Slack slack) {
    if (ours_ns < theirs_ns)
        time(what, who, ours_ns, theirs_ns, events, slack);
    else
        keep(what + ", a lower bound here", who, ours_ns, theirs_ns, events,
             static_cast<double>(ours_ns - theirs_ns));
}

void Report::time_at_most(const std::string& what, const std::string& who, int64_t ours_ns,
                          int64_t theirs_ns, uint64_t events, Slack slack) {
    if (ours_ns > theirs_ns)
        time(what, who, ours_ns, theirs_ns, events, slack);
    else
        keep(what + ", an upper bound here", who, ours_ns, theirs_ns, events,
             static_cast<double>(theirs_ns - ours_ns));
}

void Report::time_or_noise(const std::string& what, const std::string& who, int64_t ours_ns,
                           int64_t theirs_ns, uint64_t events, Slack slack) {
    if (host_noise())
        time_at_least(what, who, ours_ns, theirs_ns, events, slack);
    else
        time(what, who, ours_ns, theirs_ns, events, slack);
}

bool Report::conclude() const {
    for (const auto& [what, worst] : worst_) {
        const double share = worst.theirs_ns ? 100.0 * static_cast<double>(worst.deviation_ns) /
                                                   static_cast<double>(worst.theirs_ns)
                                             : 0.0;
        const double each_us = worst.events ? static_cast<double>(worst.deviation_ns) / 1000.0 /
                                                  static_cast<double>(worst.events)
                                            : 0.0;
        fmt::print(
            "worst {}: {:+} ns of {} ({:+.4f}%), {} events, {:+.2f} us each, {} "
            "[{} compared, {} beyond 0.1% or 20 us]\n",
            what, worst.deviation_ns, worst.theirs_ns, share, worst.events, each_us, worst.who,
            worst.compared, worst.beyond_strict);
    }
    for (const std::string& text : texts_)
        fmt::print("FAIL {}\n", text);
    if (failures_) fmt::print("FAILED: {} deviations\n", failures_);
    return failures_ == 0;
}

}  // namespace oracle
