// SPDX-License-Identifier: GPL-2.0-or-later
//
// See recorded_world.h.
#include "lattop/recorded_world.h"

#include "lattop/output.h"
#include "lattop/progress.h"
#include "lattop/reasons/load.h"

namespace lattop {

namespace {

recording::Reader open_with_progress(const std::string& path) {
    const SystemClock clock;
    ProgressLine line("opening " + path, clock);
    return recording::open_recording(
        path, [&](std::uint64_t done, std::uint64_t all) { line.at(done, all); });
}

}  // namespace

RecordedWorld::RecordedWorld(const std::string& path)
    : path_(path), source_(open_with_progress(path)), reasons_(load_user_reasons()) {
    if (!reader().damage().empty()) complain(reader().damage());
}

void RecordedWorld::take_all(const Query& query, const std::function<void(Snapshot)>& use) {
    ProgressLine line("reading " + path_, clock_);
    for (std::uint64_t n = 1; source_.more(); ++n) {
        use(source_.take(query, Moment::Next));
        line.at(n, source_.size());
    }
}

void RecordedWorld::complain_of_unnamed() {
    const auto unnamed = reader().info().find("unnamed-stacks");
    if (unnamed != reader().info().end())
        complain(unnamed->second + " stacks have no names: they had no room in " + path_);
    const auto left_out = reader().info().find("objects-left-out");
    if (left_out != reader().info().end())
        complain("what " + left_out->second + " sleepers waited for had no room in " + path_);
}

}  // namespace lattop
