// SPDX-License-Identifier: GPL-2.0-or-later
//
// See curses_terminal.h. Signals are blocked and read from a descriptor, so
// nothing ever runs in a signal handler, and a key, a signal, names and the
// next refresh are all waited for in one poll(2).
#include "lattop/term/curses_terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <span>
#include <string>
#include <system_error>

#include "lattop/source/error.h"
#include "lattop/term/clipboard.h"
#include "unwind/unique_fd.h"

#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <curses.h>

// Constants of curses are casts.
#pragma GCC diagnostic ignored "-Wold-style-cast"

namespace lattop {
namespace {

/// How long a lone Escape is waited for to become a longer sequence.
constexpr int kEscapeMs = 25;

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH};

sigset_t signal_set(std::span<const int> signals = kSignals) {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int signal : signals)
        ::sigaddset(&set, signal);
    return set;
}

/// Stops this process, as ^Z stops one that does not look at signals: not where no shell would
/// continue it (an orphaned process group), which SIGSTOP would stop too.
void stop_for_shell() {
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    struct sigaction of_curses {};
    const sigset_t set = signal_set(std::array{SIGTSTP});
    ::sigaction(SIGTSTP, &usual, &of_curses);
    ::raise(SIGTSTP);
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    ::sigaction(SIGTSTP, &of_curses, nullptr);
}

/// How styles look: foreground and background where there is colour, attributes
/// in any case. The order is that of Style.
struct Look {
    short foreground, background;
    attr_t with_colour, without;
};

constexpr short kDefault = -1;
const auto kLooks = std::to_array<Look>({
    {kDefault, kDefault, A_NORMAL, A_NORMAL},                             // Normal
    {kDefault, kDefault, A_DIM, A_DIM},                                   // Dim
    {kDefault, kDefault, A_BOLD, A_BOLD},                                 // Strong
    {COLOR_BLACK, COLOR_GREEN, A_NORMAL, A_REVERSE},                      // Title
    {COLOR_BLACK, COLOR_CYAN, A_BOLD, A_REVERSE | A_BOLD | A_UNDERLINE},  // SortTitle
    {COLOR_BLACK, COLOR_CYAN, A_NORMAL, A_REVERSE | A_BOLD},              // Selected
    {COLOR_BLACK, COLOR_WHITE, A_NORMAL, A_UNDERLINE},                    // SelectedDim
    {COLOR_YELLOW, kDefault, A_BOLD, A_BOLD | A_UNDERLINE},               // Tagged
    {COLOR_GREEN, kDefault, A_NORMAL, A_BOLD},                            // User
    {COLOR_CYAN, kDefault, A_NORMAL, A_NORMAL},                           // Kernel
    {COLOR_RED, kDefault, A_BOLD, A_STANDOUT | A_BOLD},                   // Alarm
    {kDefault, kDefault, A_BOLD, A_BOLD},                                 // KeyName
    {COLOR_BLACK, COLOR_CYAN, A_NORMAL, A_REVERSE},                       // KeyLabel
});

/// What curses calls a key, as ours; nothing for keys that lattop has no use for.
std::optional<Key> special_key(wint_t code) {
    if (code >= static_cast<wint_t>(KEY_F(1)) && code <= static_cast<wint_t>(KEY_F(10)))
        return Key{
            static_cast<KeyCode>(static_cast<int>(KeyCode::F1) + static_cast<int>(code) - KEY_F(1)),
            0};
    switch (static_cast<int>(code)) {
        case KEY_UP: return Key{KeyCode::Up, 0};
        case KEY_DOWN: return Key{KeyCode::Down, 0};
        case KEY_LEFT: return Key{KeyCode::Left, 0};
        case KEY_RIGHT: return Key{KeyCode::Right, 0};
        case KEY_PPAGE: return Key{KeyCode::PageUp, 0};
        case KEY_NPAGE: return Key{KeyCode::PageDown, 0};
        case KEY_HOME: return Key{KeyCode::Home, 0};
        case KEY_END: return Key{KeyCode::End, 0};
        case KEY_BTAB: return Key{KeyCode::BackTab, 0};
        case KEY_ENTER: return Key{KeyCode::Enter, 0};
        case KEY_BACKSPACE: return Key{KeyCode::Backspace, 0};
        default: return std::nullopt;
    }
}

Key character_key(wint_t character) {
    switch (character) {
        case L'\r':
        case L'\n': return {KeyCode::Enter, 0};
        case L'\t': return {KeyCode::Tab, 0};
        case L'\x1b': return {KeyCode::Escape, 0};
        case L'\b':
        case L'\x7f': return {KeyCode::Backspace, 0};
        default: return {KeyCode::Character, static_cast<char32_t>(character)};
    }
}

