// SPDX-License-Identifier: GPL-2.0-or-later
//
// See wanted_waits.h.
#include "lattop/model/wanted_waits.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace lattop {
namespace {

/// A task's figures, from its entries that are left: those from `first` on.
void add_up(Task& task, const std::vector<Entry>& entries, std::size_t first) {
    task.first_entry = static_cast<std::uint32_t>(first);
    task.n_entries = static_cast<std::uint32_t>(entries.size() - first);
    task.traces_total = task.n_entries;
    task.blocked_ns = task.ongoing_ns = task.max_ns = task.sleeps = 0;
    bool ongoing = false;
    for (std::size_t i = first; i < entries.size(); ++i) {
        const Entry& entry = entries[i];
        task.blocked_ns += entry.blocked_ns;
        task.sleeps += entry.sleeps;
        task.max_ns = std::max(task.max_ns, entry.max_ns);
        task.ongoing_ns = std::max(task.ongoing_ns, entry.ongoing_ns);
        ongoing = ongoing || entry.asleep();
    }
    if (!ongoing) task.flags &= ~std::uint32_t{LT_T_ASLEEP};
}

}  // namespace

std::string wanted_text(const WantedWaits& wanted) {
    std::string text = wanted.hide_idle ? ", no waits for work" : "";
    return wanted.filter.empty() ? text : text + ", filter " + wanted.filter;
}

void keep_wanted(Snapshot& snapshot, const WantedWaits& wanted, const UserStacks& names,
                 Users& users, Reasons& reasons, CgroupNames& cgroups) {
    if (wanted.all()) return;
    const KnownBy known{snapshot, names, users, cgroups};
    std::vector<Task> tasks;
    std::vector<Entry> entries;
    for (const Task& task : snapshot.tasks) {
        const std::size_t first = entries.size();
        for (const Entry& entry : snapshot.entries_of(task))
            if (is_wanted(wanted, known, task, &entry, reasons.of(snapshot, task, entry, names)))
                entries.push_back(entry);
        const bool bare = task.n_entries == 0;
        const bool stays =
            bare ? is_wanted(wanted, known, task, nullptr, reasons.of_worst(snapshot, task, names))
                 : entries.size() != first;
        if (!stays) continue;
        tasks.push_back(task);
        if (bare)
            tasks.back().first_entry = 0;
        else
            add_up(tasks.back(), entries, first);
    }
    snapshot.tasks = std::move(tasks);
    snapshot.entries = std::move(entries);
    snapshot.header.tasks_matched = static_cast<std::uint32_t>(snapshot.tasks.size());
}

}  // namespace lattop
