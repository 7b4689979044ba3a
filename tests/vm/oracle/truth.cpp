// SPDX-License-Identifier: GPL-2.0-or-later
#include "truth.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>

#include "compare.h"
#include "invariants.h"
#include "report.h"

namespace oracle {
namespace {

/// One "word key=value key=value ..." line.
class Line {
public:
    explicit Line(const std::string& text) {
        std::istringstream words(text);
        std::string word;
        words >> kind_;
        while (words >> word)
            if (const auto sign = word.find('='); sign != std::string::npos)
                values_[word.substr(0, sign)] = word.substr(sign + 1);
    }

    [[nodiscard]] const std::string& kind() const { return kind_; }
    [[nodiscard]] bool has(const std::string& key) const { return values_.contains(key); }
    [[nodiscard]] std::string text(const std::string& key) const {
        const auto found = values_.find(key);
        return found == values_.end() ? "" : found->second;
    }
    [[nodiscard]] int64_t number(const std::string& key) const {
        return std::strtoll(text(key).c_str(), nullptr, 10);
    }
    [[nodiscard]] std::string who() const {
        return text("prog") + "/" + text("role") + " " + text("tid");
    }

private:
    std::string kind_;
    std::map<std::string, std::string> values_;
};

bool is_stopped(const Line& line) {
    return line.text("role").starts_with("stopped");
}
/// Taking over the pid of the first thread mixes the lives of two threads in the kernel's total.
bool has_two_lives(const Line& line) {
    return line.text("prog") == "exec-chain";
}

/// On PREEMPT_RT spinlocks sleep. A thread adds its counts to its process's in release_task(), and
/// may wait for such a lock once more on its way out: a sleep that no total of the kernel has.
bool spinlocks_sleep() {
    utsname name{};
    uname(&name);
    return std::strstr(name.version, "PREEMPT_RT") != nullptr;
}

void check_counts(const Line& line, Report& report) {
    const int64_t sleeps = line.number("sleeps");
    // On several CPUs, where the host's noise is, a page fault may wait for another thread's
    if (line.has("expect_sleeps") && line.number("expect_sleeps") != sleeps && !report.host_noise())
        report.fail("{}: the kernel counts {} sleeps where the program must have had {}",
                    line.who(), sleeps, line.number("expect_sleeps"));
    const int64_t seen = line.number("l_sleeps");
    const bool of_the_dead = line.kind() == "process" && spinlocks_sleep();
    // Seen: 2 of 590
    const int64_t last_waits = of_the_dead ? std::max<int64_t>(2, sleeps / 100) : 0;
    if (seen > sleeps + last_waits || seen < sleeps - line.number("deaths"))
        report.fail("{}: {} sleeps, {} by the kernel's count", line.who(), line.number("l_sleeps"),
                    sleeps);
    if (line.has("l_total_sleeps") && !has_two_lives(line) &&
        line.number("l_total_sleeps") != line.number("total_sleeps"))
        report.fail("{}: {} sleeps since birth, {} by the kernel's count", line.who(),
                    line.number("l_total_sleeps"), line.number("total_sleeps"));
}

/// Since birth, and so with the wait for its first CPU: the window begins when it has that.
void check_run_queue_since_birth(const Line& line, Report& report) {
    const auto preemptions = static_cast<uint64_t>(line.number("total_nivcsw"));
    const auto switches = static_cast<uint64_t>(line.number("total_sleeps")) + preemptions + 1;
    compare_run_queue(line.who(), line.number("l_total_runq_ns"), line.number("total_runq_ns"),
                      switches, preemptions, report, true);
}

/// What all threads of a process that are alive did not run, they slept or waited for a CPU.
void check_times_of_all(const Line& line, Report& report) {
    report.time("blocked time and run-queue delay of all threads (what is left of the wall clock)",
                line.who(), line.number("l_blocked_ns") + line.number("l_runq_ns"),
                line.number("wall_ns") - line.number("cpu_ns"),
                static_cast<uint64_t>(line.number("sleeps")));
}

void check_times(const Line& line, Report& report) {
    const int64_t blocked = line.number("l_blocked_ns");
    const auto sleeps = static_cast<uint64_t>(line.number("sleeps"));
    const auto preemptions = static_cast<uint64_t>(line.number("nivcsw"));
    const auto switches = sleeps + preemptions + 1;

    if (sleeps == 0) {
        report.time("blocked time of what never slept", line.who(), blocked, 0, 0);
    } else {
        // Where run_delay holds part of the sleeps, only the sum of both is known
        const bool both = !kernel_sums_are_exact();
        const int64_t measured = line.number("blocked_ns") + (both ? line.number("runq_ns") : 0);
        const int64_t ours = blocked + (both ? line.number("l_runq_ns") : 0);
        if (both)
            report.time_or_noise("blocked time and run-queue delay (measured by the program)",
                                 line.who(), ours, measured, switches, off_cpu_slack(preemptions));
        else
            report.time("blocked time (measured by the program)", line.who(), ours, measured,
                        sleeps);
    }
    KernelCounters counters;
    counters.fair = line.number("policy") == 0 || line.number("policy") == 3;
    if (line.has("sum_sleep_ns") && kernel_sums_cover(counters) && !is_stopped(line))
        compare_with_sum(line.who(), blocked, line.number("sum_sleep_ns"), sleeps, report);
    const int64_t runq = line.number("runq_ns");
    compare_run_queue(line.who(), line.number("l_runq_ns"), runq, switches, preemptions, report);
}

}  // namespace

int check_truth(std::istream& input, const TruthOptions& options) {
    Report report(options.tolerance);
    uint64_t lines = 0, sleeps = 0;
    std::string text;
    while (std::getline(input, text)) {
        const Line line(text);
        if (line.kind() != "truth" && line.kind() != "process") continue;
        ++lines;
        sleeps += static_cast<uint64_t>(line.number("sleeps"));
        if (!line.has("l_sleeps")) {
            report.fail("{}: nothing from /proc/lattop in '{}'", line.who(), text);
            continue;
        }
        check_counts(line, report);
        if (line.kind() == "truth") check_times(line, report);
        if (line.has("l_total_runq_ns") && !has_two_lives(line))
            check_run_queue_since_birth(line, report);
        if (line.kind() == "process" && line.has("wall_ns")) check_times_of_all(line, report);
    }
    fmt::print("compared {} lines, {} sleeps\n", lines, sleeps);
    if (lines < options.least_lines || sleeps < options.least_sleeps)
        report.fail("{} lines with {} sleeps, at least {} with {} expected", lines, sleeps,
                    options.least_lines, options.least_sleeps);
    LattopFile file(LT_TRACES_ALL);
    Invariants(report).check_records(file.read());
    return report.conclude() ? 0 : 1;
}

}  // namespace oracle
