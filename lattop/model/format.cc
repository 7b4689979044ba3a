// SPDX-License-Identifier: GPL-2.0-or-later
//
// See format.h. Figures are cut, not rounded: 999.9us stays below 1ms, and a
// figure that does not change does not flicker between two texts.
#include "lattop/model/format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <wchar.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lattop {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kMinute = 60 * kSecond;
constexpr std::uint64_t kHour = 60 * kMinute;
constexpr std::uint64_t kDay = 24 * kHour;
constexpr std::uint64_t kYear = 365 * kDay;

/// `n / unit` with three digits: "1.23", "12.3", "123".
std::string three_digits(std::uint64_t n, std::uint64_t unit, std::string_view suffix) {
    const std::uint64_t whole = n / unit;
    if (whole >= 100) return fmt::format("{}{}", whole, suffix);
    // In 128 bits: the largest units times 100 do not fit in 64.
    const auto fraction = [&](unsigned digits) {
        return static_cast<std::uint64_t>(static_cast<unsigned __int128>(n % unit) * digits / unit);
    };
    if (whole >= 10) return fmt::format("{}.{}{}", whole, fraction(10), suffix);
    return fmt::format("{}.{:02}{}", whole, fraction(100), suffix);
}

struct Range {
    char32_t first, last;
};

bool in(const auto& ranges, char32_t c) {
    return std::ranges::any_of(ranges, [c](Range r) { return r.first <= c && c <= r.last; });
}

/// Unicode 15: control, format, surrogate, private-use and combining blocks
/// that names have no use for and terminals draw badly or act on.
constexpr auto kUnprintable = std::to_array<Range>({
    {0x0000, 0x001f},    {0x007f, 0x009f}, {0x00ad, 0x00ad}, {0x0300, 0x036f},   {0x0483, 0x0489},
    {0x0591, 0x05bd},    {0x0600, 0x0605}, {0x061c, 0x061c}, {0x064b, 0x065f},   {0x0900, 0x0903},
    {0x0e31, 0x0e31},    {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e}, {0x1160, 0x11ff},   {0x180b, 0x180f},
    {0x1ab0, 0x1aff},    {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f},
    {0x20d0, 0x20ff},    {0x302a, 0x302d}, {0xd800, 0xf8ff}, {0xfe00, 0xfe0f},   {0xfe20, 0xfe2f},
    {0xfeff, 0xfeff},    {0xfff0, 0xfffb}, {0xfffe, 0xffff}, {0x1d165, 0x1d169}, {0x1f3fb, 0x1f3ff},
    {0xe0000, 0x10ffff},
});

/// East Asian wide and emoji blocks.
constexpr auto kWide = std::to_array<Range>({
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},
    {0x25fd, 0x25fe},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x26a1, 0x26a1},
    {0x26aa, 0x26ab},   {0x26bd, 0x26be},   {0x26c4, 0x26c5},   {0x26ce, 0x26ce},
    {0x26d4, 0x26d4},   {0x26ea, 0x26ea},   {0x26f2, 0x26f3},   {0x26f5, 0x26f5},
    {0x26fa, 0x26fa},   {0x26fd, 0x26fd},   {0x2705, 0x2705},   {0x270a, 0x270b},
    {0x2728, 0x2728},   {0x274c, 0x274c},   {0x274e, 0x274e},   {0x2753, 0x2755},
    {0x2757, 0x2757},   {0x2795, 0x2797},   {0x27b0, 0x27b0},   {0x27bf, 0x27bf},
    {0x2b1b, 0x2b1c},   {0x2b50, 0x2b50},   {0x2b55, 0x2b55},   {0x2e80, 0x303e},
    {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xa000, 0xa4cf},
    {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
    {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x16fe0, 0x18aff}, {0x1b000, 0x1b2ff},
    {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a},
    {0x1f200, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f7e0, 0x1f7f0}, {0x1f90c, 0x1f9ff},
    {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
});

/// Other scripts' signs that stand on a letter: the C library knows them where its locale is UTF-8,
/// as terminals that show them have it.
bool has_no_width(char32_t c) {
    constexpr char32_t kFirst = 0x0300;
    return c >= kFirst && ::wcwidth(static_cast<wchar_t>(c)) == 0;
}

/// Length of a UTF-8 sequence by its first byte; 0 where none begins so.
std::size_t sequence_bytes(unsigned char first) {
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first <= 0xdf) return 2;
    if (first >= 0xe0 && first <= 0xef) return 3;
    if (first >= 0xf0 && first <= 0xf4) return 4;
    return 0;
}

