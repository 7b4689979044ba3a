// SPDX-License-Identifier: GPL-2.0-or-later
//
// The live screen's columns: which, in what order, what they sort by.
#include "lattop/view/screen.h"

#include "tests/unit/support/catch.h"
#include "tests/unit/support/golden.h"
#include "tests/unit/support/screen_driver.h"

namespace lattop::test {

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

}  // namespace lattop::test
