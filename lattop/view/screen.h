// SPDX-License-Identifier: GPL-2.0-or-later
//
// The live screen without its terminal: snapshots and keys come in, a canvas
// and wishes go out. Driven by the live command; tests drive it the same way.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "lattop/model/column_choice.h"
#include "lattop/model/model.h"
#include "lattop/model/screen_choice.h"
#include "lattop/term/terminal.h"
#include "lattop/view/canvas.h"
#include "lattop/view/detail_view.h"
#include "lattop/view/header_view.h"
#include "lattop/view/overlay_view.h"
#include "lattop/view/prompt.h"
#include "lattop/view/table_view.h"

namespace lattop {

/// What the screen asks of the command that drives it.
struct Wish {
    bool quit = false;
    bool refresh = false;       ///< a new snapshot now
    bool redraw = false;        ///< everything anew
    bool detail = false;        ///< detail_query() has changed
    bool reset = false;         ///< clear the module's figures
    bool keep_columns = false;  ///< columns() were chosen
    std::string copy{};         ///< for the clipboard; "" for nothing
    int step = 0;               ///< so many snapshots on in a recording; below 0 back
    int jump = 0;               ///< the same in tenths of it
};

/// Where a screen begins.
struct ScreenSetup {
    RowOptions rows;
    std::chrono::milliseconds delay{2000};
    std::uint32_t limit = 0;  ///< tasks to ask for; 0 for the screen's own
    std::vector<std::uint32_t> pids{};
};

inline constexpr Size kLeastSize{40, 8};

class Screen {
public:
    Screen(const ScreenSetup& setup, UserStacks& stacks, Users& users, CgroupNames& cgroups,
           Reasons& reasons);

    /// What to ask the source for.
    [[nodiscard]] Query query() const;

    /// What to ask it for beside, while the pane of one task is open: the stacks of
    /// other rows, and figures of the interval, are in the first answer.
    [[nodiscard]] std::optional<Query> detail_query() const;

    /// Answers to them.
    void update(Snapshot snapshot, const Query& query);
    void update_detail(Snapshot snapshot);

    /// The next answer is not compared with the one before; it must come before
    /// anything is drawn.
    void forget() { model_ = {}; }

    /// A task whose stack is wanted as it is now; nullptr for none.
    [[nodiscard]] const Task* live_wanted() const {
        return detail_row_ ? detail_.live_wanted() : nullptr;
    }

    /// Whose command lines are to be known, by what was drawn last.
    [[nodiscard]] std::vector<const Task*> command_lines_wanted();

    /// Names of stacks or users have come, or command lines.
    void names_changed();

    Wish handle(Key key);
    Wish handle(Mouse mouse);

    /// What it shows, to be kept.
    [[nodiscard]] ScreenChoice choice() const { return choice_of(options_); }

    [[nodiscard]] const ColumnChoice& columns() const { return columns_; }
    void choose_columns(ColumnChoice choice) { columns_ = std::move(choice); }

    void draw(Canvas& canvas, const std::string& clock);

    /// What lattop itself costs, for the header; "" for nothing to say.
    void show_cost(std::string text) { cost_ = std::move(text); }

    /// Shows a line at the bottom until the next key.
    void say(std::string message) { message_ = std::move(message); }

    void pause() { paused_ = true; }
    [[nodiscard]] bool paused() const { return paused_; }
    [[nodiscard]] std::chrono::milliseconds delay() const { return delay_; }

private:
    enum class Mode { Table, Help, SortMenu, ColumnMenu, Search, Filter, Delay, Reset };

    [[nodiscard]] TableContext context() {
        return {model_, stacks_, users_, reasons_, cgroups_, options_.interval};
    }
    [[nodiscard]] TableView& table() { return tables_.at(static_cast<std::size_t>(options_.view)); }
    void fill_detail();
    Wish show_view(View view);
    void rebuild();
    Wish handle_command(const Binding& binding);
    Wish handle_view(Command command);
    Wish handle_row(Command command);
    Wish toggle_tree();
    void fold(bool folded);
    void tag(bool process);
    Wish toggle_tagged();
    Wish copy_stack();
    Wish press(Mouse mouse, bool message_shown);
    [[nodiscard]] bool in_menu() const {
        return mode_ == Mode::SortMenu || mode_ == Mode::ColumnMenu;
    }
    Wish handle_prompt(Key key);
    Wish handle_menu(Key key);
    Wish open_detail();
    void close_detail();
    void close_something();
    [[nodiscard]] bool module_chooses() const;
    /// Whether more of each task, or more tasks, are needed than `had` asked for: at once, also
    /// while paused.
    [[nodiscard]] bool needs_more_than(const Query& had) const;
    Wish sort_by(Column column);
    void edit(Mode mode, std::string label, std::string text);
    Wish selection_moved();
    Wish search(bool behind);
    void draw_body(Canvas& canvas, int y);
    void draw_bottom(Canvas& canvas);

    UserStacks& stacks_;
    Users& users_;
    CgroupNames& cgroups_;
    Reasons& reasons_;
    Model model_;
    RowOptions options_;
    std::chrono::milliseconds delay_;
    bool limited_;
    std::uint32_t limit_;
    std::vector<std::uint32_t> pids_;
    ColumnChoice columns_, columns_before_;  // now, and when the menu of columns was opened

    Mode mode_ = Mode::Table;
    std::array<TableView, kViews> tables_;  // as views(): each keeps its selection
    DetailView detail_;
    std::optional<RowId> detail_row_;  // the pane is open
    bool detail_focused_ = false;
    HelpView help_;
    SortMenu menu_;
    ColumnMenu column_menu_;
    Size drawn_;  // as drawn last, for the mouse
    int header_lines_ = 0;
    Prompt prompt_;
    std::string search_;
    std::string filter_before_;
    std::string message_;
    std::string cost_;
    bool paused_ = false;
};

}  // namespace lattop
