// SPDX-License-Identifier: GPL-2.0-or-later
//
// The live screen's rows: which are shown, which one is selected, which are tagged.
#include "lattop/view/screen.h"

#include "tests/unit/support/catch.h"
#include "tests/unit/support/golden.h"
#include "tests/unit/support/screen_driver.h"

namespace lattop::test {

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
