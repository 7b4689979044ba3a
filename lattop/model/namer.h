// SPDX-License-Identifier: GPL-2.0-or-later
//
// Who looks up the names of a stack: at once (batch), or on a thread of its own
// (the live screen, which must not wait for slow files). StackNames asks.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lattop/model/user_stacks.h"
#include "unwind/debug_fetch.h"
#include "unwind/symbolizer.h"
#include "unwind/unique_fd.h"

namespace lattop {

struct NameRequest {
    StackId id;
    TaskRef task;  ///< a live task in the address space of the stack
    std::vector<std::uint64_t> addresses;
    std::uint64_t round = 0;
    bool live = false;          ///< where `task` stands now, instead of `addresses`
    std::uint64_t sleeps = 0;   ///< with `live`: those of the task, which tell which it is in
    bool command_line = false;  ///< the one of `task` instead of names
};

struct NameAnswer {
    StackId id{};
    Naming naming{};
    std::optional<LiveNames> live{};            ///< to a request for that
    std::optional<std::string> command_line{};  ///< the same
};

class Namer {
public:
    Namer() = default;
    Namer(const Namer&) = delete;
    Namer& operator=(const Namer&) = delete;
    virtual ~Namer() = default;

    /// A request for a live stack or a command line is answered before all others that
    /// wait: somebody looks at it, and it takes no symbols.
    virtual void submit(std::vector<NameRequest> requests) = 0;

    /// The answers since the last call.
    virtual std::vector<NameAnswer> take() = 0;

    /// Waits for the answers to all requests, or for as long as somebody says. Nothing to
    /// wait for where take() has them after submit().
    virtual void wait() {}

    /// Readable when take() has something; -1 where it has it after submit().
    [[nodiscard]] virtual int ready_fd() const = 0;

    /// What is being fetched for names, or could not be; "" for nothing.
    [[nodiscard]] virtual std::string progress() const { return ""; }
};

class NameFinder;

/// Answers while submit() runs.
class InlineNamer final : public Namer {
public:
    explicit InlineNamer(std::shared_ptr<DebugFetch> fetch = nullptr);
    ~InlineNamer() override;
    void submit(std::vector<NameRequest> requests) override;
    std::vector<NameAnswer> take() override;
    [[nodiscard]] int ready_fd() const override { return -1; }

private:
    std::unique_ptr<NameFinder> finder_;
    std::vector<NameAnswer> answers_;
};

/// Answers from its own thread. Its destructor does not wait for a file system
/// that hangs: the thread is left behind then, with what it works on.
class WorkerNamer final : public Namer {
public:
    /// Throws std::system_error where there can be no thread or descriptor.
    explicit WorkerNamer(std::shared_ptr<DebugFetch> fetch = nullptr);
    ~WorkerNamer() override;

    void submit(std::vector<NameRequest> requests) override;
    std::vector<NameAnswer> take() override;
    [[nodiscard]] int ready_fd() const override;
    [[nodiscard]] std::string progress() const override {
        return fetch_ == nullptr ? "" : fetch_->progress();
    }

private:
    /// Shared with the thread. `lock` guards all but the descriptor.
    struct Shared {
        std::mutex lock;
        std::condition_variable changed;
        std::deque<NameRequest> requests;
        std::vector<NameAnswer> answers;
        bool stop = false;
        bool stopped = false;
        UniqueFd ready;  // eventfd
    };

    static void work(const std::shared_ptr<Shared>& shared,
                     const std::shared_ptr<DebugFetch>& fetch);

    std::shared_ptr<DebugFetch> fetch_;
    std::shared_ptr<Shared> shared_;
    std::thread thread_;
};

}  // namespace lattop
