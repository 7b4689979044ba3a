// SPDX-License-Identifier: GPL-2.0-or-later
//
// See keymap.h. Where htop has a key for the same thing, it is the same key;
// digits are kept for choosing a view.
#include "lattop/view/keymap.h"

#include <algorithm>
#include <array>

namespace lattop {
namespace {

constexpr Key character(char32_t c) {
    return {KeyCode::Character, c};
}

constexpr Key special(KeyCode code) {
    return {code, 0};
}

constexpr char32_t kControlL = 0x0c;

constexpr auto kBindings = std::to_array<Binding>({
    {special(KeyCode::Up), Command::Up},
    {character(U'k'), Command::Up},
    {special(KeyCode::Down), Command::Down},
    {character(U'j'), Command::Down},
    {special(KeyCode::Left), Command::Left},
    {special(KeyCode::Right), Command::Right},
    {special(KeyCode::PageUp), Command::PageUp},
    {special(KeyCode::PageDown), Command::PageDown},
    {special(KeyCode::Home), Command::Home},
    {character(U'g'), Command::Home},
    {special(KeyCode::End), Command::End},
    {character(U'G'), Command::End},
    {special(KeyCode::Enter), Command::Open},
    {special(KeyCode::Tab), Command::SwitchFocus},
    {special(KeyCode::Escape), Command::Close},
    {special(KeyCode::F1), Command::Help},
    {character(U'h'), Command::Help},
    {character(U'?'), Command::Help},
    {special(KeyCode::F3), Command::Search},
    {character(U'/'), Command::Search},
    {character(U'n'), Command::SearchNext},
    {special(KeyCode::F4), Command::Filter},
    {character(U'\\'), Command::Filter},
    {special(KeyCode::F6), Command::SortMenu},
    {character(U'<'), Command::SortLeft},
    {character(U'>'), Command::SortRight},
    {character(U'P'), Command::SortBy, Column::Share},
    {character(U'T'), Command::SortBy, Column::Blocked},
    {character(U'O'), Command::SortBy, Column::Ongoing},
    {character(U'M'), Command::SortBy, Column::Max},
    {character(U'S'), Command::SortBy, Column::SleepRate},
    {character(U'R'), Command::SortBy, Column::Runq},
    {character(U'N'), Command::SortBy, Column::Pid},
    {character(U'I'), Command::Invert},
    {character(U'K'), Command::ToggleKernelThreads},
    {character(U'X'), Command::ToggleExited},
    {character(U'i'), Command::ToggleIdle},
    {character(U' '), Command::Pause},
    {character(U'Z'), Command::Pause},
    {character(U'd'), Command::Delay},
    {character(U's'), Command::Delay},
    {character(kControlL), Command::Refresh},
    {character(U'r'), Command::Reset},
    {character(U','), Command::StepBack},
    {character(U'.'), Command::StepOn},
    {character(U'['), Command::JumpBack},
    {character(U']'), Command::JumpOn},
    {character(U'q'), Command::Quit},
    {special(KeyCode::F10), Command::Quit},
});

constexpr auto kHelp = std::to_array<HelpLine>({
    {"Up Down k j", "select a task; in the pane, a stack"},
    {"PgUp PgDn", "a page; in the pane, scroll its lines"},
    {"Left Right", "in the pane, scroll long frames"},
    {"Home End g G", "first, last"},
    {"Enter", "open the pane with the stacks of the task"},
    {"Tab", "keys go to the pane, or back to the table"},
    {"Esc", "close the pane, the help; clear search and filter"},
    {"F3 /", "search pid, user, command, top frame; n: the next one"},
    {"F4 \\", "show only what holds a word; several with |"},
    {"F6", "choose the column to sort by"},
    {"< >", "sort by the column to the left, to the right"},
    {"I", "invert the order"},
    {"P T O M S R N", "sort by BLK%, BLOCKED, ONGOING, MAX, SLP/s, RUNQ, PID"},
    {"K", "hide kernel threads"},
    {"X", "hide exited tasks"},
    {"i", "hide tasks that did not begin a sleep in the last interval"},
    {"Space Z", "pause, go on"},
    {"d s", "change the delay"},
    {"Ctrl-L", "refresh now, and draw everything anew"},
    {"r", "reset all figures of the module, for everybody (administrators)"},
    {", . [ ]", "in a recording, a snapshot back, on; a tenth of it back, on"},
    {"F1 h ?", "this help"},
    {"F10 q", "quit"},
});

constexpr auto kBar = std::to_array<HelpLine>({
    {"F1", "Help"},
    {"Enter", "Stacks"},
    {"F3", "Search"},
    {"F4", "Filter"},
    {"F6", "Sort"},
    {"Space", "Pause"},
    {"F10", "Quit"},
});

}  // namespace

std::optional<Binding> binding_of(Key key) {
    const auto* found = std::ranges::find(kBindings, key, &Binding::key);
    if (found == kBindings.end()) return std::nullopt;
    return *found;
}

std::span<const HelpLine> key_help() {
    return kHelp;
}

std::span<const HelpLine> key_bar() {
    return kBar;
}

}  // namespace lattop
