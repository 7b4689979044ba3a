// SPDX-License-Identifier: GPL-2.0-or-later
//
// A small machine at work, for golden screens, exports and the terminal's
// tests: a database with a contended lock, a web server, a stuck process, a
// thread that has ended, kernel threads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lattop/model/user_stacks.h"
#include "lattop/model/users.h"
#include "tests/unit/support/snapshot_builder.h"

namespace lattop::test {

/// The machine after `seconds` seconds: figures grow by it.
SnapshotBuilder sample_machine(std::uint64_t seconds);

/// The cgroup of its database.
inline const std::string kSampleContainer =
    "/system.slice/docker-" + std::string(64, 'd') + ".scope";

/// Names for the user stacks of the sample, by trace id.
class SampleStacks final : public UserStacks {
public:
    SampleStacks();
    void want(const Snapshot& /*snapshot*/) override { ++wanted; }
    void want_more(const Snapshot& /*snapshot*/) override { ++more_wanted; }
    bool collect() override { return false; }
    void want_live(const Task& task) override { live_wanted.push_back(task.pid); }
    [[nodiscard]] std::vector<std::uint32_t> silent() const override { return silent_pids; }
    [[nodiscard]] std::vector<std::uint32_t> put_off() const override { return put_off_pids; }
    [[nodiscard]] int ready_fd() const override { return -1; }
    [[nodiscard]] const UserStack* find(const StackId& id) const override;

    [[nodiscard]] const LiveNames* find_live(const Task& task) const override {
        return live && task.pid == live_pid ? &*live : nullptr;
    }

    void want_command_lines(std::span<const Task* const> tasks) override {
        lines_wanted.clear();
        for (const Task* task : tasks)
            lines_wanted.push_back(task->pid);
    }
    [[nodiscard]] const std::string* command_line(const Task& task) const override {
        const auto found = command_lines.find(task.tgid);
        return found == command_lines.end() ? nullptr : &found->second;
    }

    int wanted = 0, more_wanted = 0;
    std::vector<std::uint32_t> silent_pids, put_off_pids;
    std::vector<std::uint32_t> lines_wanted;             // by the last call
    std::map<std::uint32_t, std::string> command_lines;  // by tgid
    std::vector<std::uint32_t> live_wanted;
    std::uint32_t live_pid = 0;
    std::optional<LiveNames> live;

private:
    std::map<std::uint64_t, UserStack> stacks_;
};

class SampleUsers final : public Users {
public:
    const std::string& name(std::uint32_t uid) override;

private:
    std::string name_;
};

}  // namespace lattop::test
