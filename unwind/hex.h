// SPDX-License-Identifier: GPL-2.0-or-later
//
// Hexadecimal digits as mangled names have them: lower case. Used by the two
// Rust demanglers.
#pragma once

#include <algorithm>
#include <string_view>

namespace lattop {

inline bool is_hex(std::string_view text) {
    return std::ranges::all_of(
        text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace lattop
