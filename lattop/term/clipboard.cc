// SPDX-License-Identifier: GPL-2.0-or-later
//
// See clipboard.h.
#include "lattop/term/clipboard.h"

#include <algorithm>
#include <cstddef>

namespace lattop {
namespace {

/// RFC 4648, section 4.
std::string base64(std::string_view bytes) {
    static constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::size_t n = std::min<std::size_t>(bytes.size() - at, 3);
        unsigned group = 0;
        for (std::size_t i = 0; i < 3; ++i)
            group = group << 8U | (i < n ? static_cast<unsigned char>(bytes[at + i]) : 0U);
        for (std::size_t i = 0; i < 4; ++i)
            text += i <= n ? kDigits[group >> (18 - 6 * i) & 0x3fU] : '=';
    }
    return text;
}

}  // namespace

std::string clipboard_sequence(std::string_view text) {
    return "\033]52;c;" + base64(text) + "\a";
}

}  // namespace lattop