constexpr mmask_t kMouse = BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED;

std::optional<Event> mouse_event() {
    MEVENT event{};
    if (::getmouse(&event) != OK) return std::nullopt;
    Mouse mouse{Mouse::Kind::Press, event.x, event.y};
    if ((event.bstate & BUTTON4_PRESSED) != 0)
        mouse.kind = Mouse::Kind::WheelUp;
    else if ((event.bstate & BUTTON5_PRESSED) != 0)
        mouse.kind = Mouse::Kind::WheelDown;
    else if ((event.bstate & BUTTON1_PRESSED) == 0)
        return std::nullopt;
    return Event{Event::Kind::Mouse, {}, mouse};
}

/// The next key or click that curses has, or can read without waiting.
std::optional<Event> read_input() {
    for (;;) {
        wint_t code = 0;
        const int kind = ::wget_wch(stdscr, &code);
        if (kind == ERR) return std::nullopt;
        if (kind != KEY_CODE_YES) return Event{Event::Kind::Key, character_key(code)};
        if (static_cast<int>(code) == KEY_MOUSE) {
            if (const auto event = mouse_event()) return event;
        } else if (const auto key = special_key(code)) {
            return Event{Event::Kind::Key, *key};
        }
    }
}

timespec time_left(std::chrono::steady_clock::time_point until) {
    const auto left = std::max(until - std::chrono::steady_clock::now(),
                               std::chrono::steady_clock::duration::zero());
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(left - seconds);
    return {seconds.count(), rest.count()};
}

}  // namespace

/// Everything that is to be given back, in the order it was taken.
struct CursesTerminal::Curses {
    Curses(bool want_colour, bool want_mouse) {
        const sigset_t set = signal_set();
        ::pthread_sigmask(SIG_BLOCK, &set, &mask_before);
        signals = UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
        if (!signals) throw std::system_error(errno, std::generic_category(), "signalfd");
        screen = ::newterm(nullptr, stdout, stdin);
        if (screen == nullptr) {
            ::pthread_sigmask(SIG_SETMASK, &mask_before, nullptr);
            throw Error("the terminal's type is not known (TERM)",
                        "set TERM to one that is, or use lattop -b");
        }
        prepare();
        if (want_mouse) {
            ::mouseinterval(0);  // a press counts at once, and not as half of a click
            ::mousemask(kMouse, nullptr);
        }
        if (want_colour && ::has_colors() && ::start_color() == OK) {
            const bool defaults = ::use_default_colors() == OK;
            colour = true;
            for (std::size_t i = 0; i < kLooks.size(); ++i)
                ::init_pair(static_cast<short>(i + 1), or_plain(kLooks[i].foreground, defaults, 7),
                            or_plain(kLooks[i].background, defaults, 0));
        }
    }
    Curses(const Curses&) = delete;
    Curses& operator=(const Curses&) = delete;
    ~Curses() {
        if (!takes_output()) start_output();
        ::endwin();
        ::delscreen(screen);
        ::pthread_sigmask(SIG_SETMASK, &mask_before, nullptr);
    }

    static void prepare() {
        ::set_escdelay(kEscapeMs);
        ::cbreak();
        ::noecho();
        ::nonl();
        ::keypad(stdscr, TRUE);
        ::nodelay(stdscr, TRUE);
        ::curs_set(0);
        ::typeahead(-1);  // no poll(2) for keys between the lines of a screen
        // Until the screen has been left once, curses writes every movement of
        // the cursor by a write(2) of its own.
        ::endwin();
        ::wrefresh(stdscr);
    }

    /// Whether what is written now does not have to wait; one that was stopped (^S) takes none.
    static bool takes_output() {
        pollfd output{STDOUT_FILENO, POLLOUT, 0};
        return ::poll(&output, 1, 0) != 0;
    }

    /// As ^Q does: who ends lattop, from elsewhere, wants the terminal back.
    static void start_output() {
        ::tcflow(STDOUT_FILENO, TCOOFF);
        ::tcflow(STDOUT_FILENO, TCOON);
    }

    /// Until the terminal takes output. False where there is a signal to be taken first: while
    /// this program waits in write(2) it takes none.
    [[nodiscard]] bool wait_for_output() const {
        std::array<pollfd, 2> fds = {{{STDOUT_FILENO, POLLOUT, 0}, {signals.get(), POLLIN, 0}}};
        while (::poll(fds.data(), fds.size(), -1) < 0 && errno == EINTR) {
        }
        return fds[0].revents != 0;
    }

