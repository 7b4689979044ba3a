// SPDX-License-Identifier: GPL-2.0-or-later
//
// See screen_choice.h. A line a choice: "sort: max".
#include "lattop/model/screen_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>

#include "lattop/source/error.h"
#include "lattop/user_config.h"

namespace lattop {
namespace {

std::string lower_name(View view) {
    std::string name(view_info(view).name);
    name.front() = static_cast<char>(name.front() - 'A' + 'a');
    return name;
}

/// What is yes or no.
struct Switch {
    std::string_view key, off, on;
    bool ScreenChoice::*member;
};

constexpr auto kSwitches = std::to_array<Switch>({
    {"order", "usual", "inverted", &ScreenChoice::invert},
    {"kernel-threads", "shown", "hidden", &ScreenChoice::hide_kernel_threads},
    {"idle", "shown", "hidden", &ScreenChoice::hide_idle},
    {"exited", "shown", "hidden", &ScreenChoice::hide_exited},
    {"processes", "alone", "tree", &ScreenChoice::tree},
    {"figures", "since-reset", "interval", &ScreenChoice::interval},
});

std::optional<View> view_called(std::string_view name) {
    for (const ViewInfo& info : views())
        if (lower_name(info.id) == name) return info.id;
    return std::nullopt;
}

/// A column of any view.
std::optional<Column> column_called(std::string_view name) {
    for (const ViewInfo& info : views())
        for (const Column column : all_columns(info.id))
            if (column_info(column).name == name) return column;
    return std::nullopt;
}

/// Whether the line was understood.
bool take_line(ScreenChoice& choice, std::string_view key, std::string_view value) {
    if (key == "view") {
        const auto view = view_called(value);
        if (view) choice.view = *view;
        return view.has_value();
    }
    if (key == "sort") {
        const auto column = column_called(value);
        if (column) choice.sort = *column;
        return column.has_value();
    }
    const auto* found = std::ranges::find(kSwitches, key, &Switch::key);
    if (found == kSwitches.end() || (value != found->on && value != found->off)) return false;
    choice.*found->member = value == found->on;
    return true;
}

bool has_column(View view, Column column) {
    return std::ranges::count(all_columns(view), column) != 0;
}

}  // namespace

ScreenChoice ScreenChoice::parse(std::string_view text, std::string_view name) {
    ScreenChoice choice;
    std::istringstream lines{std::string(text)};
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (line.empty() || line.front() == '#') continue;
        const std::size_t colon = line.find(": ");
        if (colon == std::string::npos ||
            !take_line(choice, std::string_view(line).substr(0, colon),
                       std::string_view(line).substr(colon + 2)))
            throw Error(
                fmt::format("{}:{}: '{}' is not understood", name, number, line),
                "the live table writes this file when it ends; without it it begins as usual");
    }
    choice.sort = column_in(choice.view, choice.sort);
    return choice;
}

std::string ScreenChoice::text() const {
    std::string text =
        "# What lattop's live table showed last, to begin with it. It writes this file itself.\n";
    text += fmt::format("view: {}\nsort: {}\n", lower_name(view), column_info(sort).name);
    for (const Switch& one : kSwitches)
        text += fmt::format("{}: {}\n", one.key, this->*one.member ? one.on : one.off);
    return text;
}

ScreenChoice choice_of(const RowOptions& rows) {
    return {
        rows.view,        rows.sort, rows.invert,  rows.hide_kernel_threads, rows.waits.hide_idle,
        rows.hide_exited, rows.tree, rows.interval};
}

void begin_with(const ScreenChoice& choice, bool sort_given, RowOptions& rows) {
    if (!sort_given) {
        rows.sort = choice.sort;
        rows.invert = choice.invert;
    }
    if (has_column(choice.view, rows.sort)) rows.view = choice.view;
    rows.hide_kernel_threads = rows.hide_kernel_threads || choice.hide_kernel_threads;
    rows.waits.hide_idle = rows.waits.hide_idle || choice.hide_idle;
    rows.hide_exited = choice.hide_exited;
    rows.tree = choice.tree;
    rows.interval = choice.interval;
}

ScreenChoice to_keep(ScreenChoice kept, const ScreenChoice& begun, const ScreenChoice& ended) {
    const auto take = [&](auto member) {
        if (ended.*member != begun.*member) kept.*member = ended.*member;
    };
    take(&ScreenChoice::view);
    take(&ScreenChoice::sort);
    for (const Switch& one : kSwitches)
        take(one.member);
    kept.sort = column_in(kept.view, kept.sort);
    return kept;
}

std::string screen_choice_path() {
    return user_config_path("screen.conf");
}

ScreenChoice load_screen_choice(const std::string& path) {
    const auto text = read_user_config(path);
    return text ? ScreenChoice::parse(*text, path) : ScreenChoice();
}

void save_screen_choice(const ScreenChoice& choice, const std::string& path) {
    write_user_config(path, choice.text());
}

}  // namespace lattop
