// SPDX-License-Identifier: GPL-2.0-or-later
//
// The lines above the table: when, since when, how many, how fast, what was
// lost, which views there are. Part of the live screen.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "lattop/model/rows.h"
#include "lattop/view/canvas.h"
#include "lattop/view/table_view.h"

namespace lattop {

struct HeaderState {
    std::string clock;  ///< local wall clock
    std::chrono::milliseconds delay{};
    bool paused = false;
    std::size_t rows_shown = 0;
    RowOptions options;
    std::string cost;  ///< what lattop itself costs; "" for nothing to say
};

/// Lines it takes: four, one more for lattop's own cost, two in all on low
/// terminals; and one more for losses.
int header_height(const Model& model, const HeaderState& state, int canvas_height);

void draw_header(Canvas& canvas, const Model& model, const HeaderState& state);

/// Whether its last line names the views; not where there is little room.
bool header_has_tabs(int canvas_height);

/// The view whose name is at column `x` of the header's last line.
std::optional<View> tab_at(int x);

}  // namespace lattop
