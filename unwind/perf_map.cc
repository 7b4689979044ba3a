// SPDX-License-Identifier: GPL-2.0-or-later
//
// See perf_map.h.
#include "unwind/perf_map.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <tuple>

#include "unwind/pread_all.h"

namespace lattop {
namespace {

/// At the beginning and the end of what is known that are compared with the file.
constexpr std::size_t kCompared = 4096;

/// Lines that find() looks at for one address. Those of code that is gone stay where what a JIT
/// puts in its place does not cover them.
constexpr int kMaxOverlap = 16;

/// A hex number and the blank behind it; false where there is none.
bool take_hex(std::string_view& line, std::uint64_t& value) {
    if (line.starts_with("0x")) line.remove_prefix(2);
    const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
    if (error != std::errc{}) return false;
    line.remove_prefix(static_cast<std::size_t>(stop - line.data()));
    if (!line.starts_with(' ')) return false;
    line.remove_prefix(1);
    return true;
}

}  // namespace

bool PerfMap::before(const Line& one, const Line& other) {
    return std::tie(one.start, one.name) < std::tie(other.start, other.name);
}

bool PerfMap::still_in(const UniqueFd& fd) const {
    std::array<char, kCompared> there;
    const std::size_t bytes = std::min(text_.size(), kCompared);
    for (const std::size_t at : {std::size_t{0}, text_.size() - bytes}) {
        if (pread_all(fd, std::as_writable_bytes(std::span(there).first(bytes)), at) != bytes)
            return false;
        if (!std::equal(there.begin(), there.begin() + bytes, text_.data() + at)) return false;
    }
    return true;
}

void PerfMap::read(const UniqueFd& fd) {
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0) return;
    const auto size = std::min(static_cast<std::size_t>(info.st_size), kMaxPerfMapBytes);
    if (size < text_.size() || !still_in(fd)) *this = PerfMap(most_);
    const std::size_t known = text_.size();
    if (size == known) return;
    // As a vector grows, but not beyond what may be read
    if (size > text_.capacity())
        text_.reserve(std::min(std::max(size, 2 * text_.capacity()), kMaxPerfMapBytes));
    text_.resize(size);
    text_.resize(known +
                 pread_all(fd, std::as_writable_bytes(std::span(text_).subspan(known)), known));
    parse();
}

void PerfMap::parse() {
    const std::size_t known = lines_.size();
    std::string_view rest(text_.data(), text_.size());
    rest.remove_prefix(parsed_);
    // A line without an end is still being written.
    for (std::size_t end = 0;
         taken_ < most_ && (end = rest.find('\n')) != std::string_view::npos;) {
        std::string_view line = rest.substr(0, end);
        rest.remove_prefix(end + 1);
        Line function;
        std::uint64_t bytes = 0;
        if (!take_hex(line, function.start) || !take_hex(line, bytes) || line.empty()) continue;
        if (bytes == 0 || bytes > UINT64_MAX - function.start) continue;
        function.end = function.start + bytes;
        function.name = static_cast<std::uint32_t>(line.data() - text_.data());
        function.name_bytes = static_cast<std::uint32_t>(std::min(line.size(), kMaxPerfMapName));
        lines_.push_back(function);
        ++taken_;
    }
    parsed_ = text_.size() - rest.size();
    if (lines_.size() != known) sort_in(known);
}

/// Those behind the first `known`, which are sorted.
void PerfMap::sort_in(std::size_t known) {
    const auto added = lines_.begin() + static_cast<std::ptrdiff_t>(known);
    std::sort(added, lines_.end(), before);
    std::inplace_merge(lines_.begin(), added, lines_.end(), before);
    // Code is thrown away and its place used again: the last line is right.
    std::size_t kept = 0;
    for (const Line& line : lines_) {
        const bool again = kept != 0 && lines_[kept - 1].start == line.start;
        lines_[again ? kept - 1 : kept++] = line;
    }
    lines_.resize(kept);
}

std::optional<PerfMap::Function> PerfMap::find(std::uint64_t address) const {
    auto at = std::ranges::upper_bound(lines_, address, {}, &Line::start);
    const Line* last = nullptr;
    for (int i = 0; i < kMaxOverlap && at != lines_.begin(); ++i) {
        const Line& line = *--at;
        if (address < line.end && (last == nullptr || line.name > last->name)) last = &line;
    }
    if (last == nullptr) return std::nullopt;
    return Function{last->start, last->end, {text_.data() + last->name, last->name_bytes}};
}

}  // namespace lattop
