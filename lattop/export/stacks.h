// SPDX-License-Identifier: GPL-2.0-or-later
//
// Merged stacks in the formats of other tools. Called by `lattop export`. None
// of them is broken by any name: what a format cannot hold is replaced.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "lattop/model/merged_stacks.h"

namespace lattop {

/// Lines "command;outermost;...;innermost N", N nanoseconds blocked: what flame
/// graph tools take.
std::string export_folded(std::span<const MergedStack> stacks);

/// A profile for speedscope (https://www.speedscope.app/file-format-schema.json),
/// of the kind "sampled": a sample a stack, its weight the nanoseconds blocked.
std::string export_speedscope(std::span<const MergedStack> stacks, const std::string& title);

/// A profile for pprof (uncompressed profile.proto): sleeps and nanoseconds
/// blocked of each stack, the reason as a label.
std::string export_pprof(std::span<const MergedStack> stacks, std::uint64_t begin_realtime_ns,
                         std::uint64_t duration_ns);

/// RFC 4180, a line a stack: command, reason, blocked_ns, sleeps, max_ns,
/// tasks, stack (folded).
std::string export_csv(std::span<const MergedStack> stacks);

/// One HTML file that needs no other: width is blocked time, colour the reason;
/// a click zooms, and what is typed is searched.
std::string export_flamegraph(std::span<const MergedStack> stacks, const std::string& title);

/// A text as a CSV field, in quotes where it needs them, with "'" before what a
/// spreadsheet would take for a formula.
std::string csv_field(std::string text);

}  // namespace lattop
