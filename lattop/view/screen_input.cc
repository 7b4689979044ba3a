// SPDX-License-Identifier: GPL-2.0-or-later
//
// What keys and the mouse do: see screen.h.
#include <fmt/format.h>

#include <algorithm>

#include "lattop/options.h"
#include "lattop/source/error.h"
#include "lattop/view/screen.h"

namespace lattop {
namespace {

/// The next view, or the one before; behind the last one is the first.
View view_beside(View view, bool next) {
    const std::size_t n = views().size();
    return views()[(static_cast<std::size_t>(view) + (next ? 1 : n - 1)) % n].id;
}

}  // namespace

bool Screen::needs_more_than(const Query& had) const {
    const Query now = query();
    const Snapshot& shown = model_.snapshot();
    const bool all_here = shown.tasks.size() >= shown.header.tasks_matched;
    return (now.traces == LT_TRACES_ALL && had.traces != LT_TRACES_ALL) ||
           (now.limit > had.limit && !all_here);
}

void Screen::close_something() {
    if (detail_focused_)
        detail_focused_ = false;
    else if (detail_row_)
        close_detail();
    else if (!options_.waits.filter.empty())
        options_.waits.filter.clear();
    else
        search_.clear();
    rebuild();
}

/// Another view of the same sleeps. What it needs more of than the one before
/// is asked for at once, also while paused.
Wish Screen::show_view(View view) {
    if (view == options_.view) return {};
    close_detail();
    options_.view = view;
    options_.sort = column_in(view, options_.sort);
    rebuild();
    Wish wish;
    wish.refresh = true;
    return wish;
}

Wish Screen::sort_by(Column column) {
    const Query had = query();
    options_.sort = column_in(options_.view, column);
    options_.invert = false;
    rebuild();
    Wish wish;
    wish.refresh = !paused_ || needs_more_than(had);
    return wish;
}

void Screen::edit(Mode mode, std::string label, std::string text) {
    mode_ = mode;
    prompt_ = Prompt(std::move(label), std::move(text));
}

/// The pane follows the selection, unless keys go to the pane.
Wish Screen::selection_moved() {
    if (detail_row_ && !detail_focused_) return open_detail();
    return {};
}

Wish Screen::search(bool behind) {
    if (!table().search(context(), search_, behind)) say("nothing holds \"" + search_ + "\"");
    return selection_moved();
}

Wish Screen::handle_prompt(Key key) {
    const bool again = mode_ == Mode::Search && key.code == KeyCode::F3;
    if (again) return search(true);
    const Query had = query();
    const Prompt::Result result = prompt_.handle(key);
    const Mode mode = mode_;
    if (result != Prompt::Result::Editing) mode_ = Mode::Table;
    const bool cancelled = result == Prompt::Result::Cancelled;
    Wish wish;
    switch (mode) {
        case Mode::Search:
            search_ = cancelled ? "" : prompt_.text();
            if (result == Prompt::Result::Editing) return search(false);
            break;
        case Mode::Filter:
            options_.waits.filter = cancelled ? filter_before_ : prompt_.text();
            rebuild();
            wish.refresh = needs_more_than(had);
            break;
        case Mode::Delay:
            if (result != Prompt::Result::Done) break;
            try {
                delay_ = parse_delay(prompt_.text());
                wish.refresh = true;
            } catch (const UsageError& error) {
                say(error.what());
            }
            break;
        case Mode::Reset:
            if (result == Prompt::Result::Editing && prompt_.text().empty()) break;
            mode_ = Mode::Table;
            wish.reset = !cancelled && (prompt_.text() == "y" || prompt_.text() == "Y");
            break;
        default: break;
    }
    return wish;
}

Wish Screen::handle_menu(Key key) {
    const auto binding = binding_of(key);
    if (!binding) return {};
    if (menu_.move(binding->command)) return {};
    mode_ = Mode::Table;
    if (binding->command == Command::Open) return sort_by(menu_.chosen());
    return {};
}

/// Commands that change what is shown.
Wish Screen::handle_view(Command command) {
    const Query had = query();
    switch (command) {
        case Command::Invert: options_.invert = !options_.invert; break;
        case Command::ToggleKernelThreads:
            options_.hide_kernel_threads = !options_.hide_kernel_threads;
            break;
        case Command::ToggleExited: options_.hide_exited = !options_.hide_exited; break;
        case Command::ToggleActive: options_.only_active = !options_.only_active; break;
        case Command::ToggleIdle: options_.waits.hide_idle = !options_.waits.hide_idle; break;
        case Command::ToggleInterval:
            options_.interval = !options_.interval;
            detail_.forget_figures();
            break;
        default: return {};
    }
    rebuild();
    Wish wish;
    wish.detail = command == Command::ToggleInterval && detail_query().has_value();
    wish.refresh = needs_more_than(had) || query().flags != had.flags;
    return wish;
}

/// Processes with their tasks, from whatever view; back to the view alone.
Wish Screen::toggle_tree() {
    options_.tree = options_.view != View::Processes || !options_.tree;
    const Wish wish = show_view(View::Processes);
    rebuild();
    return wish;
}

/// The process of the selected row shows its tasks, or not.
void Screen::fold(bool folded) {
    const Row* row = table().selected();
    if (row == nullptr || !options_.tree || options_.view != View::Processes)
        return say("- and + fold and unfold in the tree: F5");
    const TaskId process = process_of(*row->task);
    if (folded) {
        options_.folded.insert(process);
        table().pin(RowId{.view = View::Processes, .task = process});
    } else {
        options_.folded.erase(process);
    }
    rebuild();
}

/// Tags the selected task or process, or a task's process; a tag is taken away
/// by the same key. The next row is selected, so that several are quickly done.
void Screen::tag(bool process) {
    const Row* row = table().selected();
    if (row == nullptr) return;
    if (row->id.view != View::Tasks && row->id.view != View::Processes)
        return say("tasks and processes are tagged: views 1 and 2; v shows what they have here");
    const TaskId id = process ? process_of(*row->task) : row->id.task;
    if (options_.tagged.erase(id) == 0) options_.tagged.insert(id);
    if (options_.tagged.empty()) options_.only_tagged = false;
    table().move(Command::Down);
    rebuild();
}

Wish Screen::toggle_tagged() {
    Wish wish;
    if (options_.tagged.empty()) {
        say("nothing is tagged: Space tags a task or process");
        return wish;
    }
    const Query had = query();
    options_.only_tagged = !options_.only_tagged;
    rebuild();
    wish.refresh = needs_more_than(had);
    return wish;
}

/// Commands about the selected row and what is tagged.
Wish Screen::handle_row(Command command) {
    switch (command) {
        case Command::ToggleTree: return toggle_tree();
        case Command::Fold: fold(true); return selection_moved();
        case Command::Unfold: fold(false); return selection_moved();
        case Command::Tag:
        case Command::TagProcess: tag(command == Command::TagProcess); return selection_moved();
        case Command::ToggleTagged: return toggle_tagged();
        case Command::CopyStack: return copy_stack();
        case Command::UntagAll:
            options_.tagged.clear();
            options_.only_tagged = false;
            rebuild();
            break;
        case Command::Follow:
            table().pin();
            if (const Row* row = table().selected())
                say("following " + cell_text(context(), *row, Column::Command));
            break;
        default: return handle_view(command);
    }
    return {};
}

Wish Screen::copy_stack() {
    constexpr std::size_t kMost = std::size_t{64} << 10;  // what terminals take
    std::string line = detail_row_ ? detail_.folded(context()) : "";
    Wish wish;
    if (line.empty()) {
        say("nothing to copy: Enter opens the stacks of a row");
    } else if (line.size() > kMost) {
        say(fmt::format("{} bytes are too long for a clipboard: lattop export -f folded live",
                        line.size()));
    } else {
        say(fmt::format("{} bytes for the clipboard, where the terminal lets programs write to it",
                        line.size()));
        wish.copy = std::move(line);
    }
    return wish;
}

Wish Screen::handle_command(const Binding& binding) {
    Wish wish;
    switch (binding.command) {
        case Command::Quit: wish.quit = true; break;
        case Command::Refresh: wish.refresh = wish.redraw = true; break;
        case Command::Open:
            if (!detail_row_) return open_detail();
            detail_focused_ = true;
            break;
        case Command::ShowView: return show_view(binding.view);
        case Command::NextView:
        case Command::PreviousView:
            return show_view(view_beside(options_.view, binding.command == Command::NextView));
        case Command::Close: close_something(); break;
        case Command::Help:
            help_.open();
            mode_ = Mode::Help;
            break;
        case Command::SortMenu:
            menu_.open(options_.view, options_.sort);
            mode_ = Mode::SortMenu;
            break;
        case Command::Columns:
            column_menu_.open(options_.view);
            columns_before_ = columns_;
            mode_ = Mode::ColumnMenu;
            break;
        case Command::SortLeft:
        case Command::SortRight:
            return sort_by(column_beside(columns_.shown(options_.view), options_.sort,
                                         binding.command == Command::SortLeft ? -1 : 1));
        case Command::SortBy: return sort_by(binding.column);
        case Command::Search: edit(Mode::Search, "Search:", ""); break;
        case Command::SearchNext: return search(true);
        case Command::Filter:
            filter_before_ = options_.waits.filter;
            edit(Mode::Filter, "Filter:", options_.waits.filter);
            break;
        case Command::Delay: edit(Mode::Delay, "Seconds between refreshes:", ""); break;
        case Command::Reset:
            edit(Mode::Reset, "Reset all figures, for everybody? (y/n)", "");
            break;
        case Command::StepBack: wish.step = -1; break;
        case Command::StepOn: wish.step = 1; break;
        case Command::JumpBack: wish.jump = -1; break;
        case Command::JumpOn: wish.jump = 1; break;
        case Command::Pause:
            paused_ = !paused_;
            wish.refresh = !paused_;
            break;
        default: return handle_row(binding.command);
    }
    return wish;
}

/// A press on what can be done by a key does the same.
Wish Screen::press(Mouse mouse, bool message_shown) {
    if (mouse.y == drawn_.height - 1) {
        if (message_shown) return {};  // over the keys
        const auto key = key_bar_at(mouse.x, drawn_.width);
        return key ? handle(*key) : Wish{};
    }
    if (mouse.y == header_lines_ - 1 && header_has_tabs(drawn_.height)) {
        const auto view = tab_at(mouse.x);
        return view ? show_view(*view) : Wish{};
    }
    if (const auto column = table().title_at(mouse.x, mouse.y)) {
        if (*column == options_.sort) return handle_view(Command::Invert);
        return sort_by(*column);
    }
    const Row* before = table().selected();
    const std::optional<RowId> selected =
        before == nullptr ? std::nullopt : std::optional(before->id);
    if (!table().select_at(mouse.y)) {
        detail_focused_ = detail_row_ && mouse.y >= header_lines_;
        return {};
    }
    detail_focused_ = false;
    const bool again = selected && table().selected()->id == *selected;
    return again || detail_row_ ? open_detail() : Wish{};
}

Wish Screen::handle(Mouse mouse) {
    const bool message_shown = !message_.empty();
    message_.clear();
    if (mouse.kind != Mouse::Kind::Press) {
        static constexpr int kRows = 3;
        Wish wish;
        const KeyCode code = mouse.kind == Mouse::Kind::WheelUp ? KeyCode::Up : KeyCode::Down;
        for (int i = 0; i < kRows; ++i)
            wish = handle(Key{code, 0});
        return wish;
    }
    if (mode_ != Mode::Table) {  // a press beside a menu or the help leaves it
        if (mode_ != Mode::Help && !in_menu()) return {};
        return handle(Key{KeyCode::Escape, 0});
    }
    return press(mouse, message_shown);
}

Wish Screen::handle(Key key) {
    message_.clear();
    switch (mode_) {
        case Mode::Table: break;
        case Mode::SortMenu: return handle_menu(key);
        case Mode::ColumnMenu: {
            Wish wish;
            if (column_menu_.handle(key, columns_)) return wish;
            mode_ = Mode::Table;
            wish.keep_columns = columns_ != columns_before_;
            return wish;
        }
        case Mode::Help: {
            const auto binding = binding_of(key);
            if (!binding || !help_.move(binding->command)) mode_ = Mode::Table;
            return {};
        }
        default: return handle_prompt(key);
    }
    const auto binding = binding_of(key);
    if (!binding) return {};
    if (detail_focused_ ? detail_.move(binding->command) : table().move(binding->command))
        return selection_moved();
    return handle_command(*binding);
}

}  // namespace lattop