    /// Terminals that cannot go back to their default colours get plain ones.
    static short or_plain(short wanted, bool defaults, short plain) {
        return wanted == kDefault && !defaults ? plain : wanted;
    }

    void put_run(int x, int y, const std::wstring& run, Style style) const {
        const Look& look = kLooks.at(static_cast<std::size_t>(style));
        const auto pair = static_cast<short>(colour ? static_cast<int>(style) + 1 : 0);
        ::wattr_set(stdscr, colour ? look.with_colour : look.without, pair, nullptr);
        ::wmove(stdscr, y, x);
        ::waddnwstr(stdscr, run.c_str(), static_cast<int>(run.size()));
    }

    sigset_t mask_before{};
    UniqueFd signals;
    SCREEN* screen = nullptr;
    bool colour = false;
};

CursesTerminal::CursesTerminal(Charset charset, bool colour, bool mouse)
    : charset_(charset), curses_(std::make_unique<Curses>(colour, mouse)) {}

CursesTerminal::~CursesTerminal() = default;

Size CursesTerminal::size() const {
    return {::getmaxx(stdscr), ::getmaxy(stdscr)};
}

void CursesTerminal::show(const Canvas& canvas) {
    if (!curses_->wait_for_output()) return;
    ::werase(stdscr);
    for (int y = 0; y < canvas.height(); ++y) {
        std::wstring run;
        int begin = 0;
        for (int x = 0; x < canvas.width(); ++x) {
            const Cell& cell = canvas.at(x, y);
            if (!run.empty() && cell.style != canvas.at(begin, y).style) {
                curses_->put_run(begin, y, run, canvas.at(begin, y).style);
                run.clear();
            }
            if (run.empty()) begin = x;
            if (cell.character != 0) run += static_cast<wchar_t>(cell.character);
        }
        if (!run.empty()) curses_->put_run(begin, y, run, canvas.at(begin, y).style);
    }
    ::wrefresh(stdscr);
}

void CursesTerminal::redraw() {
    ::clearok(curscr, TRUE);
}

/// Between two frames: curses has written all of the last one.
void CursesTerminal::copy(const std::string& text) {
    std::fputs(clipboard_sequence(text).c_str(), stdout);
    std::fflush(stdout);
}

/// The terminal's size by now.
void CursesTerminal::fit_window() {
    winsize window{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_row > 0 && window.ws_col > 0)
        ::resizeterm(window.ws_row, window.ws_col);
}

/// Ctrl-Z: leaves the terminal to the shell until it is continued.
void CursesTerminal::stop_and_resume() {
    ::endwin();
    stop_for_shell();
    ::reset_prog_mode();
    fit_window();
    redraw();
}

std::optional<Event> CursesTerminal::take_signal() {
    signalfd_siginfo info{};
    if (::read(curses_->signals.get(), &info, sizeof(info)) != sizeof(info)) return std::nullopt;
    switch (static_cast<int>(info.ssi_signo)) {
        case SIGTSTP: stop_and_resume(); return Event{Event::Kind::Resize};
        case SIGCONT:
            // Stopped by SIGSTOP, perhaps: the shell may have changed the modes.
            ::reset_prog_mode();
            [[fallthrough]];
        case SIGWINCH: fit_window(); return Event{Event::Kind::Resize};
        default: return Event{Event::Kind::Quit};
    }
}

Event CursesTerminal::wait(std::optional<std::chrono::steady_clock::time_point> until,
                           const ReadyFds& ready) {
    for (;;) {
        // Reading keys draws a window of another size, and may so wait for the terminal.
        if (const auto event = take_signal()) return *event;
        // What curses read already but did not give yet.
        if (const auto event = read_input()) return *event;
        std::array<pollfd, 4> fds = {{{STDIN_FILENO, POLLIN, 0},
                                      {curses_->signals.get(), POLLIN, 0},
                                      {ready[0], POLLIN, 0},
                                      {ready[1], POLLIN, 0}}};
        const timespec left = until ? time_left(*until) : timespec{};
        const int n = ::ppoll(fds.data(), fds.size(), until ? &left : nullptr, nullptr);
        if (n < 0 && errno != EINTR)
            throw std::system_error(errno, std::generic_category(), "ppoll");
        if (n == 0) return {};
        if (n < 0) continue;
        if (fds[1].revents != 0)
            if (const auto event = take_signal()) return *event;
        if (const auto event = read_input()) return *event;
        if ((fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) return {Event::Kind::Quit};
        if (fds[2].revents != 0 || fds[3].revents != 0) return {Event::Kind::Ready};
    }
}

}  // namespace lattop
