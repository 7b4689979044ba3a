// SPDX-License-Identifier: GPL-2.0-or-later
//
// A line that says how far long work is. Used by commands while they read recordings.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "lattop/clock.h"

namespace lattop {

/// To standard error, where that is a terminal.
void show_on_terminal(std::string_view text);

/// Appears when the work has taken a second, is replaced four times a second, and is
/// taken away at its end.
class ProgressLine {
public:
    using Show = std::function<void(std::string_view)>;

    /// `what`: "reading night.rec". `clock` outlives it.
    ProgressLine(const std::string& what, const Clock& clock, Show show = show_on_terminal);
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    ~ProgressLine();

    void at(std::uint64_t done, std::uint64_t all);

private:
    std::string what_;
    const Clock& clock_;
    Show show_;
    Clock::Time next_;
    std::size_t shown_ = 0;  ///< bytes of the line that is there
};

}  // namespace lattop
