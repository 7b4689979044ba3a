// SPDX-License-Identifier: GPL-2.0-or-later
//
// The seam between whoever shows user stacks and whoever names them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lattop/model/model.h"
#include "unwind/frame.h"

namespace lattop {

/// One user stack: of which task, under which program, which trace of which
/// loaded module.
struct StackId {
    TaskId task;
    std::uint32_t exec_id = 0;
    std::uint64_t trace_id = 0;
    std::uint64_t load = 0;

    bool operator==(const StackId&) const = default;
};

struct HashStackId {
    std::size_t operator()(const StackId& id) const;
};

StackId stack_id(const Snapshot& snapshot, const Task& task, const Entry& entry);

/// Of one of a waker's stacks: its trace, from where it woke, or its waited_trace.
StackId stack_id(const Snapshot& snapshot, const Waker& waker, TraceIndex of);

/// A UserStack::version that nothing had before.
std::uint64_t new_version();

/// Where a task stands now, walked from outside of the module.
struct LiveNames {
    std::vector<std::uint64_t> addresses{};  ///< innermost first; none where it was not walked
    UserStack stack{};
    std::string end{};         ///< why there is no more; "" for a whole stack
    std::string object{};      ///< what it waits for: see wait_object.h
    std::uint64_t sleeps = 0;  ///< of the task, in the snapshot for which it was asked
};

class UserStacks {
public:
    UserStacks() = default;
    UserStacks(const UserStacks&) = delete;
    UserStacks& operator=(const UserStacks&) = delete;
    virtual ~UserStacks() = default;

    /// Asks for the names of the user stacks that `snapshot` holds.
    virtual void want(const Snapshot& snapshot) = 0;

    /// The same for a snapshot of some of the tasks beside the last one that was wanted.
    virtual void want_more(const Snapshot& snapshot) { want(snapshot); }

    /// Takes over names found since the last call; whether there were any.
    virtual bool collect() = 0;

    /// Waits for what was asked for but for silent processes, or for as long as somebody says;
    /// takes over what was found. False when nothing was answered: want() asks for no more.
    virtual bool wait() { return collect(); }

    /// Whether the name of a stack that has none is being looked for.
    [[nodiscard]] virtual bool pending(const StackId& /*id*/) const { return false; }

    /// Asks where a task that sleeps stands now.
    virtual void want_live(const Task& task) = 0;

    /// Asks for the command lines of tasks: once of each program that one of them runs.
    virtual void want_command_lines(std::span<const Task* const> /*tasks*/) {}

    /// That of the task's process; nullptr while (or because) it is not known, "" where it has
    /// none. Not safe to print yet. Valid until the next call that is not const.
    [[nodiscard]] virtual const std::string* command_line(const Task& /*task*/) const {
        return nullptr;
    }

    /// Processes, by tgid, whose memory or files do not answer: nobody waits for their names.
    [[nodiscard]] virtual std::vector<std::uint32_t> silent() const { return {}; }

    /// Processes, by tgid, that nobody looks at for a while, as they or others of their user were
    /// slow.
    [[nodiscard]] virtual std::vector<std::uint32_t> put_off() const { return {}; }

    /// What is being fetched to name them, or could not be, who is silent and put off, for people;
    /// "" for nothing.
    [[nodiscard]] virtual std::string progress() const { return ""; }

    /// A descriptor that is readable when collect() has something; -1 for none.
    [[nodiscard]] virtual int ready_fd() const = 0;

    /// The named stack, or nullptr while (or because) there are no names: then
    /// the bare addresses are all there is. Valid until the next want() or collect(). Its version
    /// tells whether its names are those of an earlier call.
    [[nodiscard]] virtual const UserStack* find(const StackId& id) const = 0;

    /// The last answer to want_live(), if it was for this task and the program
    /// it runs; nullptr otherwise. Valid as long.
    [[nodiscard]] virtual const LiveNames* find_live(const Task& task) const = 0;

    /// What the sleep that a task of `snapshot` is in waits for, where it was recorded: see
    /// wait_object.h. nullptr where it was not.
    [[nodiscard]] virtual const std::string* object(const Snapshot& /*snapshot*/,
                                                    const Task& /*task*/) const {
        return nullptr;
    }
};

/// Nothing has a name: for snapshots of other machines.
class NoUserStacks final : public UserStacks {
public:
    void want(const Snapshot& /*snapshot*/) override {}
    bool collect() override { return false; }
    void want_live(const Task& /*task*/) override {}
    [[nodiscard]] int ready_fd() const override { return -1; }
    [[nodiscard]] const UserStack* find(const StackId& /*id*/) const override { return nullptr; }
    [[nodiscard]] const LiveNames* find_live(const Task& /*task*/) const override {
        return nullptr;
    }
};

}  // namespace lattop
