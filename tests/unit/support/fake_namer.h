// SPDX-License-Identifier: GPL-2.0-or-later
//
// A namer that answers when a test says so, and the StackNames over it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lattop/model/namer.h"
#include "lattop/model/stack_names.h"
#include "tests/unit/support/snapshot_builder.h"

namespace lattop::test {

/// Keeps requests until the test answers them.
class FakeNamer final : public Namer {
public:
    void submit(std::vector<NameRequest> added) override {
        for (NameRequest& request : added)
            requests.push_back(std::move(request));
    }
    std::vector<NameAnswer> take() override { return std::exchange(answers_, {}); }
    [[nodiscard]] int ready_fd() const override { return -1; }

    /// Answers all requests that wait; returns how many there were.
    std::size_t answer(Naming::Result result = Naming::Result::Named,
                       std::optional<DebugFetch::Clock::time_point> retry_at = std::nullopt) {
        const std::size_t n = requests.size();
        for (const NameRequest& request : std::exchange(requests, {})) {
            Naming naming;
            naming.result = result;
            naming.retry_at = retry_at;
            if (result != Naming::Result::Gone)
                for (const std::uint64_t address : request.addresses) {
                    auto frame = std::make_shared<UserFrame>();
                    frame->symbol = "at_" + std::to_string(address);
                    frame->path.resize(path_bytes, '/');
                    naming.stack.frames.push_back(frame);
                }
            answers_.push_back({request.id, naming});
        }
        return n;
    }

    /// The same, as what a silent process does not let anybody look at.
    std::size_t answer_not_now() {
        const std::size_t n = requests.size();
        for (const NameRequest& request : std::exchange(requests, {})) {
            NameAnswer answer;
            answer.id = request.id;
            answer.not_now = true;
            if (request.live) answer.live = LiveNames{.end = "silent", .sleeps = request.sleeps};
            if (request.command_line) answer.command_line = "";
            answers_.push_back(std::move(answer));
        }
        return n;
    }

    /// A live request's answer.
    void answer_live(const NameRequest& request) {
        NameAnswer answer;
        answer.id = request.id;
        answer.live = LiveNames{.addresses = {7}, .object = "fd 0", .sleeps = request.sleeps};
        answers_.push_back(std::move(answer));
    }

    void answer_with(NameAnswer answer) { answers_.push_back(std::move(answer)); }

    [[nodiscard]] std::vector<std::uint32_t> silent() const override { return silent_pids; }
    [[nodiscard]] std::vector<std::uint32_t> put_off() const override { return put_off_pids; }

    std::vector<NameRequest> requests;
    std::vector<std::uint32_t> silent_pids, put_off_pids;
    std::size_t path_bytes = 0;  ///< of each frame's

private:
    std::vector<NameAnswer> answers_;
};

struct Names {
    explicit Names(StackNames::Keep keep = StackNames::Keep::All) {
        auto owned = std::make_unique<FakeNamer>();
        namer = owned.get();
        names = std::make_unique<StackNames>(std::move(owned), keep);
    }
    FakeNamer* namer;
    std::unique_ptr<StackNames> names;
};

/// A task 5 that runs program `exec_id` and slept in a trace under `slept`.
inline Snapshot one_task(std::uint32_t exec_id, std::uint32_t slept,
                         std::uint32_t flags = LT_T_ASLEEP) {
    SnapshotBuilder builder;
    const auto trace = builder.add_trace({.id = 50, .user = {7, 8}});
    builder.add_task({.pid = 5,
                      .flags = flags,
                      .exec_id = exec_id,
                      .entries = {{.trace = trace, .exec_id = slept}}});
    return builder.snapshot();
}

inline const StackId kStack{{LT_KIND_TASK, 5, 5, 1000}, 1, 50};

inline Task sleeping_task(std::uint32_t pid) {
    Task task;
    task.pid = task.tgid = pid;
    task.start_ns = 5;
    task.exec_id = 1;
    task.sleeps = 3;
    return task;
}

}  // namespace lattop::test
