// SPDX-License-Identifier: GPL-2.0-or-later
// When, in a long watch, a task's run-queue delay by lattop and by the kernel came apart: at its
// end only the sum is left to compare. Used by watch.cpp, which prints it where something is wrong.
#pragma once

#include <map>
#include <string>

#include "compare.h"

namespace oracle {

class RunQueueSteps {
public:
    /// At each look, `seconds` after the first. Of tasks that were quiet in it, and asleep.
    void look(const Samples& samples, double seconds);

    /// Of the tasks whose difference changed by 50 ms or more between two looks, the five for which
    /// it did most: how much, and when.
    void print() const;

private:
    struct Steps {
        std::string name;
        int64_t difference_ns = 0;  // lattop's less the kernel's, at the last look
        double seconds = 0;         // of that look
        int64_t largest_ns = 0;
        double from = 0, to = 0;  // between which looks that came
    };
    std::map<TaskId, Steps> tasks_;
};

}  // namespace oracle
