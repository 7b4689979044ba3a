// SPDX-License-Identifier: GPL-2.0-or-later
//
// The terminal through curses. The only file that knows curses is this one's
// .cc; the only place that catches signals is there too.
#pragma once

#include <memory>

#include "lattop/term/terminal.h"

namespace lattop {

/// Takes the terminal over and gives it back as it was, however the program
/// ends: by its own will, by an exception, by SIGINT, SIGTERM, SIGHUP, SIGQUIT.
/// Blocks these signals and SIGTSTP, SIGCONT, SIGWINCH, and reads them beside
/// the keys: make it before any thread, so that none gets them.
class CursesTerminal final : public Terminal {
public:
    /// Throws Error where the terminal's type is not known. Without `colour`
    /// attributes do the same; without `mouse` the terminal keeps it.
    CursesTerminal(Charset charset, bool colour, bool mouse);
    ~CursesTerminal() override;

    [[nodiscard]] Size size() const override;
    [[nodiscard]] Charset charset() const override { return charset_; }
    void show(const Canvas& canvas) override;
    void redraw() override;
    void copy(const std::string& text) override;
    Event wait(std::optional<std::chrono::steady_clock::time_point> until,
               const ReadyFds& ready) override;

private:
    struct Curses;

    std::optional<Event> take_signal();
    void stop_and_resume();
    void fit_window();

    Charset charset_;
    std::unique_ptr<Curses> curses_;
};

}  // namespace lattop
