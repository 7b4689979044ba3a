// SPDX-License-Identifier: GPL-2.0-or-later
//
// lattop-agree: do the rows lead up a stack as libunwind does? Run by hand and
// by CTest (label agree) on programs of this machine:
//
//	lattop-agree [--rounds N | --stacks N] PID...
//	lattop-agree --walk PID
//
// For each thread of each process: stopped for a moment, its registers taken,
// its stack walked by rows and by libunwind, frames compared by (pc, sp).
// Prints each disagreement with both stacks, the counts by program, and what
// ended the walks that are not complete. Exit status 1 where a frame differs.
// --stacks goes on until so many have been compared.
//
// --walk reads "TID PC SP BP" lines and prints "TID PC:SP ... | END" for each:
// the walk by rows of a process that somebody else holds (gdb_agree.py). PC:SP?
// is a frame whose caller was found by frame pointer, as nothing describes its
// code. A line
// "stop" stops the process with SIGSTOP, in some milliseconds: whoever holds it
// lets it run for so long.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "tests/unit/support/child.h"
#include "tests/unit/support/stopped_thread.h"
#include "unwind/live_unwind.h"
#include "unwind/row_walk.h"

namespace lattop::test {
namespace {

/// How long a process runs between two looks.
constexpr useconds_t kRunUs = 10'000;

struct Tally {
    std::size_t stacks = 0, frames = 0, complete = 0;
    std::size_t disagree = 0;                           ///< a frame differs
    std::size_t rows_more = 0;                          ///< alike as far as libunwind came
    std::size_t rows_less = 0;                          ///< alike as far as the rows came
    std::map<std::string, std::size_t> ends;            ///< of incomplete walks by rows
    std::map<std::string, std::size_t> reference_ends;  ///< where libunwind ended first
};

std::string name_of(pid_t pid) {
    std::string name;
    std::getline(std::ifstream(fmt::format("/proc/{}/comm", pid)), name);
    return name;
}

std::string place(const ProcessCode& code, std::uint64_t pc) {
    const Mapping* mapping = find_mapping(code.maps(), pc);
    if (mapping == nullptr) return fmt::format("{:#x}", pc);
    return fmt::format("{:#x} {}+{:#x}", pc, module_name(mapping->path),
                       pc - mapping->start + mapping->offset);
}

void print_both(const ProcessCode& code, const Walk& rows, const LiveWalk& reference) {
    for (std::size_t i = 0; i < std::max(rows.frames.size(), reference.frames.size()); ++i) {
        std::string left = "-";
        std::string right = "-";
        if (i < rows.frames.size())
            left = fmt::format("sp {:#x} {}", rows.frames[i].frame.sp,
                               place(code, rows.frames[i].frame.pc));
        if (i < reference.frames.size())
            right = fmt::format("sp {:#x} {}", reference.frames[i].sp,
                                place(code, reference.frames[i].pc));
        fmt::print("    {} {:60} | {}\n", left == right ? ' ' : '!', left, right);
    }
}

/// Whether the first frames of both are the same, as many as both have.
bool same_frames(const Walk& rows, const LiveWalk& reference) {
    const std::size_t common = std::min(rows.frames.size(), reference.frames.size());
    for (std::size_t i = 0; i < common; ++i) {
        const lt_uframe& frame = rows.frames[i].frame;
        if (frame.pc != reference.frames[i].pc || frame.sp != reference.frames[i].sp) return false;
    }
    return true;
}

std::string end_text(const ProcessCode& code, const Walk& rows) {
    std::string text = walk_end_text(rows.end);
    if (rows.end == WalkEnd::NoCode) return text + ": " + place(code, rows.stop_pc);
    if (rows.frames.empty()) return text;
    const WalkedFrame& last = rows.frames.back();
    return text + ": " + place(code, last.frame.pc) + ": " + cannot_text(last.placed.built.cannot);
}

/// The module of the last frame libunwind found.
std::string module_of(const ProcessCode& code, const LiveWalk& reference) {
    if (reference.frames.empty()) return "nowhere";
    const Mapping* mapping = find_mapping(code.maps(), reference.frames.back().pc - 1);
    if (mapping == nullptr) return "no code";
    return mapping->path.empty() ? "anonymous code" : module_name(mapping->path);
}

void compare(ProcessCode& code, pid_t tid, LiveUnwinder& unwinder, Tally& tally) {
    const auto thread = StoppedThread::stop(tid);
    if (!thread) return;
    const Walk rows = walk_rows(code, frame_of(thread->registers()));
    const LiveWalk reference = unwinder.walk(code, thread->registers());
    ++tally.stacks;
    tally.frames += rows.frames.size();
    const bool complete = rows.end == WalkEnd::Complete;
    if (complete) ++tally.complete;
    if (!complete) ++tally.ends[end_text(code, rows)];
    if (!same_frames(rows, reference)) {
        ++tally.disagree;
        fmt::print("  thread {}: rows {}, libunwind {}\n", tid, walk_end_text(rows.end),
                   reference.complete ? "complete" : reference.why);
        print_both(code, rows, reference);
    } else if (rows.frames.size() < reference.frames.size()) {
        ++tally.rows_less;
    } else if (rows.frames.size() > reference.frames.size() || (complete && !reference.complete)) {
        ++tally.rows_more;
        ++tally.reference_ends[fmt::format("{}: {}", module_of(code, reference), reference.why)];
    } else if (!complete && reference.complete) {
        ++tally.rows_less;
    }
}

void compare_process(pid_t pid, LiveUnwinder& unwinder, CodeFiles& files, Tally& tally) {
    auto code =
        ProcessCode::open("/proc", static_cast<std::uint32_t>(pid), start_ns_of(pid), files);
    if (!code) return;
    std::error_code gone;
    for (const auto& entry :
         std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), gone)) {
        code->allow_refresh();
        compare(*code, std::atoi(entry.path().filename().c_str()), unwinder, tally);
    }
}

