// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/view/screen.h"

#include "tests/unit/support/catch.h"
#include "tests/unit/support/golden.h"
#include "tests/unit/support/screen_driver.h"

namespace lattop::test {

TEST_CASE("screens look as recorded") {
    struct Case {
        const char* name;
        Size size;
        Charset charset;
        bool pane;
    };
    const auto [name, size, charset, pane] = GENERATE(values<Case>({
        {"table-80x24", {80, 24}, Charset::Utf8, false},
        {"table-120x40", {120, 40}, Charset::Utf8, false},
        {"table-40x10", {40, 10}, Charset::Ascii, false},
        {"table-60x16", {60, 16}, Charset::Utf8, false},
        {"pane-80x24", {80, 24}, Charset::Utf8, true},
        {"pane-120x40", {120, 40}, Charset::Ascii, true},
        {"pane-40x10", {40, 10}, Charset::Utf8, true},
        {"pane-300x24", {300, 24}, Charset::Utf8, true},
    }));
    Driver driver(size, charset);
    driver.refresh(12);
    if (pane) {
        driver.press(key(U'/'));
        driver.type("1200");
        driver.press(key(KeyCode::Enter));
        driver.press(key(KeyCode::Enter));
    }
    check_golden(std::string(name) + ".txt", driver.text());
    if (size == Size{80, 24})
        check_golden(std::string(name) + ".styles.txt", driver.canvas().styles());
}

TEST_CASE("overlays look as recorded") {
    Driver driver;
    SECTION("help") {
        driver.press(key(KeyCode::F1));
        check_golden("help-80x24.txt", driver.text());
        driver.press(key(KeyCode::End));
        check_golden("help-end-80x24.txt", driver.text());
        driver.press(key(U'q'));
        CHECK_THAT(driver.text(), has_text("F10Quit"));
    }
    SECTION("sort menu") {
        driver.press(key(KeyCode::F6));
        check_golden("sort-menu-80x24.txt", driver.text());
    }
    SECTION("sort menu on a low terminal follows the choice") {
        driver.resize({40, 8});
        driver.press(key(KeyCode::F6));
        driver.press(key(KeyCode::End));
        CHECK_THAT(driver.text(), has_text(" CMDLINE "));
    }
    SECTION("menu of columns") {
        driver.press(key(KeyCode::F2));
        driver.press(key(KeyCode::Down));
        driver.press(key(U' '));
        check_golden("column-menu-80x24.txt", driver.text());
    }
    SECTION("losses") {
        SnapshotBuilder builder = sample_machine(13);
        builder.header.lost[LT_LOST_entry_limit] = 1'234;
        builder.header.lost[LT_LOST_NR] = 5;  // of a newer module
        driver.screen().update(builder.snapshot(), driver.screen().query());
        CHECK_THAT(driver.text(), has_text("LOST: entry_limit 1,234, entry_pool 18, cause_" +
                                           std::to_string(LT_LOST_NR) + " 5"));
    }
    SECTION("too small") {
        driver.resize({39, 10});
        CHECK_THAT(driver.text(), has_text("terminal too small: 39x10"));
        driver.resize({1, 1});
        CHECK(driver.text() == "t\n");
        driver.resize({0, 0});
        CHECK(driver.text().empty());
    }
}

TEST_CASE("a tree shows processes with their tasks, and folds") {
    Driver driver({100, 30});
    driver.refresh(12);
    driver.press(key(KeyCode::F5));
    driver.refresh(14);
    check_golden("tree-100x30.txt", driver.text());
    driver.press(key(KeyCode::Down));
    CHECK_THAT(driver.selected(), has_text("\u251c\u2500"));
    driver.press(key(KeyCode::Enter));
    CHECK_THAT(driver.text(), has_text("(process 1200)"));  // the pane of the task
    driver.press(key(KeyCode::Escape));
    driver.press(key(U'-'));
    CHECK_THAT(driver.text(), has_text("+ dbserver"));
    CHECK_THAT(driver.text(), !has_text("\u251c\u2500"));
    CHECK_THAT(driver.selected(), has_text("+ dbserver"));  // its own, not the next process's
    driver.press(key(U'+'));
    CHECK_THAT(driver.text(), has_text("\u2514\u2500"));
    driver.press(key(U't'));
    CHECK_THAT(driver.text(), !has_text("\u2514\u2500"));
    CHECK_THAT(driver.text(), has_text("Processes: 7 shown"));
    driver.press(key(U'-'));
    CHECK_THAT(driver.text(), has_text("fold and unfold in the tree"));
}

TEST_CASE("tags are of tasks and processes, and hold in every view") {
    Driver driver({100, 30});
    CHECK_THAT((driver.press(key(U'v')), driver.text()), has_text("nothing is tagged"));
    driver.press(key(U'/'));
    driver.type("1201");
    driver.press(key(KeyCode::Enter));
    driver.press(key(U' '));
    driver.press(key(U'v'));
    CHECK_THAT(driver.text(), has_text("Tasks: 1 of 9 shown"));
    CHECK_THAT(driver.text(), has_text("only the 1 tagged"));
    driver.press(key(U'3'));
    driver.refresh(12);
    CHECK_THAT(driver.text(), has_text("Stacks: 3 shown"));
    driver.press(key(U' '));
    CHECK_THAT(driver.text(), has_text("tasks and processes are tagged"));
    driver.press(key(U'1'));
    driver.press(key(U'c'));  // its process, too
    CHECK_THAT(driver.text(), has_text("Tasks: 3 of 9 shown"));
    driver.press(key(U'U'));
    CHECK_THAT(driver.text(), has_text("Tasks: 9 of 9 shown"));
}

TEST_CASE("tagged rows have a style of their own") {
    Driver driver;
    driver.press(key(KeyCode::Down));
    driver.press(key(U' '));
    const Canvas canvas = driver.canvas();
    CHECK(canvas.at(4, 7).style == Style::Tagged);
    CHECK(canvas.at(0, 8).style == Style::Selected);
    driver.press(key(KeyCode::Up));
    driver.press(key(U' '));
    CHECK(driver.canvas().at(4, 7).style != Style::Tagged);
}

TEST_CASE("following holds on to the first row, too") {
    Driver driver;
    driver.press(key(U'F'));
    CHECK_THAT(driver.text(), has_text("following kworker/0:1"));
    driver.press(key(U'O'));
    CHECK_THAT(driver.selected(), has_text("kworker/0:1"));
}

TEST_CASE("who only looks at the columns keeps nothing") {
    Driver driver({100, 30});
    driver.press(key(KeyCode::F2));
    CHECK_FALSE(driver.press(key(KeyCode::Enter)).keep_columns);
}

TEST_CASE("columns are hidden, moved and kept for each view") {
    Driver driver({100, 30});
    driver.press(key(KeyCode::F2));
    driver.press(key(U' '));  // PID, the first
    driver.press(key(KeyCode::Up));
    CHECK(driver.press(key(KeyCode::Enter)).keep_columns);
    CHECK_THAT(driver.text(), !has_text("  PID "));
    CHECK_THAT(driver.screen().columns().text(), has_text("tasks: user state"));
    driver.press(key(U'2'));
    CHECK_THAT(driver.text(), has_text("  PID "));
    driver.press(key(U'C'));
    driver.press(key(KeyCode::Down));
    driver.press(key(KeyCode::Left));  // USER before PID
    driver.press(key(KeyCode::Escape));
    CHECK_THAT(driver.screen().columns().text(), has_text("processes: user pid"));
    const auto kept = ColumnChoice::parse(driver.screen().columns().text(), "f");
    CHECK(kept == driver.screen().columns());
    Driver again({100, 30});
    again.screen().choose_columns(kept);
    CHECK_THAT(again.text(), !has_text("  PID "));
}

TEST_CASE("command lines are a column where they are chosen, and asked for of what is in sight") {
    Driver driver({120, 24});
    driver.stacks().command_lines = {{1200, "dbserver --listen /run/db\x1b[2J --workers 16"},
                                     {877, "nginx: worker process"}};
    const auto wanted = [&] {
        driver.text();
        std::vector<std::uint32_t> pids;
        for (const Task* task : driver.screen().command_lines_wanted())
            pids.push_back(task->pid);
        return pids;
    };
    CHECK(wanted().empty());
    CHECK_THAT(driver.text(), !has_text("CMDLINE"));
    driver.press(key(KeyCode::F2));
    for (int i = 0; i < 20; ++i)
        driver.press(key(KeyCode::Down));
    CHECK_THAT(driver.text(), has_text("[ ] CMDLINE"));
    driver.press(key(U' '));
    CHECK(driver.press(key(KeyCode::Enter)).keep_columns);
    check_golden("cmdline-120x24.txt", driver.text());
    CHECK(wanted().size() == 9);
    driver.resize({120, 8});
    CHECK(wanted().size() < 5);  // as many as are in sight
    const auto kept = ColumnChoice::parse(driver.screen().columns().text(), "f");
    CHECK(kept == driver.screen().columns());

    driver.resize({120, 24});
    driver.screen().choose_columns({});
    CHECK(wanted().empty());
    driver.press(key(KeyCode::F4));
    driver.type("--LISTEN");
    CHECK(wanted().size() == 9);  // any may be the one
    CHECK_THAT(driver.text(), has_text("3 of 9 shown") && has_text("db-worker/2"));
    driver.press(key(KeyCode::Escape));
    driver.press(key(KeyCode::F4));
    driver.type("16");  // of a pid, not of a command line
    CHECK_THAT(driver.text(), has_text("0 of 9 shown"));
    driver.press(key(KeyCode::Escape));
    driver.press(key(U'/'));
    driver.type("worker process");
    CHECK_THAT(driver.selected(), has_text("nginx"));
}

TEST_CASE("the order of command lines is an order like others, and found again") {
    Driver driver({120, 24});
    driver.stacks().command_lines = {{1200, "zserver"}, {877, "a.out"}};
    driver.press(key(KeyCode::F6));
    driver.press(key(KeyCode::End));
    driver.press(key(KeyCode::Enter));
    CHECK_THAT(driver.text(), has_text("Sorted by CMDLINE"));
    const std::string text = driver.text();
    CHECK(text.find("nginx") < text.find("db-worker"));
    CHECK(text.find("db-worker") < text.find("kcompactd0"));
    const ScreenChoice kept = driver.screen().choice();
    CHECK(ScreenChoice::parse(kept.text(), "f") == kept);
    driver.press(key(U'3'));  // has none of it
    CHECK_THAT(driver.text(), has_text("Sorted by BLOCKED"));
}

TEST_CASE("any choice of columns can be shown at any width") {
    for (const ViewInfo& view : views())
        for (const Column hidden : view.shown) {
            ColumnChoice choice;
            for (const Column more : view.more)
                choice.toggle(view.id, more);
            choice.toggle(view.id, hidden);
            for (int width = 40; width <= 200; width += 7) {
                int used = -1;
                for (const PlacedColumn& one :
                     place_columns(view.id, choice.shown(view.id), width, {}))
                    used += one.width + 1;
                CHECK(used <= width);
            }
            for (const Column other : all_columns(view.id))
                if (other != hidden && choice.shown(view.id).size() > 1)
                    choice.toggle(view.id, other);
            choice.toggle(view.id, choice.shown(view.id).front());
            CHECK(choice.shown(view.id).size() == 1);  // the last one stays
        }
}

TEST_CASE("a file of columns that is not understood is said with its line") {
    const auto parse = [](const char* text) { return ColumnChoice::parse(text, "f"); };
    CHECK(parse("").shown(View::Tasks).size() == columns(View::Tasks).size());
    CHECK(parse("# x\n\nstacks: reason\n").shown(View::Stacks) == std::vector{Column::Reason});
    CHECK_THROWS_WITH(parse("tasks: pid\nnothing: pid\n"), has_text("f:2: 'nothing: pid'"));
    CHECK_THROWS_WITH(parse("tasks: pid pid\n"), has_text("f:1:"));
    CHECK_THROWS_WITH(parse("tasks: waiting\n"), has_text("f:1:"));  // a column of other views
    CHECK_THROWS_WITH(parse("tasks:\n"), has_text("f:1:"));
    CHECK_THROWS_WITH(parse("tasks\n"), has_text("f:1:"));
}

TEST_CASE("the mouse does what keys do") {
    Driver driver;
    const auto press = [&](int x, int y) { return driver.click(x, y); };
    driver.text();
    press(20, 9);
    CHECK_THAT(driver.selected(), has_text("nginx"));
    CHECK(press(20, 9).detail);  // once more: its pane
    CHECK_THAT(driver.text(), has_text("SHARE"));
    press(20, 20);  // the pane has the keys
    driver.press(key(KeyCode::Escape));
    driver.press(key(KeyCode::Escape));
    driver.text();
    press(31, 5);
    CHECK_THAT(driver.text(), has_text("Sorted by MAX"));
    press(31, 5);
    CHECK_THAT(driver.text(), has_text("Sorted by MAX inverted"));
    CHECK(press(8, 4).refresh);
    CHECK_THAT(driver.text(), has_text("Processes: "));
    press(0, 23);
    CHECK_THAT(driver.text(), has_text("where tasks block"));
    press(5, 5);
    CHECK_THAT(driver.text(), has_text("Processes: "));
    driver.press(key(U'1'));
    driver.press(key(KeyCode::Home));
    driver.click(5, 9, Mouse::Kind::WheelDown);
    const std::string fourth = driver.selected();
    driver.click(5, 9, Mouse::Kind::WheelUp);
    CHECK(driver.selected() != fourth);
    CHECK(press(78, 22).quit == false);  // below the last row: nothing
    CHECK(press(70, 23).quit);
    CHECK(press(78, 23).quit == false);  // behind the last key
}

TEST_CASE("a press in the row of keys is for keys that are seen there") {
    Driver narrow({40, 10});
    CHECK_THAT(narrow.text(), has_text("F4Filter") && !has_text("F5"));
    narrow.click(37, 9);
    CHECK_THAT(narrow.text(), has_text("Tasks: "));

    Driver driver;
    driver.press(key(U'-'));
    CHECK_THAT(driver.text(), has_text("- and + fold"));
    driver.click(1, 23);
    CHECK_THAT(driver.text(), !has_text("where tasks block") && has_text("F1Help"));
    driver.click(1, 23);
    CHECK_THAT(driver.text(), has_text("where tasks block"));
}

TEST_CASE("the selection follows the task, not the row") {
    Driver driver;
    driver.press(key(KeyCode::Down));
    driver.press(key(KeyCode::Down));
    const std::string before = driver.selected();
    driver.press(key(U'I'));
    CHECK(driver.selected() == before);
    driver.press(key(U'N'));
    CHECK(driver.selected() == before);
}

TEST_CASE("until a task is selected, the first row is") {
    Driver driver;
    CHECK_THAT(driver.selected(), has_text("kworker"));
    driver.press(key(U'O'));
    CHECK_THAT(driver.selected(), has_text("evil"));
    driver.press(key(KeyCode::End));
    driver.press(key(KeyCode::Home));
    driver.press(key(U'M'));
    CHECK_THAT(driver.selected(), has_text("evil"));
}

TEST_CASE("moving stays within the rows") {
    Driver driver;
    driver.press(key(KeyCode::Up));
    CHECK_THAT(driver.selected(), has_text("kworker"));
    for (int i = 0; i < 50; ++i)
        driver.press(key(U'j'));
    CHECK_THAT(driver.selected(), has_text("brief"));
    driver.press(key(KeyCode::PageDown));
    CHECK_THAT(driver.selected(), has_text("brief"));
    driver.press(key(KeyCode::PageUp));
    CHECK_THAT(driver.selected(), has_text("kworker"));
}

TEST_CASE("letters hide kernel threads, exited tasks, tasks that did nothing") {
    Driver driver;
    driver.press(key(U'K'));
    CHECK_THAT(driver.text(), !has_text("kworker") && has_text("no kernel threads"));
    driver.press(key(U'X'));
    CHECK_THAT(driver.text(), !has_text("brief") && !has_text("cc1plus"));
    driver.refresh(11);
    driver.press(key(U'o'));
    CHECK_THAT(driver.text(), !has_text("evil") && has_text("nginx") && has_text("only active"));
    driver.press(key(U'K'));
    CHECK_THAT(driver.text(), has_text("kworker"));
}

TEST_CASE("the filter narrows as it is typed and is kept by Enter, undone by Esc") {
    Driver driver;
    driver.press(key(KeyCode::F4));
    driver.type("nginx|bufferpool");
    CHECK_THAT(driver.text(), has_text("Filter: nginx|bufferpool_"));
    CHECK_THAT(driver.text(), has_text("4 of 9 shown"));
    driver.press(key(KeyCode::Enter));
    CHECK_THAT(driver.text(), has_text("filter nginx|bufferpool"));

    driver.press(key(U'\\'));
    driver.type("zzz");
    CHECK_THAT(driver.text(), has_text("0 of 9 shown") || has_text("1 of 9 shown"));
    driver.press(key(KeyCode::Escape));
    CHECK_THAT(driver.text(), has_text("4 of 9 shown"));
    driver.press(key(KeyCode::Escape));
    CHECK_THAT(driver.text(), has_text("9 of 9 shown"));
}

TEST_CASE("with nothing shown every key is harmless") {
    Driver driver;
    driver.press(key(KeyCode::F4));
    driver.type("no such task");
    driver.press(key(KeyCode::Enter));
    for (const Key pressed : {key(KeyCode::Down), key(KeyCode::End), key(KeyCode::PageUp),
                              key(KeyCode::Enter), key(U'a'), key(U'n')}) {
        driver.press(pressed);
        CHECK_THAT(driver.text(), has_text("0 of 9 shown"));
    }
}

TEST_CASE("search goes to the next row that holds the word, and around") {
    Driver driver;
    driver.press(key(U'/'));
    driver.type("DB-w");
    CHECK_THAT(driver.selected(), has_text("db-worker/2"));
    driver.press(key(KeyCode::F3));
    CHECK_THAT(driver.selected(), has_text("db-worker/1"));
    driver.press(key(KeyCode::Enter));
    driver.press(key(U'n'));
    CHECK_THAT(driver.selected(), has_text("db-worker/2"));
    driver.press(key(KeyCode::F3));
    driver.type("nowhere");
    CHECK_THAT(driver.text(), has_text("nothing holds \"nowhere\""));
}

TEST_CASE("the sort column is chosen by letter, by neighbour, by menu") {
    Driver driver;
    driver.press(key(U'R'));
    CHECK_THAT(driver.text(), has_text("Sorted by RUNQ"));
    driver.press(key(U'<'));
    CHECK_THAT(driver.text(), has_text("Sorted by SLP/s"));
    driver.press(key(U'>'));
    driver.press(key(U'>'));
    CHECK_THAT(driver.text(), has_text("Sorted by CGROUP"));
    ColumnChoice hidden = driver.screen().columns();
    hidden.toggle(View::Tasks, Column::Runq);
    driver.screen().choose_columns(hidden);
    driver.press(key(U'<'));
    CHECK_THAT(driver.text(), has_text("Sorted by SLP/s"));
    driver.press(key(U'>'));
    driver.press(key(KeyCode::F6));
    driver.press(key(KeyCode::Home));
    CHECK(driver.press(key(KeyCode::Enter)).refresh);
    CHECK_THAT(driver.text(), has_text("Sorted by PID"));
    CHECK(driver.screen().query().sort == LT_SORT_PID);
    driver.press(key(U'I'));
    CHECK_THAT(driver.text(), has_text("Sorted by PID inverted"));
}

TEST_CASE("the delay is asked for and checked") {
    Driver driver;
    driver.press(key(U'd'));
    driver.type("0.5");
    driver.press(key(KeyCode::Enter));
    CHECK(driver.screen().delay() == std::chrono::milliseconds(500));
    driver.press(key(U's'));
    driver.type("zero");
    driver.press(key(KeyCode::Enter));
    CHECK_THAT(driver.text(), has_text("give seconds from 0.1 to 3600"));
    CHECK(driver.screen().delay() == std::chrono::milliseconds(500));
}

TEST_CASE("a reset is asked about") {
    Driver driver;
    driver.press(key(U'r'));
    CHECK_THAT(driver.text(), has_text("Reset all figures, for everybody? (y/n)"));
    CHECK(!driver.press(key(U'n')).reset);
    driver.press(key(U'r'));
    CHECK(!driver.press(key(KeyCode::Escape)).reset);
    driver.press(key(U'r'));
    CHECK(driver.press(key(U'y')).reset);
    CHECK_THAT(driver.text(), has_text("F10Quit"));
}

TEST_CASE("a pause is shown and ends with a refresh") {
    Driver driver;
    CHECK(!driver.press(key(U'Z')).refresh);
    CHECK(driver.screen().paused());
    CHECK_THAT(driver.text(), has_text("PAUSED"));
    CHECK(driver.press(key(U'Z')).refresh);
    CHECK(!driver.screen().paused());
}

TEST_CASE("quit keys quit") {
    Driver driver;
    CHECK(driver.press(key(U'q')).quit);
    CHECK(driver.press(key(KeyCode::F10)).quit);
    CHECK(!driver.press(key(U'9')).quit);
}

TEST_CASE("nothing hostile reaches a cell, whatever the charset") {
    for (const Charset charset : {Charset::Ascii, Charset::Utf8}) {
        Driver driver({120, 40}, charset);
        driver.press(key(U'/'));
        driver.type("2001");
        driver.press(key(KeyCode::Enter));
        driver.press(key(KeyCode::Enter));
        const Canvas canvas = driver.canvas();
        for (int y = 0; y < canvas.height(); ++y)
            for (int x = 0; x < canvas.width(); ++x) {
                const char32_t c = canvas.at(x, y).character;
                REQUIRE((c == 0 || c >= 0x20));
                REQUIRE((c < 0x7f || (charset == Charset::Utf8 && c > 0x9f)));
            }
        CHECK_THAT(canvas.text(), has_text("evil?[2J?"));
    }
}

TEST_CASE("every column that fits is shown, the least telling go first") {
    const View view =
        GENERATE(View::Tasks, View::Processes, View::Stacks, View::Reasons, View::Cgroups);
    std::size_t before = 0;
    for (int width = 40; width <= 200; ++width) {
        const auto placed = place_columns(view, columns(view), width, {});
        int used = -1;
        for (const PlacedColumn& one : placed)
            used += one.width + 1;
        CHECK(used <= width);
        CHECK(placed.size() >= before);
        before = placed.size();
    }
    CHECK(before == columns(view).size());
}

TEST_CASE("every view looks as recorded, with and without its pane") {
    struct Case {
        const char* name;
        char32_t digit;
    };
    const auto [name, digit] = GENERATE(values<Case>({
        {"processes", U'2'},
        {"stacks", U'3'},
        {"reasons", U'4'},
        {"cgroups", U'5'},
    }));
    Driver driver({100, 40});
    driver.refresh(12);
    driver.press(key(digit));
    check_golden(std::string(name) + "-100x40.txt", driver.text());
    driver.resize({80, 24});
    check_golden(std::string(name) + "-80x24.txt", driver.text());
    check_golden(std::string(name) + "-80x24.styles.txt", driver.canvas().styles());
    driver.resize({100, 40});
    driver.press(key(U'/'));
    driver.type("futex");
    driver.press(key(KeyCode::Enter));
    driver.press(key(KeyCode::Enter));
    check_golden(std::string(name) + "-pane-100x40.txt", driver.text());
}

TEST_CASE("digits and Tab choose the view, and each asks for the traces it needs") {
    Driver driver;
    CHECK(driver.screen().query().traces == LT_TRACES_WORST_AND_ONGOING);
    CHECK(driver.press(key(U'3')).refresh);
    CHECK_THAT(driver.text(), has_text("Stacks: 6 shown, of 9 tasks"));
    CHECK(driver.screen().query().traces == LT_TRACES_ALL);
    driver.press(key(KeyCode::Tab));
    CHECK_THAT(driver.text(), has_text("Reasons: "));
    driver.press(key(KeyCode::Tab));
    CHECK_THAT(driver.text(), has_text("Cgroups: "));
    driver.press(key(KeyCode::Tab));
    CHECK_THAT(driver.text(), has_text("Tasks: "));
    CHECK(driver.screen().query().traces == LT_TRACES_WORST_AND_ONGOING);
    for (int i = 0; i < 4; ++i)
        driver.press(key(KeyCode::BackTab));
    CHECK_THAT(driver.text(), has_text("Processes: "));
    CHECK(!driver.press(key(U'2')).refresh);
}

TEST_CASE("a view keeps its selection, and sorts by what it has") {
    Driver driver;
    driver.press(key(U'P'));
    driver.press(key(KeyCode::Down));
    const std::string selected = driver.selected();
    driver.press(key(U'4'));
    CHECK_THAT(driver.text(), has_text("Sorted by WAIT"));
    driver.press(key(U'N'));  // there are no pids
    CHECK_THAT(driver.text(), has_text("Sorted by BLOCKED"));
    driver.press(key(U'1'));
    driver.press(key(U'P'));
    CHECK_THAT(driver.text(), has_text("Sorted by BLK%"));
    CHECK(driver.selected() == selected);
}

TEST_CASE("a filter takes all traces of a task to know what it is for") {
    Driver driver;
    CHECK(!driver.press(key(KeyCode::F4)).refresh);
    CHECK(driver.press(key(U'f')).refresh);
    CHECK(driver.screen().query().traces == LT_TRACES_ALL);
    CHECK(!driver.press(key(U'u')).refresh);
    driver.press(key(KeyCode::Enter));
    CHECK(!driver.press(key(KeyCode::Escape)).refresh);  // all that it needs is there
    CHECK(driver.screen().query().traces == LT_TRACES_WORST_AND_ONGOING);
}

TEST_CASE("rows of a filter by a function come when the names have been found") {
    struct LateStacks final : UserStacks {
        void want(const Snapshot& /*snapshot*/) override {}
        bool collect() override { return false; }
        void want_live(const Task& /*task*/) override {}
        [[nodiscard]] int ready_fd() const override { return -1; }
        [[nodiscard]] const UserStack* find(const StackId& id) const override {
            return found ? names.find(id) : nullptr;
        }
        [[nodiscard]] const LiveNames* find_live(const Task& /*task*/) const override {
            return nullptr;
        }
        SampleStacks names;
        bool found = false;
    };
    LateStacks stacks;
    SampleUsers users;
    SystemCgroups cgroups;
    Reasons reasons;
    ScreenSetup setup;
    setup.rows.waits.filter = "worker_main";  // behind the top frame
    Screen screen(setup, stacks, users, cgroups, reasons);
    screen.update(sample_machine(10).snapshot(), screen.query());
    const auto text = [&] {
        Canvas canvas({80, 24}, Charset::Utf8);
        screen.draw(canvas, "12:34:56");
        return canvas.text();
    };
    CHECK_THAT(text(), has_text("0 of 9 shown"));
    stacks.found = true;
    screen.names_changed();
    CHECK_THAT(text(), has_text("3 of 9 shown") && has_text("db-worker/2"));
}

TEST_CASE("waits for work are hidden by a key, in every view") {
    Driver driver({120, 30});
    driver.refresh(12);
    CHECK(driver.press(key(U'i')).refresh);  // it takes all traces of a task to know
    CHECK(driver.screen().query().traces == LT_TRACES_ALL);
    CHECK_THAT(driver.text(), !has_text("nginx") && !has_text("kworker") && has_text("evil") &&
                                  has_text("dbserver") && has_text("no waits for work"));
    driver.press(key(U'3'));
    CHECK_THAT(driver.text(), !has_text("ep_poll") && has_text("db::Log::replay"));
    driver.press(key(U'4'));
    CHECK_THAT(driver.text(), !has_text("epoll") && has_text("futex"));
    driver.press(key(U'i'));
    CHECK_THAT(driver.text(), has_text("epoll"));
}

TEST_CASE("figures are of the last interval at a key") {
    Driver driver({120, 30});
    driver.refresh(12);
    driver.press(key(U'/'));
    driver.type("nginx");
    driver.press(key(KeyCode::Enter));
    CHECK_THAT(driver.selected(), has_text(" 11.4s "));
    driver.press(key(U'a'));
    CHECK_THAT(driver.selected(), has_text(" 1.90s ") && !has_text(" 11.4s "));
    CHECK_THAT(driver.text(), has_text("of the last 2.00s alone"));
    driver.press(key(U'4'));
    CHECK_THAT(driver.text(), has_text(" 1.90s "));
    driver.press(key(U'a'));
    CHECK_THAT(driver.text(), has_text(" 11.4s "));
}

TEST_CASE("the filter of stacks and reasons is about the sleeps in them") {
    Driver driver({120, 30});
    driver.press(key(U'4'));
    driver.press(key(KeyCode::F4));
    driver.type("postgres");
    driver.press(key(KeyCode::Enter));
    CHECK_THAT(driver.text(), has_text("Reasons: 3 shown") && !has_text("nginx"));
    driver.press(key(U'3'));
    CHECK_THAT(driver.text(), has_text("Stacks: 3 shown"));
}

}  // namespace lattop::test
