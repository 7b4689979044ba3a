// SPDX-License-Identifier: GPL-2.0-or-later
//
// See perf_map.h.
#include "unwind/perf_map.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

namespace lattop {
namespace {

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

void PerfMap::read(const UniqueFd& fd) {
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0) return;
    const auto size = std::min(static_cast<std::size_t>(info.st_size), kMaxPerfMapBytes);
    if (size == text_.size()) return;
    if (size < text_.size()) text_.clear();
    std::size_t at = text_.size();
    text_.resize(size);
    while (at < size) {
        const ssize_t n = ::pread(fd.get(), text_.data() + at, size - at, static_cast<off_t>(at));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        at += static_cast<std::size_t>(n);
    }
    text_.resize(at);
    parse();
}

void PerfMap::parse() {
    functions_.clear();
    std::string_view rest(text_.data(), text_.size());
    // A line without an end is still being written.
    for (std::size_t end = 0; (end = rest.find('\n')) != std::string_view::npos;) {
        std::string_view line = rest.substr(0, end);
        rest.remove_prefix(end + 1);
        Function function;
        std::uint64_t bytes = 0;
        if (!take_hex(line, function.start) || !take_hex(line, bytes) || line.empty()) continue;
        if (bytes == 0 || bytes > UINT64_MAX - function.start) continue;
        function.end = function.start + bytes;
        function.name = line;
        functions_.push_back(function);
    }
    // Code is thrown away and its place used again: the last line is right.
    std::ranges::stable_sort(functions_, {}, &Function::start);
    std::size_t kept = 0;
    for (const Function& function : functions_) {
        const bool again = kept != 0 && functions_[kept - 1].start == function.start;
        functions_[again ? kept - 1 : kept++] = function;
    }
    functions_.resize(kept);
}

const PerfMap::Function* PerfMap::find(std::uint64_t address) const {
    const auto behind = std::ranges::upper_bound(functions_, address, {}, &Function::start);
    if (behind == functions_.begin()) return nullptr;
    const Function& function = *std::prev(behind);
    return address < function.end ? &function : nullptr;
}

}  // namespace lattop
