// SPDX-License-Identifier: GPL-2.0-or-later
//
// A fuzzer's bytes as what the code under test takes: texts, and files.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/require.h"
#include "unwind/unique_fd.h"

namespace lattop::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

/// Takes the text up to the first `end` off the front of `rest`, and `end` with it.
inline std::string_view take_until(std::string_view& rest, char end) {
    const std::string_view taken = rest.substr(0, rest.find(end));
    rest.remove_prefix(taken.size() < rest.size() ? taken.size() + 1 : taken.size());
    return taken;
}

/// The first N parts between lines of "%%"; "" for those that are not there. Seeds
/// are so files that people can read.
template <std::size_t N>
std::array<std::string_view, N> parts_of(std::string_view text) {
    constexpr std::string_view kBetween = "%%\n";
    std::array<std::string_view, N> parts{};
    for (std::string_view& part : parts) {
        const std::size_t at = text.find(kBetween);
        part = text.substr(0, at);
        text.remove_prefix(at == text.npos ? text.size() : at + kBetween.size());
    }
    return parts;
}

/// Makes `text` what is in a file of `before` bytes. Not cut first: a page costs more than it.
inline void write_over(int fd, std::string_view text, std::size_t before) {
    REQUIRE(::pwrite(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
    if (text.size() < before) REQUIRE(::ftruncate(fd, static_cast<off_t>(text.size())) == 0);
}

/// A file in memory.
class MemoryFile {
public:
    MemoryFile() : fd_(::memfd_create("fuzz", MFD_CLOEXEC)) { REQUIRE(fd_); }

    void write(std::string_view text) {
        write_over(fd_.get(), text, size_);
        size_ = text.size();
    }
    [[nodiscard]] const UniqueFd& fd() const { return fd_; }
    [[nodiscard]] UniqueFd another_fd() const { return UniqueFd(::dup(fd_.get())); }

private:
    UniqueFd fd_;
    std::size_t size_ = 0;
};

}  // namespace lattop::fuzz
