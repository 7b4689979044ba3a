// SPDX-License-Identifier: GPL-2.0-or-later
//
// Names for a command that waits for all of them: at its end, as it must not while it
// samples, and that somebody may want to end then (symbols of a large program take seconds);
// or with each refresh, as batch. Another namer works on threads of its own; wait() waits for
// all but what is silent there, and asks whether to go on waiting. What was not found by then
// goes on being looked for, and is there for a later take(). Who asked bounds what he keeps of
// names, so that they are not all gathered here first.
// LiveWorld has one, and batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lattop/model/namer.h"

namespace lattop {

/// Whether to wait no more for the names of so many stacks.
using StopNaming = std::function<bool(std::size_t missing)>;

class StoppableNamer final : public Namer {
public:
    /// `stop` is asked before each wait, twenty times a second at least.
    StoppableNamer(std::unique_ptr<Namer> worker, StopNaming stop)
        : worker_(std::move(worker)), stop_(std::move(stop)) {}

    void submit(std::vector<NameRequest> requests) override;
    std::vector<NameAnswer> take() override;
    bool wait() override;
    [[nodiscard]] int ready_fd() const override { return -1; }
    [[nodiscard]] std::vector<std::uint32_t> silent() const override { return worker_->silent(); }
    [[nodiscard]] std::vector<std::uint32_t> put_off() const override { return worker_->put_off(); }
    [[nodiscard]] std::string progress() const override { return worker_->progress(); }

private:
    void collect();

    std::unique_ptr<Namer> worker_;
    StopNaming stop_;
    std::size_t missing_ = 0;  ///< requests without an answer
    std::vector<NameAnswer> answers_;
    std::size_t bytes_ = 0;  ///< of what they name
};

}  // namespace lattop
