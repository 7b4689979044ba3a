// SPDX-License-Identifier: GPL-2.0-or-later
//
// See proc_text.h.
#include "lattop/model/proc_text.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include "unwind/unique_fd.h"

namespace lattop {

ProcText read_proc_text(const std::string& path) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return {{}, errno};
    std::string text;
    std::array<char, 8192> bytes;
    while (text.size() < kMaxProcText) {
        const std::size_t most = std::min(bytes.size(), kMaxProcText - text.size());
        const ssize_t n = ::read(fd.get(), bytes.data(), most);
        if (n < 0) return {{}, errno};
        if (n == 0) break;
        text.append(bytes.data(), static_cast<std::size_t>(n));
    }
    return {std::move(text), 0};
}

std::string read_proc_line(const std::string& path) {
    std::string text = read_proc_text(path).text;
    text.resize(std::min(text.find('\n'), text.size()));
    return text;
}

std::optional<std::uint64_t> number_behind(std::string_view text, std::string_view name) {
    const std::size_t at = text.find(name);
    if (at == std::string_view::npos) return std::nullopt;
    text.remove_prefix(at + name.size());
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    std::uint64_t value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) return std::nullopt;
    return value;
}

}  // namespace lattop
