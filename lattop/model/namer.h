// SPDX-License-Identifier: GPL-2.0-or-later
//
// Who looks up the names of a stack, on threads of its own (worker_namer.h); some wait for
// them (stoppable_namer.h). StackNames asks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lattop/model/user_stacks.h"
#include "unwind/debug_fetch.h"
#include "unwind/symbolizer.h"

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
    /// Nobody looked: its process is silent() or put_off(). To be asked again
    bool not_now = false;
};

class Namer {
public:
    Namer() = default;
    Namer(const Namer&) = delete;
    Namer& operator=(const Namer&) = delete;
    virtual ~Namer() = default;

    /// Each request is answered once, but one of each silent() process. One for a live stack
    /// or a command line is answered before all others that wait: somebody looks at it, and it
    /// takes no symbols.
    virtual void submit(std::vector<NameRequest> requests) = 0;

    /// The answers since the last call.
    virtual std::vector<NameAnswer> take() = 0;

    /// Waits for the answers to all requests but those that silent() processes keep, or for as
    /// long as somebody says. Nobody waits for those of who shows names when they come. True where
    /// it waited for a part of them, so that this is taken before there is too much of it: then
    /// it is to be called again.
    virtual bool wait() { return false; }

    /// Readable when take() has something; -1 where wait() is for that.
    [[nodiscard]] virtual int ready_fd() const = 0;

    /// Processes, by tgid, that keep who looks at them waiting, as memory or files do whose file
    /// system does not answer: one request of each may never be answered.
    [[nodiscard]] virtual std::vector<std::uint32_t> silent() const { return {}; }

    /// Processes, by tgid, that nobody looks at for a while, as they or others of their user were
    /// slow: asked for before that, they are answered at once.
    [[nodiscard]] virtual std::vector<std::uint32_t> put_off() const { return {}; }

    /// What is being fetched for names, or could not be, who is silent and who put off; "" for
    /// nothing.
    [[nodiscard]] virtual std::string progress() const { return ""; }
};

}  // namespace lattop
