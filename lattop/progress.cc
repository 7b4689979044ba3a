// SPDX-License-Identifier: GPL-2.0-or-later
//
// See progress.h.
#include "lattop/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "lattop/output.h"

namespace lattop {
namespace {

constexpr std::chrono::milliseconds kFirst{1000};
constexpr std::chrono::milliseconds kBetween{250};

}  // namespace

void show_on_terminal(std::string_view text) {
    if (::isatty(STDERR_FILENO) != 0) std::fputs(std::string(text).c_str(), stderr);
}

ProgressLine::ProgressLine(const std::string& what, const Clock& clock, Show show)
    : what_(printable(what, locale_charset())),
      clock_(clock),
      show_(std::move(show)),
      next_(clock.now() + kFirst) {}

ProgressLine::~ProgressLine() {
    if (shown_ != 0) show_("\r" + std::string(shown_, ' ') + "\r");
}

void ProgressLine::at(std::uint64_t done, std::uint64_t all) {
    if (all == 0 || clock_.now() < next_) return;
    next_ = clock_.now() + kBetween;
    const std::string line =
        fmt::format("lattop: {}: {}%; ^C ends it", what_,
                    static_cast<int>(100 * static_cast<double>(std::min(done, all)) /
                                     static_cast<double>(all)));
    shown_ = std::max(shown_, line.size());
    show_("\r" + line);
}

}  // namespace lattop
