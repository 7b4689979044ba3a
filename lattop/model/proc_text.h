// SPDX-License-Identifier: GPL-2.0-or-later
//
// Short files of /proc, whole, and figures in them. Used by live_stack,
// wait_object and `lattop stack`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lattop {

struct ProcText {
    std::string text;
    int error = 0;  ///< errno where it could not be read
};

/// In bytes: what is behind them is not read. The status of a task that has all the 65,536 groups
/// there may be has 0.7 MB.
inline constexpr std::size_t kMaxProcText = std::size_t{1} << 20;

/// At most kMaxProcText.
ProcText read_proc_text(const std::string& path);

/// The same without what comes behind the first line: a comm. "" where it could not be read.
std::string read_proc_line(const std::string& path);

/// The decimal number behind the first `name` and blanks.
std::optional<std::uint64_t> number_behind(std::string_view text, std::string_view name);

}  // namespace lattop
