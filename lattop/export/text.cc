// SPDX-License-Identifier: GPL-2.0-or-later
//
// See text.h. A task is one line of figures under the column titles and, below
// it and indented, its worst trace:
//
//	    812 redis     S  99.9  12.34s  ...  futex_wait_queue  redis-server
//	        98.2% of it in 1,204 sleeps, max 1.23s, futex; incomplete: …
//	        waits for mutex queue_lock, held by 814 redis-server (S)
//	        kernel  futex_wait_queue < futex_wait < do_futex < …
//	        user    __lll_lock_wait libc.so.6 < worker(void*) redis-server
//	        woken by 100.0%  12.1s   1204 redis-server 814 in unlock_shared
#include "lattop/export/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "lattop/export/woken_text.h"
#include "lattop/export/wrapped_stack.h"
#include "lattop/model/frames.h"
#include "lattop/model/wanted_waits.h"
#include "lattop/version.h"

namespace lattop {
namespace {

void append_header(std::string& out, const TableContext& context, const std::string& clock,
                   const std::string& own_cost, std::size_t n_shown, std::size_t n_matched,
                   const TextOptions& options) {
    const Charset charset = options.charset;
    const Model& model = context.model;
    const Header& header = model.snapshot().header;
    out += fmt::format("lattop {} - {}, {} {}, hook {}\n", kVersion, clock,
                       model.since_load() ? options.since : "interval",
                       format_duration(model.interval_ns()), printable(header.hook, charset));
    out += fmt::format("showing {} of {} tasks that match, {} in all{}\n", n_shown, n_matched,
                       header.tasks_total, printable(wanted_text(options.rows.waits), charset));
    out += "in use: " + limits_text(header) + "\n";
    if (header.filter != "none")
        out += "accounted: only " + printable(header.filter, charset) + "\n";
    if (!own_cost.empty()) out += "own cost: " + printable(own_cost, charset) + "\n";
    const std::string lost = lost_text(header);
    out += "lost: " + (lost.empty() ? "nothing" : lost) + "\n\n";
}

/// The last column is not padded, so that lines have no trailing blanks.
void append_cell(std::string& line, const std::string& text, const ColumnInfo& column, bool last) {
    if (!line.empty()) line += ' ';
    if (last)
        line += text;
    else if (column.left)
        line += fmt::format("{:<{}}", text, column.width);
    else
        line += fmt::format("{:>{}}", text, column.width);
}

/// The columns of a task's line; of its stack the lines below say more.
std::vector<ColumnInfo> text_columns() {
    std::vector<ColumnInfo> result;
    for (const Column column : columns(View::Tasks))
        if (column != Column::P50 && column != Column::P99 && column != Column::Reason &&
            column != Column::TopFrame && column != Column::Cgroup)
            result.push_back(column_info(column));
    return result;
}

std::string titles() {
    std::string line;
    for (const ColumnInfo& column : text_columns())
        append_cell(line, std::string(column.title), column, column.id == Column::Command);
    return line + "\n";
}

void append_figures(std::string& out, const TableContext& context, const Row& row,
                    Charset charset) {
    std::string line;
    for (const ColumnInfo& column : text_columns()) {
        const std::string text = printable(cell_text(context, row, column.id), charset);
        append_cell(line, text, column, column.id == Column::Command);
    }
    out += line + "\n";
}

/// How a stack's label stands below the line of its task.
std::string stack_label(std::string_view label) {
    return fmt::format("{}{:<8}", kStackIndent, label);
}

std::string entry_summary(const TableContext& context, const Row& row) {
    const Task& task = *row.task;
    const Entry& entry = *row.entry;
    const Snapshot& snapshot = context.model.snapshot();
    const Trace* trace = snapshot.trace_of(entry);
    const double share = share_of(entry.blocked_ns, row.total.blocked_ns);
    std::string text = fmt::format("{}% of it in {} sleep{}, max {}", format_percent(share),
                                   with_commas(entry.sleeps), entry.sleeps == 1 ? "" : "s",
                                   format_duration(entry.max_ns));
    if (entry.asleep()) text += fmt::format(", ongoing {}", format_duration(entry.ongoing_ns));
    if (trace == nullptr) return text + ", [other]: its stacks found no room";
    const Reason& reason = context.reasons.of(snapshot, task, entry, context.stacks);
    text += ", " + reason.name + (reason.idle ? " (waiting for work)" : "");
    if (entry.exec_id != task.exec_id) text += ", an earlier program of this task";
    return text + "; " + completeness(*trace);
}

/// "waits for fd 3: pipe:[81]"; of a whole recording "waited 4.20s for" it, the longest time
/// that is known; "" for not known.
std::string object_text(const TableContext& context, const Row& row, const TextOptions& options) {
    const Snapshot& snapshot = context.model.snapshot();
    if (options.waits != nullptr) {
        const LongestWait* wait = options.waits->find(snapshot, *row.task, *row.entry);
        if (wait == nullptr) return "";
        // No part of a sleep that lies before the recording counts
        const std::uint64_t ns = std::min(wait->ns, row.entry->max_ns);
        return fmt::format("waited {} for {}", format_duration(ns), *wait->object);
    }
    if (!row.entry->asleep()) return "";
    const std::string* object = context.stacks.object(snapshot, *row.task);
    return object == nullptr ? "" : "waits for " + *object;
}

void append_wakers(std::string& out, const TableContext& context, const Entry& entry,
                   Charset charset) {
    const Snapshot& snapshot = context.model.snapshot();
    const auto who = [&](const WakerSum& sum) {
        const std::string place =
            top_frame(snapshot, *sum.worst, sum.worst->trace, context.stacks).text;
        return waker_text(sum) + (place.empty() ? "" : " in " + place);
    };
    std::vector<const Waker*> wakers;
    append_pointers(wakers, snapshot.wakers_of(entry));
    out += woken_text(sum_wakers(wakers, Waits::Together), who, charset);
}

void append_trace(std::string& out, const TableContext& context, const Row& row,
                  const TextOptions& options) {
    const Task& task = *row.task;
    const Entry& entry = *row.entry;
    const Snapshot& snapshot = context.model.snapshot();
    out +=
        std::string(kStackIndent) + printable(entry_summary(context, row), options.charset) + "\n";
    if (const std::string object = object_text(context, row, options); !object.empty())
        out += std::string(kStackIndent) + printable(object, options.charset) + "\n";
    const Trace* trace = snapshot.trace_of(entry);
    if (trace == nullptr) return;
    out += wrapped_stack(stack_label("kernel"), kernel_function_texts(snapshot, *trace),
                         options.charset);
    out += wrapped_stack(stack_label("user"),
                         user_frame_texts(snapshot, task, entry, context.stacks), options.charset);
    append_wakers(out, context, entry, options.charset);
}

}  // namespace

std::string limit_name(std::size_t limit) {
    switch (limit) {
        case LT_LIMIT_TASKS: return "tasks";
        case LT_LIMIT_ENTRIES: return "entries";
        case LT_LIMIT_TRACES: return "traces";
        case LT_LIMIT_EXITED: return "exited";
        case LT_LIMIT_ROWS: return "rows";
        case LT_LIMIT_MEMOS: return "memos";
        case LT_LIMIT_WAKERS: return "wakers";
        case LT_LIMIT_SNAPSHOT_KIB: return "snapshot_kib";
        default: return fmt::format("limit_{}", limit);
    }
}

std::string limits_text(const Header& header) {
    std::string text;
    for (std::size_t i = 0; i < header.limit.size(); ++i) {
        if (header.limit[i] == 0) continue;
        text += fmt::format("{} {}/{} ({}%), ", limit_name(i), header.used[i], header.limit[i],
                            std::uint64_t{header.used[i]} * 100 / header.limit[i]);
    }
    return text + "memory " + format_bytes(header.memory_bytes);
}

std::string lost_text(const Header& header) {
    std::string text;
    for (std::size_t i = 0; i < header.lost.size(); ++i) {
        if (header.lost[i] == 0) continue;
        if (!text.empty()) text += ", ";
        text +=
            i < kLostCauses.size() ? std::string(kLostCauses[i].name) : fmt::format("cause_{}", i);
        text += " " + with_commas(header.lost[i]);
    }
    return text;
}

std::string refresh_text(const TableContext& context, const TextOptions& options,
                         const std::string& clock, const std::string& own_cost) {
    std::vector<Row> rows = make_rows(context, options.rows);
    // The module does not know of these
    const bool all = options.rows.waits.all();
    const std::size_t matched = all ? context.model.snapshot().header.tasks_matched : rows.size();
    if (options.limit != 0 && rows.size() > options.limit) rows.resize(options.limit);
    std::string out;
    append_header(out, context, clock, own_cost, rows.size(), matched, options);
    out += titles();
    for (const Row& row : rows) {
        append_figures(out, context, row, options.charset);
        if (row.entry != nullptr) append_trace(out, context, row, options);
    }
    return out;
}

}  // namespace lattop
