// SPDX-License-Identifier: GPL-2.0-or-later
//
// See resolver.h.
#include "lattop/resolver.h"

#include <algorithm>
#include <cerrno>

#include "lattop/open_files.h"
#include "lattop/source/error.h"
#include "unwind/hash.h"

namespace lattop {
namespace {

/// Places whose rows were in doubt, remembered; and how often a place must
/// have been so before "cannot" is taught.
constexpr std::size_t kMaxDoubts = 8192;
constexpr unsigned kDoubts = 3;

/// Rows that a process is taught because others needed them in the same files: others of
/// its user's, of two other users, or of root.
constexpr std::size_t kMaxInherited = 1024;

/// Sleepers that are introduced at once.
constexpr std::size_t kIntroduced = LT_MAX_MISSES / 8;

/// Tasks of a process that a lesson is tried with: one may have ended.
constexpr std::size_t kMaxPupils = 4;

lt_uframe frame_of(const lt_miss& miss) {
    lt_uframe frame{};
    frame.pc = miss.pc;
    frame.sp = miss.sp;
    frame.bp = miss.bp;
    frame.exact = miss.flags & LT_ROW_EXACT;
    return frame;
}

}  // namespace

ResolverLimits limits_here() {
    // A process has two; threads that were left behind have half as many in all.
    constexpr std::size_t kOneInFiles = 16;
    ResolverLimits limits;
    limits.processes =
        std::clamp(most_open_files() / kOneInFiles, std::size_t{1}, limits.processes);
    return limits;
}

Resolver::Resolver(ResolverDoor& door, const ResolverLimits& limits, std::string proc,
                   const ResolverStats& so_far, ResolverWatch* watch)
    : door_(door),
      limits_(limits),
      proc_(std::move(proc)),
      files_(limits.file_bytes, limits.files, watch == nullptr ? nullptr : &watch->holds.files),
      processes_(limits.process_bytes, watch == nullptr ? nullptr : &watch->holds.processes),
      doubts_(kMaxDoubts),
      stats_(so_far),
      watch_(watch) {}

void Resolver::hold(const ResolverRoom& room) {
    files_.set_budget(std::min(room.files, limits_.file_bytes));
    processes_.set_budget(std::min(room.processes, limits_.process_bytes));
}

std::vector<lt_miss> Resolver::ask(std::vector<lt_miss> (ResolverDoor::*what)()) {
    try {
        return (door_.*what)();
    } catch (const PassingError&) {
        ++stats_.failed_reads;
        throw;
    }
}

std::size_t Resolver::step() {
    const std::vector<lt_miss> misses = ask(&ResolverDoor::take);
    stats_.misses += misses.size();
    resolve(misses);
    return misses.size();
}

std::size_t Resolver::introduce() {
    const std::vector<lt_miss> sleepers = ask(&ResolverDoor::sleepers);
    // Behind each lesson the module walks the sleepers again and misses more. For most of them
    // there is no other time, so its ring must have room.
    for (std::size_t i = 0; i < sleepers.size() && !left(); i += kIntroduced) {
        const auto first = sleepers.begin() + static_cast<std::ptrdiff_t>(i);
        const auto count = static_cast<std::ptrdiff_t>(std::min(kIntroduced, sleepers.size() - i));
        resolve({first, first + count});
        step();
    }
    return sleepers.size();
}

void Resolver::resolve(const std::vector<lt_miss>& misses) {
    std::map<ProcessId, std::vector<lt_miss>> by_process;
    for (const lt_miss& miss : misses)
        by_process[{miss.tgid, miss.exec_id}].push_back(miss);
    std::size_t budget = limits_.step_frames;
    for (const auto& [id, its] : by_process) {
        if (left()) break;
        const WatchedLook look(watch_, id);
        if (look.allowed() && resolve_process(id, its, budget)) continue;
        stats_.left_alone += its.size();
        try_later(its.back());
    }
    stats_.files = files_.size();
    stats_.processes = processes_.size();
}

/// In bytes, and so many that all fit in only where they are as few as the limits say.
std::size_t Resolver::cost_of(const ProcessCode& process) const {
    return std::max(process.bytes(), limits_.process_bytes / limits_.processes);
}

/// The process of a miss, held since an earlier one if it still is the same:
/// memory that can no longer be read was that of a program that is gone. None: errno
/// says whether for a want.
Resolver::Found Resolver::find_process(const ProcessId& id, const lt_miss& miss, Lesson& lesson) {
    if (ProcessCode* known = processes_.find(id)) {
        known->note_user();  // it may be another's by now, by setuid(2)
        if (!may_look(*known)) return {.left_alone = true};
        if (known->alive()) return {known};
        processes_.erase(id);
    }
    errno = 0;
    auto code = ProcessCode::find(proc_, miss.pid, miss.start_ns, files_);
    if (!code) return {};
    code->note_user();
    if (!may_look(*code)) return {.left_alone = true};
    if (!code->look_in()) return {};
    for (const PlacedRow& placed : code->known_rows(kMaxInherited))
        lesson.emplace(std::pair{placed.built.row.pc, placed.built.row.flags & LT_ROW_EXACT},
                       placed);
    stats_.inherited += lesson.size();
    const std::size_t cost = cost_of(*code);
    return {&processes_.put(id, *std::move(code), cost)};
}

/// Whether "cannot" may be for want of a good look: code without call-frame
/// information is judged by a stack that may have changed meanwhile.
bool Resolver::in_doubt(const ProcessId& id, const PlacedRow& placed) {
    const CannotCause cause = placed.built.cannot;
    if (cause != CannotCause::NoCfi && cause != CannotCause::NoFile) return false;
    const std::uint64_t place = placed.built.row.pc ^ HashProcessId {}(id)*kHashMultiplier;
    unsigned* seen = doubts_.find(place);
    if (seen == nullptr) seen = &doubts_.put(place, 0);
    return ++*seen < kDoubts;
}

void Resolver::add_walk(const Walk& walk, const ProcessId& id, Lesson& lesson) {
    ++stats_.walks;
    stats_.frames += walk.frames.size();
    ++stats_.ends.at(static_cast<std::size_t>(walk.end));
    for (const WalkedFrame& walked : walk.frames) {
        // The module would not ask again for what it was taught to be "cannot".
        if (walked.placed.built.cannot == CannotCause::NoRoom) {
            ++stats_.unopened;
            continue;
        }
        const std::pair key{walked.frame.pc, walked.frame.exact};
        if (lesson.contains(key) || in_doubt(id, walked.placed)) continue;
        lesson.emplace(key, walked.placed);
    }
}

/// False: it is left alone.
bool Resolver::resolve_process(const ProcessId& id, const std::vector<lt_miss>& misses,
                               std::size_t& budget) {
    Found found;
    Lesson lesson;
    for (const lt_miss& miss : misses) {
        found = find_process(id, miss, lesson);
        if (found.left_alone) return false;
        if (found.code != nullptr) break;
    }
    ProcessCode* const code = found.code;
    if (code == nullptr) {
        const bool wanting = is_want(errno);
        (wanting ? stats_.unopened : stats_.gone) += misses.size();
        if (wanting)
            try_later(misses.back());
        else
            second_tries_.done(id);
        return true;
    }
    const std::uint64_t unopened = stats_.unopened;
    code->allow_refresh();
    for (const lt_miss& miss : misses) {
        // Out of budget, each gets its own row at least.
        const std::size_t frames = std::clamp<std::size_t>(budget, 1, kMaxWalkFrames);
        const Walk walk =
            walk_rows(*code, frame_of(miss), frames, watch_ == nullptr ? nullptr : &watch_->left());
        if (left()) return true;
        budget -= std::min(budget, walk.frames.size());
        add_walk(walk, id, lesson);
    }
    code->forget_memory();
    processes_.set_cost(id, cost_of(*code));  // its maps may have been read again
    if (teach(misses, lesson) && stats_.unopened == unopened)
        second_tries_.done(id);
    else
        try_later(misses.back());
    return true;
}

/// Asleep for good it would not miss again.
void Resolver::try_later(const lt_miss& miss) {
    second_tries_.failed(miss, std::chrono::steady_clock::now());
}

std::size_t Resolver::try_again() {
    const std::vector<lt_miss> misses = second_tries_.due(std::chrono::steady_clock::now());
    const std::uint64_t left_alone = stats_.left_alone;
    resolve(misses);
    stats_.left_alone = left_alone;  // each of them counts once
    return misses.size();
}

/// 0, or why not.
int Resolver::teach_part(const std::vector<lt_miss>& misses, const std::vector<lt_row>& rows,
                         const std::vector<lt_row_range>& ranges) {
    int error = ESRCH;
    std::size_t tried = 0;
    for (auto miss = misses.rbegin(); miss != misses.rend() && tried < kMaxPupils; ++miss) {
        ++tried;
        ++stats_.lessons;
        error = door_.teach(*miss, rows, ranges);
        if (error != ESRCH) break;
    }
    if (error == 0) stats_.rows += rows.size();
    if (error == ESRCH || error == ESTALE) {
        ++stats_.stale;
    } else if (error == ENOSPC) {
        ++stats_.full;
    } else if (error != 0) {
        ++stats_.refused;
        stats_.last_error = error;
    }
    return error;
}

/// False: some of it may be taken later. Teaches in as many parts as the limits of one lesson ask
/// for.
bool Resolver::teach(const std::vector<lt_miss>& misses, const Lesson& lesson) {
    std::vector<lt_row> rows;
    std::vector<lt_row_range> ranges;
    int error = 0;
    const auto flush = [&] {
        if (!rows.empty()) error = teach_part(misses, rows, ranges);
        rows.clear();
        ranges.clear();
        return error == 0;
    };
    const auto over = [&] { return error != EAGAIN && error != ENOMEM && error != ENOSPC; };
    for (const auto& [key, placed] : lesson) {
        // By address: rows of one mapping come one after another.
        const bool same = !ranges.empty() && ranges.back().start == placed.range.start;
        if (rows.size() == LT_MAX_TEACH_ROWS || (!same && ranges.size() == LT_MAX_TEACH_RANGES))
            if (!flush()) return over();
        if (ranges.empty() || ranges.back().start != placed.range.start)
            ranges.push_back(placed.range);
        rows.push_back(placed.built.row);
        ++stats_.causes.at(static_cast<std::size_t>(placed.built.cannot));
    }
    flush();
    return over();
}

}  // namespace lattop
