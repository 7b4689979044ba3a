// SPDX-License-Identifier: GPL-2.0-or-later
//
// See header_view.h.
#include "lattop/view/header_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "lattop/export/text.h"
#include "lattop/version.h"

namespace lattop {
namespace {

/// Below this many rows the third line is left out.
constexpr int kLowCanvas = 16;

/// Sums over the tasks of the last interval.
struct Totals {
    std::size_t asleep = 0;
    TaskDelta delta;
};

Totals totals_of(const Model& model) {
    Totals totals;
    for (const Task& task : model.snapshot().tasks) {
        if (task.asleep()) ++totals.asleep;
        if (const auto& delta = model.delta(task)) {
            totals.delta.sleeps += delta->sleeps;
            totals.delta.runq_ns += delta->runq_ns;
        }
    }
    return totals;
}

/// "tracepoint" of "tracepoint: sched_switch sched_wakeup".
std::string hook_mode(const Header& header) {
    return header.hook.substr(0, header.hook.find(':'));
}

std::string first_line(const Model& model, const HeaderState& state) {
    const Header& header = model.snapshot().header;
    return fmt::format(
        "lattop {} - {}, {} since load or reset, hook {}, every {}", kVersion, state.clock,
        format_duration(header.time_ns - header.since_ns), hook_mode(header),
        format_duration(static_cast<std::uint64_t>(std::chrono::nanoseconds(state.delay).count())));
}

std::string second_line(const Model& model, const HeaderState& state) {
    const Snapshot& snapshot = model.snapshot();
    const Totals totals = totals_of(model);
    const bool tasks = state.options.view == View::Tasks;
    std::string text = fmt::format("{}: {} {} {} {}", view_info(state.options.view).name,
                                   state.rows_shown, tasks ? "of" : "shown, of",
                                   snapshot.header.tasks_matched, tasks ? "shown" : "tasks");
    std::size_t first = snapshot.tasks.size();
    if (tasks && state.options.limit != 0 && state.rows_shown >= state.options.limit)
        first = std::min<std::size_t>(first, state.options.limit);
    if (first < snapshot.header.tasks_matched)
        text += fmt::format(" (first {}: see --limit)", first);
    text += fmt::format(
        ", {} asleep; {} sleeps/s; run queue {}/s", totals.asleep,
        format_rate(model.per_second(totals.delta.sleeps)),
        format_duration(static_cast<std::uint64_t>(model.per_second(totals.delta.runq_ns))));
    return text;
}

std::string third_line(const Model& model, const HeaderState& state) {
    const RowOptions& options = state.options;
    std::string text = fmt::format("Sorted by {}{}", column_info(options.sort).title,
                                   options.invert ? " inverted" : "");
    if (options.interval)
        text += fmt::format(", of the last {} alone", format_duration(model.interval_ns()));
    if (options.hide_kernel_threads) text += ", no kernel threads";
    if (options.hide_exited) text += ", no exited";
    if (options.only_active) text += ", only active";
    if (options.waits.hide_idle) text += ", no waits for work";
    if (options.only_tagged) text += fmt::format(", only the {} tagged", options.tagged.size());
    if (!options.waits.filter.empty()) text += ", filter " + options.waits.filter;
    const Header& header = model.snapshot().header;
    if (header.filter != "none") text += "; accounted: only " + header.filter;
    const auto used = [&](lt_limit limit) {
        return header.limit[limit] == 0
                   ? 0
                   : std::uint64_t{header.used[limit]} * 100 / header.limit[limit];
    };
    return text + fmt::format("; used: tasks {}%, traces {}%, entries {}%, memory {}",
                              used(LT_LIMIT_TASKS), used(LT_LIMIT_TRACES), used(LT_LIMIT_ENTRIES),
                              format_bytes(header.memory_bytes));
}

std::string tab_key(const ViewInfo& info) {
    return fmt::format("{}", static_cast<int>(info.id) + 1);
}

/// "1Tasks 2Processes …", as htop shows its screens.
void draw_tabs(Canvas& canvas, int y, View view) {
    int x = 0;
    for (const ViewInfo& info : views()) {
        const bool shown = info.id == view;
        x = canvas.put(x, y, tab_key(info), shown ? Style::Selected : Style::KeyName);
        x = canvas.put(x, y, info.name, shown ? Style::Selected : Style::KeyLabel) + 1;
    }
}

}  // namespace

bool header_has_tabs(int canvas_height) {
    return canvas_height >= kLowCanvas;
}

std::optional<View> tab_at(int x) {
    int left = 0;
    for (const ViewInfo& info : views()) {
        const int right = left + static_cast<int>(tab_key(info).size() + info.name.size());
        if (x >= left && x < right) return info.id;
        left = right + 1;
    }
    return std::nullopt;
}

int header_height(const Model& model, const HeaderState& state, int canvas_height) {
    const int lines = canvas_height < kLowCanvas ? 2 : state.cost.empty() ? 4 : 5;
    return lines + (lost_text(model.snapshot().header).empty() ? 0 : 1);
}

void draw_header(Canvas& canvas, const Model& model, const HeaderState& state) {
    int y = 0;
    canvas.put(0, y, first_line(model, state), Style::Normal);
    if (state.paused) {
        static constexpr std::string_view kPaused = " PAUSED";
        const int width = static_cast<int>(kPaused.size());
        canvas.put(std::max(canvas.width() - width, 0), y, kPaused, Style::Alarm);
    }
    canvas.put(0, ++y, second_line(model, state));
    if (canvas.height() >= kLowCanvas) {
        canvas.put(0, ++y, third_line(model, state));
        if (!state.cost.empty()) canvas.put(0, ++y, state.cost, Style::Dim);
    }
    const std::string lost = lost_text(model.snapshot().header);
    if (!lost.empty()) canvas.put(0, ++y, "LOST: " + lost, Style::Alarm);
    if (header_has_tabs(canvas.height())) draw_tabs(canvas, ++y, state.options.view);
}

}  // namespace lattop
