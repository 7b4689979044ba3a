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

}  // namespace lattop::test
