// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/view/canvas.h"

#include "lattop/view/prompt.h"
#include "lattop/view/stack_lines.h"
#include "tests/unit/support/catch.h"

namespace lattop::test {

TEST_CASE("text is cut at the edge and at its columns, outside it vanishes") {
    Canvas canvas({10, 2}, Charset::Utf8);
    CHECK(canvas.put(7, 0, "abcdef") == 10);
    CHECK(canvas.put(0, 1, "abcdef", Style::Normal, 3) == 3);
    canvas.put(0, 2, "below");
    canvas.put(0, -1, "above");
    canvas.put(-1, 0, "left");
    canvas.put(99, 0, "right");
    CHECK(canvas.text() == "       abc\nabc\n");
}

TEST_CASE("wide characters take two columns or none") {
    Canvas canvas({5, 1}, Charset::Utf8);
    CHECK(canvas.put(0, 0, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e") == 4);
    CHECK(canvas.text() == "\xe6\x97\xa5\xe6\x9c\xac\n");
    CHECK(canvas.at(1, 0).character == 0);
    Canvas ascii({5, 1}, Charset::Ascii);
    ascii.put(0, 0, "\xe6\x97\xa5");
    CHECK(ascii.text() == "?\n");
}

TEST_CASE("text aligned right keeps its beginning") {
    Canvas canvas({8, 2}, Charset::Ascii);
    canvas.put_right(1, 0, "42", 6);
    canvas.put_right(1, 1, "12345678", 6);
    CHECK(canvas.text() == "     42\n 123456\n");
}

TEST_CASE("a prompt edits characters, not bytes") {
    Prompt prompt("x", "");
    prompt.handle({KeyCode::Character, U'a'});
    prompt.handle({KeyCode::Character, U'\u00e9'});
    CHECK(prompt.text() == "a\xc3\xa9");
    prompt.handle({KeyCode::Backspace, 0});
    CHECK(prompt.text() == "a");
    prompt.handle({KeyCode::Character, U'\x07'});
    CHECK(prompt.text() == "a");
    prompt.handle({KeyCode::Character, 0x15});
    CHECK(prompt.text().empty());
    prompt.handle({KeyCode::Backspace, 0});
    CHECK(prompt.handle({KeyCode::Escape, 0}) == Prompt::Result::Cancelled);
}

TEST_CASE("histograms show the range that has sleeps") {
    Histogram hist{};
    CHECK(histogram_lines(hist, 10, Charset::Ascii).empty());
    hist[0] = 1;
    hist[2] = 1'000;
    const auto lines = histogram_lines(hist, 10, Charset::Ascii);
    REQUIRE(lines.size() == 3);
    CHECK(lines[0] == ">=     0      1 #");
    CHECK(lines[1] == ">=   2ns      0 ");
    CHECK(lines[2] == ">=   4ns   1000 ##########");
    hist.fill(UINT64_MAX);
    CHECK(histogram_lines(hist, 10, Charset::Utf8).size() == LT_HIST_BUCKETS);
}

}  // namespace lattop::test
