// SPDX-License-Identifier: GPL-2.0-or-later
//
// How long a command puts up with reads that fail in passing: each costs a
// refresh, so many in a row end it. Used by the live screen, -b, record and run.
#pragma once

#include <string>

#include "lattop/source/error.h"

namespace lattop {

class PassingErrors {
public:
    static constexpr unsigned kMost = 10;

    /// A refresh failed; whether that is the first in a row. Throws Error at the
    /// last one.
    bool add(const PassingError& error) {
        if (++in_a_row_ == kMost)
            throw Error(
                std::string(error.what()) + ", " + std::to_string(kMost) + " times in a row",
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
    unsigned in_a_row_ = 0;
};

/// For commands without a screen: said once.
inline std::string passing_error_text(const PassingError& error) {
    return std::string(error.what()) + ": tried again at each refresh";
}

}  // namespace lattop
