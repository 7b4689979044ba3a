// SPDX-License-Identifier: GPL-2.0-or-later
//
// A command and everything it forks, however briefly that lives: the kernel
// tells of each fork through perf_event_open(2), an event that children
// inherit, on every CPU. Used by `lattop run`.
//
// What it costs: a descriptor and 132 KB a CPU, a 32-byte record a fork. Where
// more forks come than the buffers hold between two updates, the kernel says
// how many it dropped.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "lattop/source/snapshot.h"

namespace lattop {

/// Who belongs to the tree. A pid may be used again, by the tree or by others:
/// a member is a pid and about when it was forked.
class TreeMembers {
public:
    explicit TreeMembers(std::uint32_t root) : root_(root) {}

    /// Takes the records of a perf ring buffer. Throws FormatError.
    void take(std::span<const std::byte> records);

    [[nodiscard]] bool contains(const Task& task) const;

    /// Tasks forked, the root included.
    [[nodiscard]] std::size_t size() const { return forks_ + 1; }

    /// Processes of the tree that there were.
    [[nodiscard]] const std::vector<std::uint32_t>& processes() const { return processes_; }

    /// Forks that the kernel could not tell of.
    [[nodiscard]] std::uint64_t lost() const { return lost_; }

private:
    std::uint32_t root_;
    std::size_t forks_ = 0;
    std::uint64_t lost_ = 0;
    std::vector<std::uint32_t> processes_ = {root_};
    std::unordered_multimap<std::uint32_t, std::uint64_t> forked_;  // tid -> CLOCK_BOOTTIME
};

class ProcessTree {
public:
    /// Watches `root` from now on. Throws Error where the kernel does not let
    /// this user.
    explicit ProcessTree(pid_t root);
    ~ProcessTree();
    ProcessTree(const ProcessTree&) = delete;
    ProcessTree& operator=(const ProcessTree&) = delete;

    /// Takes over what was forked until now. Never waits.
    void update();

    [[nodiscard]] const TreeMembers& members() const { return members_; }

private:
    struct Ring;
    TreeMembers members_;
    std::vector<std::unique_ptr<Ring>> rings_;
};

}  // namespace lattop
