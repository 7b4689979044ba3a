// SPDX-License-Identifier: GPL-2.0-or-later
//
// See read_snapshot.h.
#include "lattop/source/read_snapshot.h"

#include <fmt/format.h>

#include <algorithm>

#include "lattop/source/decoder.h"
#include "lattop/source/error.h"
#include "lattop/source/read_at.h"

namespace lattop {
namespace {

/// Room for about a thousand tasks with their worst trace.
constexpr std::size_t kFirstBuffer = std::size_t{1} << 20;

/// Reads until `have` reaches `want` or the file ends.
void fill(int fd, std::vector<std::byte>& buffer, std::size_t& have, std::size_t want,
          const std::string& path) {
    while (have < want) {
        const std::size_t n = read_at(fd, have, std::span(buffer).subspan(have), path);
        if (n == 0) return;
        have += n;
    }
}

}  // namespace

std::span<const std::byte> read_snapshot(int fd, std::uint64_t max_bytes, const std::string& path,
                                         std::vector<std::byte>& buffer) {
    if (buffer.empty()) buffer.resize(kFirstBuffer);
    std::size_t have = 0;
    fill(fd, buffer, have, kHeaderBytes, path);
    if (have == 0) return {};

    const std::uint64_t total = total_bytes(std::span(buffer).first(have));
    if (total > max_bytes)
        throw FormatError(
            fmt::format("it says it has {} bytes, {} at most are possible", total, max_bytes));
    // A quarter more, so that a slowly growing system does not grow it each time.
    if (total > buffer.size()) buffer.resize(total + total / 4);
    fill(fd, buffer, have, total, path);
    return std::span<const std::byte>(buffer).first(std::min<std::size_t>(have, total));
}

}  // namespace lattop
