// SPDX-License-Identifier: GPL-2.0-or-later
//
// A line of input at the bottom of the live screen.
#pragma once

#include <string>

#include "lattop/term/terminal.h"
#include "lattop/view/canvas.h"

namespace lattop {

class Prompt {
public:
    enum class Result { Editing, Done, Cancelled };

    Prompt() = default;
    Prompt(std::string label, std::string text)
        : label_(std::move(label)), text_(std::move(text)) {}

    /// Edits the line: characters, Backspace, Ctrl-U; Enter ends, Esc cancels.
    Result handle(Key key);

    [[nodiscard]] const std::string& text() const { return text_; }
    void draw(Canvas& canvas, int y) const;

private:
    std::string label_;
    std::string text_;  // UTF-8
};

}  // namespace lattop
