// SPDX-License-Identifier: GPL-2.0-or-later
//
// See left_alone.h.
#include "lattop/left_alone.h"

#include <algorithm>

namespace lattop {
namespace {

/// What a user's programs may take before all of them are left alone, in patiences.
constexpr int kUserLooks = 2;

}  // namespace

bool LeftAlone::program(const ProgramId& program, Time now) const {
    const std::lock_guard guard(lock_);
    const auto known = programs_.find(program);
    return kept_.contains(program) ||
           (known != programs_.end() && known->second - now > program_free());
}

bool LeftAlone::user(Payer payer, Time now) const {
    const std::lock_guard guard(lock_);
    const auto its = [&](const auto& kept) { return kept.second == payer; };
    if (!counts(payer)) return false;
    if (static_cast<std::size_t>(std::ranges::count_if(kept_, its)) >= limits_.kept) return true;
    const auto known = users_.find(payer);
    return known != users_.end() && known->second - now > user_free();
}

bool LeftAlone::either(const ProgramId& program, Payer payer, Time now) const {
    return counts(payer) && (this->program(program, now) || user(payer, now));
}

void LeftAlone::note(const ProgramId& program, Payer payer, Span took, Time now) {
    const std::lock_guard guard(lock_);
    forget_old(now);
    add(programs_.try_emplace(program, now).first->second, program_free(), took, now);
    charge(payer, took, now);
}

void LeftAlone::keep(const ProgramId& program, Payer payer) {
    const std::lock_guard guard(lock_);
    kept_.emplace(program, payer);
}

void LeftAlone::let_go(const ProgramId& program) {
    const std::lock_guard guard(lock_);
    kept_.erase(program);
}

void LeftAlone::left_behind(Payer payer, Span took, Time now) {
    const std::lock_guard guard(lock_);
    forget_old(now);
    charge(payer, took, now);
}

void LeftAlone::through(const ProgramId& program, Time now) {
    const std::lock_guard guard(lock_);
    kept_.erase(program);
    programs_[program] = now + program_free() + limits_.times * limits_.patience;
}

/// Half a patience: the first look at one whose files are large, or lie on a slow disk.
LeftAlone::Span LeftAlone::program_free() const {
    return limits_.times * limits_.patience / 2;
}

LeftAlone::Span LeftAlone::user_free() const {
    return limits_.times * kUserLooks * limits_.patience;
}

void LeftAlone::charge(Payer payer, Span took, Time now) {
    if (!counts(payer)) return;
    add(users_.try_emplace(payer, now).first->second, user_free(), took, now);
}

/// Never so much that it would be left alone for longer than for one look.
void LeftAlone::add(Time& paid, Span free, Span took, Time now) const {
    paid = std::min(std::max(paid, now) + limits_.times * std::min(took, limits_.most),
                    now + free + limits_.times * limits_.most);
}

void LeftAlone::forget_old(Time now) {
    const auto over = [&](const auto& noted) { return noted.second <= now; };
    std::erase_if(programs_, over);
    std::erase_if(users_, over);
}

}  // namespace lattop
