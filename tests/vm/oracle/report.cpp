// SPDX-License-Identifier: GPL-2.0-or-later
#include "report.h"

#include <algorithm>
#include <cstdlib>

namespace oracle {
namespace {

constexpr uint64_t shown_failures = 25;

}  // namespace

int64_t Tolerance::of(int64_t time_ns, uint64_t events) const {
    const auto by_share = static_cast<int64_t>(share * static_cast<double>(std::abs(time_ns)));
    return std::max(by_share, per_event_ns * static_cast<int64_t>(events));
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
        if (ours.compared == 0 || theirs.burden > ours.burden) ours = theirs;
        ours.compared = compared;
    }
}

void Report::keep(const std::string& what, const std::string& who, int64_t ours_ns,
                  int64_t theirs_ns, uint64_t events, double burden) {
    Worst& worst = worst_[what];
    if (++worst.compared > 1 && burden <= worst.burden) return;
    worst.deviation_ns = ours_ns - theirs_ns;
    worst.theirs_ns = theirs_ns;
    worst.events = events;
    worst.burden = burden;
    worst.who = who;
}

void Report::time(const std::string& what, const std::string& who, int64_t ours_ns,
                  int64_t theirs_ns, uint64_t events, int64_t allowed_ns) {
    const int64_t deviation = std::abs(ours_ns - theirs_ns);
    keep(what, who, ours_ns, theirs_ns, events,
         static_cast<double>(deviation) / static_cast<double>(std::max<int64_t>(allowed_ns, 1)));
    if (deviation > allowed_ns)
        fail("{}: {}: lattop {} ns, oracle {} ns: {:+} ns, {} allowed ({} events)", who, what,
             ours_ns, theirs_ns, ours_ns - theirs_ns, allowed_ns, events);
}

void Report::show(const std::string& what, const std::string& who, int64_t ours_ns,
                  int64_t theirs_ns, uint64_t events) {
    keep(what, who, ours_ns, theirs_ns, events, static_cast<double>(std::abs(ours_ns - theirs_ns)));
}

bool Report::conclude() const {
    for (const auto& [what, worst] : worst_) {
        const double share = worst.theirs_ns ? 100.0 * static_cast<double>(worst.deviation_ns) /
                                                   static_cast<double>(worst.theirs_ns)
                                             : 0.0;
        fmt::print(
            "worst {}: {:+} ns of {} ({:+.4f}%), {} events, {:+.2f} us each, {} [{} compared]\n",
            what, worst.deviation_ns, worst.theirs_ns, share, worst.events,
            worst.events ? static_cast<double>(worst.deviation_ns) / 1000.0 /
                               static_cast<double>(worst.events)
                         : 0.0,
            worst.who, worst.compared);
    }
    for (const std::string& text : texts_)
        fmt::print("FAIL {}\n", text);
    if (failures_) fmt::print("FAILED: {} deviations\n", failures_);
    return failures_ == 0;
}

}  // namespace oracle
