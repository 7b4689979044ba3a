// SPDX-License-Identifier: GPL-2.0-or-later
//
// See woken_text.h:
//
//	        woken by  75.0%  3.00s      4 writer 12 in pipe_write
//	                  25.0%  1.00s      1 an interrupt in hrtimer_wakeup
#include "lattop/export/woken_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace lattop {
namespace {

std::string line(std::string_view label, const WakerSum& sum, const std::string& who) {
    return fmt::format("{:8}{:<9}{:>5}% {:>6} {:>6} {}\n", "", label, format_percent(sum.share),
                       format_duration(sum.blocked_ns), format_count(sum.sleeps), who);
}

}  // namespace

std::string woken_text(std::span<const WakerSum> sums,
                       const std::function<std::string(const WakerSum&)>& who, Charset charset) {
    const std::size_t shown = std::min(sums.size(), kWakersInText);
    std::string text;
    for (std::size_t i = 0; i < shown; ++i)
        text += line(i == 0 ? "woken by" : "", sums[i], printable(who(sums[i]), charset));
    WakerSum rest;
    for (const WakerSum& sum : sums.subspan(shown)) {
        rest.blocked_ns += sum.blocked_ns;
        rest.sleeps += sum.sleeps;
        rest.share += sum.share;
    }
    if (sums.size() > shown) text += line("", rest, fmt::format("{} more", sums.size() - shown));
    return text;
}

}  // namespace lattop
