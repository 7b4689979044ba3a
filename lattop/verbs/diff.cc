// SPDX-License-Identifier: GPL-2.0-or-later
//
// See diff.h. Recordings differ in length, so all is per second; and a wait
// may become longer or come more often, so both are shown:
//
//	 CHANGE  BEFORE   AFTER  SLP/s BEFORE AFTER   MEAN BEFORE AFTER REASON COMMAND
//	+812ms  100ms   912ms          10.0  10.2         10.0ms 89.4ms futex  worker
//	        futex_wait_queue < ... < checkout_connection < worker
#include "lattop/verbs/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "lattop/export/stack_text.h"
#include "lattop/options.h"
#include "lattop/output.h"
#include "lattop/verbs/profile.h"

namespace lattop {
namespace {

double change(const StackChange& stack) {
    return stack.after_ns - stack.before_ns;
}

std::string duration(double ns) {
    return format_duration(static_cast<std::uint64_t>(std::llround(std::abs(ns))));
}

std::string mean(double ns, double sleeps) {
    return sleeps > 0 ? duration(ns / sleeps) : "-";
}

std::string row(const StackChange& entry, Charset charset) {
    return fmt::format(
               "{:>8} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:<12} {}\n",
               (change(entry) < 0 ? "-" : "+") + duration(change(entry)), duration(entry.before_ns),
               duration(entry.after_ns), format_rate(entry.before_sleeps),
               format_rate(entry.after_sleeps), mean(entry.before_ns, entry.before_sleeps),
               mean(entry.after_ns, entry.after_sleeps), printable(entry.stack.reason, charset),
               printable(entry.stack.command, charset)) +
           frames_text(entry.stack, charset);
}

double seconds(const Profile& profile) {
    const Header& header = profile.snapshot.header;
    return std::max(static_cast<double>(header.time_ns - header.since_ns) / 1e9, 1e-9);
}

}  // namespace

std::vector<StackChange> diff_stacks(const std::vector<MergedStack>& before, double before_seconds,
                                     const std::vector<MergedStack>& after, double after_seconds) {
    std::vector<StackChange> changes;
    std::unordered_map<std::string, std::size_t> index;
    const auto find = [&](const MergedStack& stack) -> StackChange& {
        const auto [found, added] = index.try_emplace(stack.identity(), changes.size());
        if (added) changes.push_back({.stack = stack});
        return changes[found->second];
    };
    for (const MergedStack& stack : after) {
        StackChange& entry = find(stack);
        entry.after_ns += static_cast<double>(stack.blocked_ns) / after_seconds;
        entry.after_sleeps += static_cast<double>(stack.sleeps) / after_seconds;
    }
    for (const MergedStack& stack : before) {
        StackChange& entry = find(stack);
        entry.before_ns += static_cast<double>(stack.blocked_ns) / before_seconds;
        entry.before_sleeps += static_cast<double>(stack.sleeps) / before_seconds;
    }
    std::ranges::stable_sort(changes, std::ranges::greater{}, change);
    return changes;
}

std::string diff_text(const std::vector<StackChange>& changes, std::size_t limit, Charset charset) {
    const std::string titles =
        fmt::format("{:>8} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:<12} {}\n", "CHANGE", "BEFORE",
                    "AFTER", "SLP/s", "AFTER", "MEAN", "AFTER", "REASON", "COMMAND");
    std::string slower;
    std::string faster;
    std::size_t n = 0;
    // Less than a microsecond a second is noise of the clock.
    constexpr double kLeastNs = 1'000;
    for (auto entry = changes.begin(); entry != changes.end() && change(*entry) >= kLeastNs;
         ++entry)
        if (limit == 0 || n++ < limit) slower += row(*entry, charset);
    n = 0;
    for (auto entry = changes.rbegin(); entry != changes.rend() && change(*entry) <= -kLeastNs;
         ++entry)
        if (limit == 0 || n++ < limit) faster += row(*entry, charset);
    const auto part = [&](const char* title, const std::string& rows) {
        return std::string(title) + "\n" + (rows.empty() ? "nothing\n" : titles + rows);
    };
    return part("Slower: blocked longer, a second", slower) + "\n" +
           part("Faster: blocked less, a second", faster);
}

int diff_command(Arguments& arguments) {
    std::string before_file;
    std::string after_file;
    std::string limit;
    Selection selection;
    arguments.positional("BEFORE", before_file, "what lattop record made");
    arguments.positional("AFTER", after_file, "the same, later");
    arguments.text("--stacks", "N", limit, "at most N stacks each way, 0 for all (default 10)");
    arguments.selection(selection);
    if (!arguments.parse()) return 0;
    constexpr std::uint32_t kDefault = 10;
    const std::uint32_t stacks = limit.empty() ? kDefault : parse_limit(limit, "--stacks");
    const Profile before = Profile::recorded(before_file, selection);
    const Profile after = Profile::recorded(after_file, selection);
    const auto changes = diff_stacks(
        merge_stacks(before.snapshot, before.names(), before.reasons(), &*before.processes),
        seconds(before),
        merge_stacks(after.snapshot, after.names(), after.reasons(), &*after.processes),
        seconds(after));
    const Charset charset = locale_charset();
    write_output("before: " + printable(before.title, charset) + "\nafter:  " +
                 printable(after.title, charset) + "\n\n" + diff_text(changes, stacks, charset));
    return 0;
}

}  // namespace lattop
