// SPDX-License-Identifier: GPL-2.0-or-later
//
// The seam between the live screen and the terminal: keys come in, canvases go
// out. The real one is curses, in one file; tests script a fake.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>

#include "lattop/view/canvas.h"

namespace lattop {

enum class KeyCode {
    Character,  ///< Key::character says which
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    Enter,
    Escape,
    Tab,
    BackTab,  ///< Shift and Tab
    Backspace,
    F1,
    F2,
    F3,
    F4,
    F5,
    F6,
    F7,
    F8,
    F9,
    F10,
};

struct Key {
    KeyCode code = KeyCode::Character;
    char32_t character = 0;

    bool operator==(const Key&) const = default;
};

/// What the mouse did, in a cell of the canvas.
struct Mouse {
    enum class Kind { Press, WheelUp, WheelDown };
    Kind kind = Kind::Press;
    int x = 0;
    int y = 0;
};

struct Event {
    enum class Kind {
        Timeout,  ///< nothing happened until the time given
        Key,
        Mouse,
        Resize,
        Ready,  ///< one of the descriptors given to wait() is readable
        Quit,   ///< a signal asks to end, or the terminal has gone
    };
    Kind kind = Kind::Timeout;
    Key key{};
    Mouse mouse{};
};

/// Of whoever works beside the screen.
using ReadyFds = std::array<int, 2>;

class Terminal {
public:
    Terminal() = default;
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;
    virtual ~Terminal() = default;

    [[nodiscard]] virtual Size size() const = 0;
    [[nodiscard]] virtual Charset charset() const = 0;
    virtual void show(const Canvas& canvas) = 0;

    /// Draws everything anew with the next show(), whatever is there.
    virtual void redraw() = 0;

    /// Asks the terminal to put this into the clipboard.
    virtual void copy(const std::string& text) = 0;

    /// The next event. Waits until `until` at most, without one for ever;
    /// `ready` are watched too, but those that are -1.
    virtual Event wait(std::optional<std::chrono::steady_clock::time_point> until,
                       const ReadyFds& ready) = 0;
};

}  // namespace lattop
