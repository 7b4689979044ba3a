// SPDX-License-Identifier: GPL-2.0-or-later
//
// The live screen with keys and clicks for hands: of the sample machine, which
// goes on, or of one snapshot. For tests of lattop/view.
#pragma once

#include <initializer_list>
#include <string>

#include "lattop/view/screen.h"
#include "tests/unit/support/sample.h"

namespace lattop::test {

constexpr Key key(char32_t c) {
    return {KeyCode::Character, c};
}
constexpr Key key(KeyCode code) {
    return {code, 0};
}

/// A screen, what it shows, and a machine that goes on.
class Driver {
public:
    explicit Driver(Size size = {80, 24}, Charset charset = Charset::Utf8,
                    const ScreenSetup& setup = {})
        : size_(size), charset_(charset), screen_(setup, stacks_, users_, cgroups_, reasons_) {
        refresh(10);
    }

    void refresh(std::uint64_t seconds) {
        seconds_ = seconds;
        screen_.update(sample_machine(seconds).snapshot(), screen_.query());
        refresh_detail();
    }

    Wish press(Key pressed) {
        const Wish wish = screen_.handle(pressed);
        if (wish.detail) refresh_detail();
        return wish;
    }
    Wish click(int x, int y, Mouse::Kind kind = Mouse::Kind::Press) {
        const Wish wish = screen_.handle(Mouse{kind, x, y});
        if (wish.detail) refresh_detail();
        return wish;
    }
    void type(const std::string& text) {
        for (const char c : text)
            press(key(static_cast<char32_t>(c)));
    }

    Canvas canvas() {
        Canvas canvas(size_, charset_);
        screen_.draw(canvas, "12:34:56");
        return canvas;
    }
    std::string text() { return canvas().text(); }

    /// The row that is selected, in table or pane.
    std::string selected() {
        const Canvas drawn = canvas();
        const std::string rows = drawn.text();
        std::size_t at = 0;
        for (int y = 0; y < drawn.height(); ++y) {
            const std::size_t end = rows.find('\n', at);
            const Style style = drawn.at(drawn.width() - 1, y).style;
            if (style == Style::Selected || style == Style::SelectedDim)
                return rows.substr(at, end - at);
            at = end + 1;
        }
        return "";
    }
    void resize(Size size) { size_ = size; }

    Screen& screen() { return screen_; }
    SampleStacks& stacks() { return stacks_; }

private:
    void refresh_detail() {
        if (const auto query = screen_.detail_query())
            screen_.update_detail(sample_machine(seconds_).snapshot());
    }

    Size size_;
    Charset charset_;
    SampleStacks stacks_;
    SampleUsers users_;
    SystemCgroups cgroups_;
    Reasons reasons_;
    Screen screen_;
    std::uint64_t seconds_ = 0;
};

/// What a screen of 100 columns shows of one machine after these keys, which
/// come after its first snapshot.
inline std::string shown_after(const SnapshotBuilder& machine, std::initializer_list<Key> keys) {
    SampleStacks stacks;
    SampleUsers users;
    SystemCgroups cgroups;
    Reasons reasons;
    Screen screen({}, stacks, users, cgroups, reasons);
    screen.update(machine.snapshot(), screen.query());
    for (const Key pressed : keys) {
        screen.handle(pressed);
        screen.update(machine.snapshot(), screen.query());
        if (screen.detail_query()) screen.update_detail(machine.snapshot());
    }
    Canvas canvas({100, 40}, Charset::Utf8);
    screen.draw(canvas, "12:34:56");
    return canvas.text();
}

}  // namespace lattop::test