/// The character at `at`, stepping behind it; -1 (and one byte) if it is none.
char32_t decode_utf8(std::string_view bytes, std::size_t& at) {
    constexpr auto kInvalid = static_cast<char32_t>(-1);
    const auto first = static_cast<unsigned char>(bytes[at]);
    const std::size_t n = sequence_bytes(first);
    if (n == 1) {
        ++at;
        return first;
    }
    if (n == 0 || at + n > bytes.size()) {
        ++at;
        return kInvalid;
    }
    char32_t c = first & (0xffU >> (n + 1));
    for (std::size_t i = 1; i < n; ++i) {
        const auto next = static_cast<unsigned char>(bytes[at + i]);
        if ((next & 0xc0U) != 0x80) {
            ++at;
            return kInvalid;
        }
        c = (c << 6) | (next & 0x3fU);
    }
    constexpr std::array<char32_t, 5> kShortest = {0, 0, 0x80, 0x800, 0x10000};
    if (c < kShortest[n] || c > 0x10ffff) {
        ++at;
        return kInvalid;
    }
    at += n;
    return c;
}

}  // namespace

std::string format_duration(std::uint64_t ns) {
    if (ns == 0) return "0";
    if (ns < 1'000) return fmt::format("{}ns", ns);
    if (ns < 1'000'000) return three_digits(ns, 1'000, "us");
    if (ns < kSecond) return three_digits(ns, 1'000'000, "ms");
    if (ns < kMinute) return three_digits(ns, kSecond, "s");
    if (ns < kHour) return fmt::format("{}m{:02}s", ns / kMinute, ns % kMinute / kSecond);
    if (ns < kDay) return fmt::format("{}h{:02}m", ns / kHour, ns % kHour / kMinute);
    if (ns < 100 * kDay) return fmt::format("{}d{:02}h", ns / kDay, ns % kDay / kHour);
    if (ns < 1000 * kDay) return fmt::format("{}d", ns / kDay);
    return three_digits(ns, kYear, "y");
}

std::string format_count(std::uint64_t n) {
    if (n < 100'000) return fmt::format("{}", n);
    std::uint64_t unit = 1'000;
    for (const char* suffix : {"k", "M", "G", "T", "P"}) {
        if (n / unit < 1'000) return three_digits(n, unit, suffix);
        unit *= 1'000;
    }
    return three_digits(n, unit, "E");
}

std::string format_rate(double per_second) {
    if (!(per_second > 0)) return "0";
    if (per_second < 0.005) return "<0.01";
    // The second bound of each step is where its text would get longer.
    if (per_second < 9.995) return fmt::format("{:.2f}", per_second);
    if (per_second < 99.95) return fmt::format("{:.1f}", per_second);
    constexpr double kLargest = 1e18;
    return format_count(static_cast<std::uint64_t>(std::llround(std::min(per_second, kLargest))));
}

double share_of(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string format_percent(double fraction) {
    const double percent = std::clamp(fraction * 100, 0.0, 1e18);
    if (percent < 999.95) return fmt::format("{:.1f}", percent);
    return format_count(static_cast<std::uint64_t>(std::llround(percent)));
}

std::string format_bytes(std::uint64_t bytes) {
    if (bytes < 1024) return fmt::format("{}B", bytes);
    std::uint64_t unit = 1024;
    for (const char* suffix : {"K", "M", "G", "T", "P"}) {
        if (bytes / unit < 1024) return three_digits(bytes, unit, suffix);
        unit *= 1024;
    }
    return three_digits(bytes, unit, "E");
}

std::string with_commas(std::uint64_t n) {
    std::string digits = std::to_string(n);
    for (std::size_t i = digits.size(); i > 3; i -= 3)
        digits.insert(i - 3, ",");
    return digits;
}

char32_t next_printable(std::string_view bytes, std::size_t& at, Charset charset) {
    const char32_t c = decode_utf8(bytes, at);
    if (c >= 0x20 && c < 0x7f) return c;
    if (c == static_cast<char32_t>(-1) || in(kUnprintable, c) || has_no_width(c)) return U'?';
    if (charset == Charset::Ascii && c > 0x7e) return U'?';
    return c;
}

void append_utf8(std::string& to, char32_t c) {
    const auto put = [&to](char32_t byte) { to.push_back(static_cast<char>(byte)); };
    if (c < 0x80) {
        put(c);
    } else if (c < 0x800) {
        put(0xc0 | (c >> 6));
        put(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        put(0xe0 | (c >> 12));
        put(0x80 | ((c >> 6) & 0x3f));
        put(0x80 | (c & 0x3f));
    } else {
        put(0xf0 | (c >> 18));
        put(0x80 | ((c >> 12) & 0x3f));
        put(0x80 | ((c >> 6) & 0x3f));
        put(0x80 | (c & 0x3f));
    }
}

std::string printable(std::string_view bytes, Charset charset) {
    std::string result;
    result.reserve(bytes.size());
    for (std::size_t at = 0; at < bytes.size();)
        append_utf8(result, next_printable(bytes, at, charset));
    return result;
}

int columns_of(char32_t c) {
    return c >= kWide.front().first && in(kWide, c) ? 2 : 1;
}

std::string format_pids(std::span<const std::uint32_t> pids, std::size_t most) {
    return fmt::format("{}{}", fmt::join(pids.first(std::min(pids.size(), most)), ", "),
                       pids.size() > most ? ", ..." : "");
}

}  // namespace lattop
