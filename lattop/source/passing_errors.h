// SPDX-License-Identifier: GPL-2.0-or-later
//
// How long a command puts up with reads that fail in passing: each costs a
// refresh, so many in a row end it. Used by the live screen, -b, and verbs by Taker.
#pragma once

#include <chrono>
#include <string>

#include "lattop/clock.h"
#include "lattop/source/error.h"

namespace lattop {

class PassingErrors {
public:
    static constexpr unsigned kMost = 10;
    static constexpr std::chrono::seconds kPatience{5};

    /// Refreshes may be so close together that a cause has no time to pass: they
    /// end nothing within `patience`.
    explicit PassingErrors(std::chrono::milliseconds patience = kPatience) : patience_(patience) {}

    /// A refresh failed; whether that is the first in a row. Throws Error at the
    /// last one.
    bool add(const PassingError& error, Clock::Time now) {
        if (in_a_row_ == 0) first_ = now;
        if (++in_a_row_ >= kMost && now - first_ >= patience_)
            throw Error(
                std::string(error.what()) + ", " + std::to_string(in_a_row_) + " times in a row",
                error.hint(), error.code());
        return in_a_row_ == 1;
    }

    /// One succeeded; whether the one before had not.
    bool none() {
        const bool ended = in_a_row_ != 0;
        in_a_row_ = 0;
        return ended;
    }

private:
    std::chrono::milliseconds patience_;
    unsigned in_a_row_ = 0;
    Clock::Time first_{};
};

/// How long to wait where there is no next refresh to try again at.
inline constexpr std::chrono::milliseconds kTryAgainAfter{100};

/// For commands without a screen: said once.
inline std::string passing_error_text(const PassingError& error) {
    return std::string(error.what()) + ": tried again";
}

}  // namespace lattop
