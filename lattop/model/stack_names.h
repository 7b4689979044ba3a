// SPDX-License-Identifier: GPL-2.0-or-later
//
// The names of user stacks, kept from the first time a stack is seen until
// after its process has ended: how long says who makes it. Commands tell it what each snapshot
// holds; views ask it for names. What a silent process did not let the namer look at is asked for
// again when it answers, or a few snapshots later, and what is known stays until then.
// Threads of one process at one trace have the same stack: one of them is asked about, and the
// others take over what it is called.
//
// Addresses mean something only in the program that slept there. Between a
// snapshot and the moment the namer reads the process's maps the process may
// have called execve(2); /proc does not say so. So names count as sure only
// when a snapshot taken after they were found still shows the same exec_id;
// where the next one shows another, they are dropped again. Stacks of an
// earlier program are shown by what was found while it ran, or bare.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lattop/model/held_frames.h"
#include "lattop/model/namer.h"
#include "lattop/model/user_stacks.h"
#include "unwind/bounded_cache.h"

namespace lattop {

class StackNames final : public UserStacks {
public:
    enum class Keep {
        All,    ///< up to a bound: for who writes, in the end, of all that was seen
        Shown,  ///< what snapshots still hold, and some more: for who shows what is, for months
    };
    explicit StackNames(std::unique_ptr<Namer> namer, Keep keep = Keep::All);

    /// Each snapshot is to be wanted before collect() is called again.
    void want(const Snapshot& snapshot) override;
    void want_more(const Snapshot& snapshot) override;
    bool collect() override;
    bool wait() override;
    [[nodiscard]] bool pending(const StackId& id) const override;
    void want_live(const Task& task) override;
    void want_command_lines(std::span<const Task* const> tasks) override;
    [[nodiscard]] const std::string* command_line(const Task& task) const override;
    [[nodiscard]] std::vector<std::uint32_t> silent() const override { return namer_->silent(); }
    [[nodiscard]] std::vector<std::uint32_t> put_off() const override { return namer_->put_off(); }
    [[nodiscard]] std::string progress() const override { return namer_->progress(); }
    [[nodiscard]] int ready_fd() const override { return namer_->ready_fd(); }
    [[nodiscard]] const UserStack* find(const StackId& id) const override;
    [[nodiscard]] const LiveNames* find_live(const Task& task) const override;

    /// How many stacks, programs and command lines: what it takes grows by no more than that.
    [[nodiscard]] std::size_t remembered() const;

private:
    struct Known {
        UserStack stack;
        bool confirmed = false;  ///< a later snapshot showed the same program
        bool pending = false;    ///< the namer has it
        bool settled = false;    ///< nothing more to learn
        bool put_off = false;    ///< its process was silent, or put off
        unsigned attempts = 0;
        std::uint64_t next_round = 0;  ///< when to ask again, and not before
        std::uint64_t seen = 0;        ///< the wanted_ that had it last
        DebugFetch::Clock::time_point retry_at{};

        /// Its task ended before it was looked at: that says nothing of other threads.
        [[nodiscard]] bool ended_unseen() const { return settled && stack.frames.empty(); }
    };

    struct Program {
        std::uint32_t exec_id = 0;  ///< as last seen
        std::uint64_t seen = 0;     ///< as Known's
    };
    /// How many a snapshot, and what is wanted beside it, holds, each counted once.
    struct Seen {
        std::size_t stacks = 0;
        std::size_t tasks = 0;  ///< wakers too
    };
    void note_programs(const Snapshot& snapshot);
    Program& note_program(const TaskId& id, std::uint32_t exec_id);
    void note_stack(Known& known);
    void forget_unseen();
    /// A stack as a snapshot shows it: of which program, and which its task runs now.
    struct Shown {
        StackId id;
        std::span<const std::uint64_t> addresses;
        std::uint32_t exec_id = 0;    ///< what the task runs now
        std::optional<TaskRef> live;  ///< a live task in that address space
    };
    [[nodiscard]] bool due(const Known& known, const TaskRef& live) const;
    void want_stack(const Shown& shown, std::vector<NameRequest>& requests);
    void want_wakers(const Snapshot& snapshot, const Entry& entry,
                     std::vector<NameRequest>& requests);
    using LiveTasks = std::unordered_set<TaskId, HashTaskId>;
    bool is_shared(const NameRequest& request, const LiveTasks& live);
    void take_over(const StackId& id, Known& mine, const Known& its);
    void share(const StackId& id);
    void set_cost(const StackId& id, const UserStack& stack);
    void ask(const Snapshot& snapshot, std::vector<NameRequest> wanted);
    // Whether there is anything new in it.
    bool keep_all(std::vector<NameAnswer> answers);
    bool keep(NameAnswer& answer);
    bool keep_live(NameAnswer& answer);
    bool keep_command_line(NameAnswer& answer);

    std::unique_ptr<Namer> namer_;
    Keep keep_;
    std::uint64_t round_ = 0;
    std::uint64_t wanted_ = 0;  // snapshots by want()
    Seen seen_;                 // since the last one
    std::size_t pending_ = 0;
    std::vector<std::uint32_t> silent_;  // and who is put off, as of the last snapshot
    HeldFrames frames_;                  // of known_
    BoundedCache<StackId, Known, HashStackId> known_;
    BoundedCache<StackId, StackId, HashStackId> asked_;  // which thread's, by process (start 0)
    std::unordered_map<StackId, std::vector<StackId>, HashStackId> sharers_;  // of what is pending
    StackId live_wanted_;  // asked for last; its trace is 0
    StackId live_of_;      // whose live_ is
    std::optional<LiveNames> live_;
    std::size_t live_pending_ = 0;
    BoundedCache<TaskId, Program, HashTaskId> programs_;
    struct CommandLine {
        std::shared_ptr<const std::string>
            text{};                    ///< nullptr: not known; a process's threads share one
        bool pending = false;          ///< the namer has it
        std::uint64_t next_round = 0;  ///< when to ask again, and not before
    };
    BoundedCache<StackId, CommandLine, HashStackId> command_lines_;  // by task and program, trace 0
    std::shared_ptr<const std::string> last_line_;
};

}  // namespace lattop
