// SPDX-License-Identifier: GPL-2.0-or-later
//
// Figures as people read them, in few columns, and names that are safe to
// print. Used by every view and by the batch text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lattop {

/// At most 6 columns, truncated: "0", "789ns", "45.6us", "1.23s", "4m05s",
/// "3h59m", "12d03h", "584y".
std::string format_duration(std::uint64_t ns);

/// At most 5 columns, truncated: "12345", "123k", "1.23M", "18.4E".
std::string format_count(std::uint64_t n);

/// A rate in at most 5 columns: "0", "0.25", "12.3", "123", "12.3k".
std::string format_rate(double per_second);

/// What part of `whole` it is, 0 of nothing.
double share_of(std::uint64_t part, std::uint64_t whole);

/// A share in at most 5 columns, without the sign: "0.0", "99.9", "100.0",
/// "1234". `fraction` 1 is 100%.
std::string format_percent(double fraction);

/// Bytes in at most 6 columns: "512B", "1.50M".
std::string format_bytes(std::uint64_t bytes);

/// "1200, 1300, ...": the first `most` of them.
std::string format_pids(std::span<const std::uint32_t> pids, std::size_t most);

/// "1,234,567"
std::string with_commas(std::uint64_t n);

enum class Charset { Ascii, Utf8 };

/// `bytes` with everything that a terminal could take for more than a letter
/// replaced by '?': control characters, escapes, invalid UTF-8, characters
/// that change direction or have no width; in ASCII, everything else too.
std::string printable(std::string_view bytes, Charset charset);

/// Decodes one character of `bytes` from `at` and steps behind it. What is not
/// UTF-8, or is not printable as printable() means it, is U'?'.
char32_t next_printable(std::string_view bytes, std::size_t& at, Charset charset);

/// UTF-8 of one character.
void append_utf8(std::string& to, char32_t c);

/// Columns a printable character takes on a terminal: 1, or 2 for wide ones.
int columns_of(char32_t c);

}  // namespace lattop
