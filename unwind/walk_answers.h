// SPDX-License-Identifier: GPL-2.0-or-later
//
// The side of a walk that has the process, while another process walks: answers what that one asks,
// and takes its word for nothing but the frames. Used by remote_unwind.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "unwind/walk_messages.h"

namespace lattop {

class WalkAnswers {
public:
    /// For one walk.
    explicit WalkAnswers(WalkedProcess& process) : process_(process) {}

    /// What to answer. Nothing where `message` is the walk, or is none, or one question too many:
    /// then there is nothing more to say.
    std::optional<std::vector<std::uint8_t>> answer(std::span<const std::uint8_t> message);

    /// Nothing where the other side has not told it.
    [[nodiscard]] const std::optional<StackWalk>& walk() const { return walk_; }

private:
    WalkedProcess& process_;
    std::size_t questions_ = 0;
    std::optional<StackWalk> walk_;
};

}  // namespace lattop
