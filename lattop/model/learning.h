// SPDX-License-Identifier: GPL-2.0-or-later
//
// The seam between the commands and whoever teaches the module to walk user
// stacks meanwhile: they show that it is done, what it costs, or why not.
#pragma once

#include <cstdint>
#include <string>

namespace lattop {

/// Sums since lattop began.
struct LearningState {
    enum class Kind {
        None,     ///< not of interest: recordings, a single report
        Off,      ///< as asked by --no-learn
        Refused,  ///< it cannot be had; `why`
        Runs,
        Waits,   ///< for the module, which was unloaded
        Failed,  ///< it ran and no longer does; `why`
    };
    Kind kind = Kind::None;
    std::string why{};
    std::uint64_t misses = 0;  ///< taken from the module
    std::uint64_t rows = 0;    ///< taught to it
    std::uint64_t cpu_ns = 0;  ///< spent on that
};

class Learning {
public:
    Learning() = default;
    Learning(const Learning&) = delete;
    Learning& operator=(const Learning&) = delete;
    virtual ~Learning() = default;

    /// Never waits.
    [[nodiscard]] virtual LearningState state() const = 0;
};

/// Nobody does.
class NoLearning final : public Learning {
public:
    explicit NoLearning(LearningState::Kind kind = LearningState::Kind::None,
                        std::string why = {}) {
        state_.kind = kind;
        state_.why = std::move(why);
    }
    [[nodiscard]] LearningState state() const override { return state_; }

private:
    LearningState state_;
};

}  // namespace lattop
