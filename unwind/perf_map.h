// SPDX-License-Identifier: GPL-2.0-or-later
//
// Names of code that a JIT made, from the file it may leave for perf:
// /tmp/perf-PID.map, a line "START SIZE NAME" in hex for each function. Held by
// the symbolizer for each process that runs such code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "unwind/unique_fd.h"

namespace lattop {

/// Larger ones are read up to here.
inline constexpr std::size_t kMaxPerfMapBytes = std::size_t{64} << 20;

class PerfMap {
public:
    PerfMap() = default;
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

    /// Takes over the file as it is now. JITs append: what was read before is
    /// not read again. A shorter file is a new one.
    void read(const UniqueFd& fd);

    /// The function at `address`, the one written last where several are;
    /// nullptr for none.
    [[nodiscard]] const Function* find(std::uint64_t address) const;

    [[nodiscard]] std::size_t bytes() const {
        return text_.capacity() + functions_.capacity() * sizeof(Function);
    }

private:
    void parse();

    std::vector<char> text_;           // a vector: moving it keeps its bytes where they are
    std::vector<Function> functions_;  // by start, one at each
};

}  // namespace lattop
