// SPDX-License-Identifier: GPL-2.0-or-later
//
// `lattop -b`: a refresh as plain text, for pipes, files and less(1).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "lattop/model/format.h"
#include "lattop/model/longest_waits.h"
#include "lattop/model/rows.h"

namespace lattop {

struct TextOptions {
    RowOptions rows;
    std::uint32_t limit = 0;  ///< tasks at most, 0 for all
    Charset charset = Charset::Ascii;
    std::string_view since = "since load or reset";  ///< what a first interval is
    const LongestWaits* waits = nullptr;  ///< of a whole recording; nullptr: sleeps under way
};

/// The refresh that `context` holds: header lines, then for each task its
/// figures and the trace that cost it most, with who ended its sleeps. `clock` is the wall clock,
/// local; `own_cost` what lattop itself costs, "" for not to be said.
std::string refresh_text(const TableContext& context, const TextOptions& options,
                         const std::string& clock, const std::string& own_cost);

/// What a limit of the header counts; "limit_N" for limits of newer modules.
std::string limit_name(std::size_t limit);

/// One line for the limits: "tasks 143/8192 (1%), …, memory 12.3M".
std::string limits_text(const Header& header);

/// One line for the loss counters that are not 0: "task_limit 12, …"; "" when
/// nothing was lost.
std::string lost_text(const Header& header);

}  // namespace lattop
