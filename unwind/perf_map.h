// SPDX-License-Identifier: GPL-2.0-or-later
//
// Names of code that a JIT made, from the file it may leave for perf:
// /tmp/perf-PID.map, a line "START SIZE NAME" in hex for each function. Held by
// the symbolizer for each process that runs such code, which may write into it
// what it likes.
//
// Some JITs append to it as they make code; others write all of it anew when they are asked
// to, as HotSpot does (jcmd PID Compiler.perfmap).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "unwind/unique_fd.h"

namespace lattop {

/// Larger ones are read up to here.
inline constexpr std::size_t kMaxPerfMapBytes = std::size_t{64} << 20;

/// Lines that name a function; those behind so many are as if they were not there. Of 32 bytes
/// each they are as large as a map may be, and those of JITs are longer.
inline constexpr std::size_t kMaxPerfMapLines = std::size_t{1} << 21;

/// Longer names are cut: demangle() keeps no more of them.
inline constexpr std::size_t kMaxPerfMapName = 8192;

class PerfMap {
public:
    PerfMap() = default;
    /// `most`: lines that are taken.
    explicit PerfMap(std::size_t most) : most_(most) {}
    PerfMap(PerfMap&&) = default;
    PerfMap& operator=(PerfMap&&) = default;
    PerfMap(const PerfMap&) = delete;
    PerfMap& operator=(const PerfMap&) = delete;
    ~PerfMap() = default;

    struct Function {
        std::uint64_t start = 0;
        std::uint64_t end = 0;  ///< first address behind it
        std::string_view name;  ///< valid until the next read()
    };

    /// Takes over the file as it is now. What was read before is not read again where it still
    /// begins and ends as it did; else the file is a new one.
    void read(const UniqueFd& fd);

    /// The function at `address`, the one written last of those that cover it among the 16 that
    /// begin last before it; nothing where there is none.
    [[nodiscard]] std::optional<Function> find(std::uint64_t address) const;

    /// What it takes.
    [[nodiscard]] std::size_t bytes() const {
        return text_.capacity() + lines_.capacity() * sizeof(Line);
    }

private:
    struct Line {
        std::uint64_t start = 0;
        std::uint64_t end = 0;
        std::uint32_t name = 0;  // its place in text_, which orders lines
        std::uint32_t name_bytes = 0;
    };
    static_assert(kMaxPerfMapBytes <= UINT32_MAX);
    static bool before(const Line& one, const Line& other);
    [[nodiscard]] bool still_in(const UniqueFd& fd) const;
    void parse();
    void sort_in(std::size_t known);

    std::vector<char> text_;   // a vector: moving it keeps its bytes where they are
    std::vector<Line> lines_;  // by start, one at each
    std::size_t parsed_ = 0;   // bytes of text_
    std::size_t taken_ = 0;    // lines of it that name a function
    std::size_t most_ = kMaxPerfMapLines;
};

}  // namespace lattop
