// SPDX-License-Identifier: GPL-2.0-or-later
//
// See keymap.h. Where htop has a key for the same thing, it is the same key; o
// and a are iotop's.
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
    {special(KeyCode::Tab), Command::NextView},
    {special(KeyCode::BackTab), Command::PreviousView},
    {character(U'1'), Command::ShowView, Column::Blocked, View::Tasks},
    {character(U'2'), Command::ShowView, Column::Blocked, View::Processes},
    {character(U'3'), Command::ShowView, Column::Blocked, View::Stacks},
    {character(U'4'), Command::ShowView, Column::Blocked, View::Reasons},
    {character(U'5'), Command::ShowView, Column::Blocked, View::Cgroups},
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
    {character(U'o'), Command::ToggleActive},
    {character(U'i'), Command::ToggleIdle},
    {character(U'a'), Command::ToggleInterval},
    {special(KeyCode::F5), Command::ToggleTree},
    {character(U't'), Command::ToggleTree},
    {character(U'-'), Command::Fold},
    {character(U'+'), Command::Unfold},
    {character(U'='), Command::Unfold},
    {character(U'F'), Command::Follow},
    {character(U' '), Command::Tag},
    {character(U'c'), Command::TagProcess},
    {character(U'U'), Command::UntagAll},
    {character(U'v'), Command::ToggleTagged},
    {character(U'y'), Command::CopyStack},
    {special(KeyCode::F2), Command::Columns},
    {character(U'C'), Command::Columns},
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
    {"1 2 3 4 5", "tasks, processes, call stacks, reasons, cgroups"},
    {"Tab Shift-Tab", "the next view, the one before"},
    {"Up Down k j", "select a row; in the pane, a stack"},
    {"PgUp PgDn", "a page; in the pane, scroll its lines"},
    {"Left Right", "in the pane, scroll long frames"},
    {"Home End g G", "first, last"},
    {"Enter", "open the pane with the stacks of the row; again: keys go there"},
    {"Esc", "leave the pane, close it, the help; clear search and filter"},
    {"F3 /", "search pid, user, cgroup, command, frame, reason; n: the next"},
    {"F4 \\", "show only what holds a word; several with |"},
    {"F5 t", "processes with their tasks below; - and + fold and unfold one"},
    {"F6", "choose the column to sort by"},
    {"< >", "sort by the column to the left, to the right"},
    {"I", "invert the order"},
    {"P T O M S R N", "sort by BLK% or WAIT, BLOCKED, ONGOING, MAX, SLP/s, RUNQ, PID"},
    {"a", "figures of the last interval, or since load or reset"},
    {"K", "hide kernel threads"},
    {"X", "hide exited tasks"},
    {"i", "hide sleeps that are waiting for work, as reasons.conf has it"},
    {"o", "only tasks that began a sleep in the last interval"},
    {"F", "follow the selected row wherever it goes, also the first one"},
    {"Space c U", "tag a task or process; a task's process; untag all"},
    {"v", "only what is tagged, in every view"},
    {"y", "copy the open stack as a folded line to the clipboard"},
    {"F2 C", "choose the columns and their order; they are kept"},
    {"Z", "pause, go on"},
    {"d s", "change the delay"},
    {"Ctrl-L", "refresh now, and draw everything anew"},
    {"r", "reset all figures of the module, for everybody (administrators)"},
    {", . [ ]", "in a recording, a snapshot back, on; a tenth of it back, on"},
    {"F1 h ?", "this help"},
    {"F10 q", "quit"},
});

constexpr auto kBar = std::to_array<BarItem>({
    {"F1", "Help", special(KeyCode::F1)},
    {"F2", "Columns", special(KeyCode::F2)},
    {"F3", "Search", special(KeyCode::F3)},
    {"F4", "Filter", special(KeyCode::F4)},
    {"F5", "Tree", special(KeyCode::F5)},
    {"F6", "Sort", special(KeyCode::F6)},
    {"Enter", "Stacks", special(KeyCode::Enter)},
    {"Z", "Pause", character(U'Z')},
    {"F10", "Quit", special(KeyCode::F10)},
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

std::span<const BarItem> key_bar() {
    return kBar;
}

}  // namespace lattop
