// SPDX-License-Identifier: GPL-2.0-or-later
//
// See prompt.h.
#include "lattop/view/prompt.h"

namespace lattop {
namespace {

constexpr std::size_t kMaxBytes = 256;
constexpr char32_t kControlU = 0x15;

void drop_last_character(std::string& text) {
    while (!text.empty()) {
        const auto byte = static_cast<unsigned char>(text.back());
        text.pop_back();
        if ((byte & 0xc0U) != 0x80) return;  // not a byte inside a character
    }
}

}  // namespace

Prompt::Result Prompt::handle(Key key) {
    switch (key.code) {
        case KeyCode::Enter: return Result::Done;
        case KeyCode::Escape:
        case KeyCode::F10: return Result::Cancelled;
        case KeyCode::Backspace: drop_last_character(text_); return Result::Editing;
        case KeyCode::Character: break;
        default: return Result::Editing;
    }
    if (key.character == kControlU)
        text_.clear();
    else if (key.character >= U' ' && key.character != 0x7f && text_.size() < kMaxBytes)
        append_utf8(text_, key.character);
    return Result::Editing;
}

void Prompt::draw(Canvas& canvas, int y) const {
    canvas.clear_row(y);
    int x = canvas.put(0, y, label_, Style::KeyLabel);
    x = canvas.put(x + 1, y, text_, Style::Strong);
    canvas.put(x, y, "_", Style::Strong);
}

}  // namespace lattop