/// Stops where `stacks` have been compared, or behind `rounds`.
int run(int rounds, std::size_t stacks, const std::vector<pid_t>& pids) {
    const auto unwinder = local_unwinder();
    CodeFiles files(std::size_t{256} << 20);
    std::map<std::string, Tally> tallies;
    const auto compared = [&] {
        std::size_t sum = 0;
        for (const auto& [name, tally] : tallies)
            sum += tally.stacks;
        return sum;
    };
    for (int round = 0; round < rounds && compared() < stacks; ++round) {
        for (const pid_t pid : pids) {
            if (!std::filesystem::exists(fmt::format("/proc/{}/exe", pid))) continue;
            compare_process(pid, *unwinder, files, tallies[name_of(pid)]);
        }
        if (rounds > 1) ::usleep(kRunUs);
    }
    std::size_t disagree = 0;
    for (const auto& [name, tally] : tallies) {
        fmt::print(
            "{:16} {:6} stacks {:7} frames  {:6} complete  {:4} disagree  "
            "rows further {}, libunwind further {}\n",
            name, tally.stacks, tally.frames, tally.complete, tally.disagree, tally.rows_more,
            tally.rows_less);
        for (const auto& [end, count] : tally.ends)
            fmt::print("    {:6} by rows end at {}\n", count, end);
        for (const auto& [end, count] : tally.reference_ends)
            fmt::print("    {:6} by libunwind end sooner, in {}\n", count, end);
        disagree += tally.disagree;
    }
    fmt::print("{} stacks, {} disagree\n", compared(), disagree);
    return disagree == 0 && compared() != 0 ? 0 : 1;
}

int walk(pid_t pid) {
    CodeFiles files(std::size_t{256} << 20);
    auto code =
        ProcessCode::open("/proc", static_cast<std::uint32_t>(pid), start_ns_of(pid), files);
    if (!code) return 1;
    lt_uframe frame{};
    frame.exact = LT_ROW_EXACT;
    for (std::string tid; std::cin >> tid;) {
        if (tid == "stop") {
            ::usleep(kRunUs);
            if (::kill(pid, SIGSTOP) != 0) return 0;  // it has ended
            continue;
        }
        std::cin >> frame.pc >> frame.sp >> frame.bp;
        code->allow_refresh();
        const Walk rows = walk_rows(*code, frame);
        fmt::print("{}", tid);
        for (const WalkedFrame& walked : rows.frames)
            fmt::print(" {:x}:{:x}{}", walked.frame.pc, walked.frame.sp,
                       walked.placed.guessed ? "?" : "");
        fmt::print(" | {}\n", end_text(*code, rows));
        std::fflush(stdout);
    }
    return 0;
}

}  // namespace
}  // namespace lattop::test

int main(int argc, char** argv) {
    int rounds = 0;  // 0: as many as it takes, one where no number of stacks is given
    std::size_t stacks = SIZE_MAX;
    std::vector<pid_t> pids;
    for (int i = 1; i < argc; ++i) {
        if (std::string(argv[i]) == "--rounds" && i + 1 < argc)
            rounds = std::atoi(argv[++i]);
        else if (std::string(argv[i]) == "--stacks" && i + 1 < argc)
            stacks = std::stoul(argv[++i]);
        else if (std::string(argv[i]) == "--walk" && i + 1 < argc)
            return lattop::test::walk(std::atoi(argv[++i]));
        else
            pids.push_back(std::atoi(argv[i]));
    }
    return lattop::test::run(rounds != 0 ? rounds : stacks != SIZE_MAX ? INT_MAX : 1, stacks, pids);
}
