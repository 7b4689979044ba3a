// SPDX-License-Identifier: GPL-2.0-or-later
//
// See column_choice.h. A line a view: "tasks: pid user state".
#include "lattop/model/column_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "lattop/source/error.h"
#include "lattop/user_config.h"

namespace lattop {
namespace {

std::string key_of(View view) {
    std::string key(view_info(view).name);
    key.front() = static_cast<char>(key.front() - 'A' + 'a');
    return key;
}

const ViewInfo* view_with_key(std::string_view key) {
    const auto found =
        std::ranges::find(views(), key, [](const ViewInfo& info) { return key_of(info.id); });
    return found == views().end() ? nullptr : &*found;
}

/// The columns that one line names; nothing where one of them is none of the
/// view's, or stands there twice.
std::optional<std::vector<Column>> parse_columns(View view, const std::string& text) {
    std::vector<Column> chosen;
    const std::vector<Column> all = all_columns(view);
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        const auto found =
            std::ranges::find(all, word, [](Column column) { return column_info(column).name; });
        if (found == all.end() || std::ranges::count(chosen, *found) != 0) return std::nullopt;
        chosen.push_back(*found);
    }
    if (chosen.empty()) return std::nullopt;
    return chosen;
}

}  // namespace

ColumnChoice ColumnChoice::parse(std::string_view text, std::string_view name) {
    ColumnChoice choice;
    std::istringstream lines{std::string(text)};
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (line.empty() || line.front() == '#') continue;
        const std::size_t colon = line.find(':');
        const ViewInfo* view = view_with_key(line.substr(0, colon));
        const auto columns = view == nullptr || colon == std::string::npos
                                 ? std::nullopt
                                 : parse_columns(view->id, line.substr(colon + 1));
        if (!columns)
            throw Error(fmt::format("{}:{}: '{}' is not understood", name, number, line),
                        "F2 in the live table writes this file; without it all columns are shown");
        choice.chosen(view->id) = *columns;
    }
    return choice;
}

std::string ColumnChoice::text() const {
    std::string text = "# Which columns lattop shows, and in which order. F2 writes this file.\n";
    for (const ViewInfo& view : views()) {
        const auto& chosen = chosen_.at(static_cast<std::size_t>(view.id));
        if (!chosen) continue;
        text += key_of(view.id) + ":";
        for (const Column column : *chosen)
            text += " " + std::string(column_info(column).name);
        text += "\n";
    }
    return text;
}

std::vector<Column> ColumnChoice::shown(View view) const {
    const auto& chosen = chosen_.at(static_cast<std::size_t>(view));
    return chosen ? *chosen : std::vector<Column>(columns(view).begin(), columns(view).end());
}

std::vector<Column> ColumnChoice::all(View view) const {
    std::vector<Column> all = shown(view);
    for (const Column column : all_columns(view))
        if (std::ranges::count(all, column) == 0) all.push_back(column);
    return all;
}

std::vector<Column>& ColumnChoice::chosen(View view) {
    auto& chosen = chosen_.at(static_cast<std::size_t>(view));
    if (!chosen) chosen = shown(view);
    return *chosen;
}

void ColumnChoice::toggle(View view, Column column) {
    std::vector<Column>& columns = chosen(view);
    const auto found = std::ranges::find(columns, column);
    if (found == columns.end())
        columns.push_back(column);
    else if (columns.size() > 1)
        columns.erase(found);
}

void ColumnChoice::move(View view, Column column, int step) {
    std::vector<Column>& columns = chosen(view);
    const auto found = std::ranges::find(columns, column);
    if (found == columns.end()) return;
    const auto at = found - columns.begin();
    const auto to = at + step;
    if (to >= 0 && to < static_cast<std::ptrdiff_t>(columns.size()))
        std::iter_swap(found, columns.begin() + to);
}

std::string column_choice_path() {
    return user_config_path("columns.conf");
}

ColumnChoice load_column_choice(const std::string& path) {
    const auto text = read_user_config(path);
    return text ? ColumnChoice::parse(*text, path) : ColumnChoice();
}

void save_column_choice(const ColumnChoice& choice, const std::string& path) {
    if (path.empty()) throw Error("there is no home to keep the columns in", "set HOME");
    write_user_config(path, choice.text());
}

}  // namespace lattop
