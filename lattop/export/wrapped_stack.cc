// SPDX-License-Identifier: GPL-2.0-or-later
//
// See wrapped_stack.h.
#include "lattop/export/wrapped_stack.h"

#include <algorithm>

namespace lattop {
namespace {

constexpr std::string_view kCallers = " < ";

}  // namespace

std::string wrapped_stack(std::string_view label, const std::vector<std::string>& frames,
                          Charset charset, std::size_t columns) {
    if (frames.empty()) return "";
    // "< " of a line that goes on stands before the frames above it
    const std::string indent(std::max<std::size_t>(label.size(), 2) - 2, ' ');
    std::string text;
    std::string line(label);
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const std::string frame = printable(frames[i], charset);
        const bool fits = line.size() + kCallers.size() + frame.size() <= columns;
        if (i == 0) {
            line += frame;
        } else if (fits) {
            line.append(kCallers).append(frame);
        } else {
            text += line + "\n";
            line = indent + "< " + frame;
        }
    }
    return text + line + "\n";
}

}  // namespace lattop
