// SPDX-License-Identifier: GPL-2.0-or-later
#include "run_queue_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace oracle {
namespace {

constexpr int64_t least_shown_ns = 50'000'000;
constexpr size_t most_shown = 5;

}  // namespace

void RunQueueSteps::look(const Samples& samples, double seconds) {
    for (const auto& [id, sample] : samples) {
        if (!sample.quiet() || !sample.lattop.asleep) continue;
        const auto difference = static_cast<int64_t>(sample.lattop.runq_ns - sample.before.runq_ns);
        const auto [found, is_new] = tasks_.try_emplace(id);
        Steps& its = found->second;
        const int64_t step = difference - its.difference_ns;
        if (!is_new && std::abs(step) > std::abs(its.largest_ns)) {
            its.largest_ns = step;
            its.from = its.seconds;
            its.to = seconds;
        }
        its.name = sample.name;
        its.difference_ns = difference;
        its.seconds = seconds;
    }
}

void RunQueueSteps::print() const {
    std::vector<const Steps*> shown;
    for (const auto& [id, its] : tasks_)
        if (std::abs(its.largest_ns) >= least_shown_ns) shown.push_back(&its);
    std::sort(shown.begin(), shown.end(), [](const Steps* a, const Steps* b) {
        return std::abs(a->largest_ns) > std::abs(b->largest_ns);
    });
    if (shown.size() > most_shown) shown.resize(most_shown);
    for (const Steps* its : shown)
        fmt::print("run-queue delay of {}: lattop's and the kernel's came apart most, by {:+} ns, "
                   "between {:.0f} and {:.0f} s\n",
                   its->name, its->largest_ns, its->from, its->to);
}

}  // namespace oracle
