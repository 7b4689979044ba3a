// SPDX-License-Identifier: GPL-2.0-or-later
//
// See left_alone.h.
#include "lattop/left_alone.h"

#include <algorithm>

namespace lattop {
namespace {

/// What a user's programs may take before all of them are left alone, in patiences.
constexpr int kUserLooks = 2;

/// Threads that one user's programs keep before that, half of all (kMaxKept).
constexpr std::ptrdiff_t kUserKept = 8;

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
    if (payer == kNoPayer || payer == kRootPayer) return false;
    if (std::ranges::count_if(kept_, its) >= kUserKept) return true;
    const auto known = users_.find(payer);
    return known != users_.end() && known->second - now > user_free();
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

void LeftAlone::left_behind(Payer payer, Time now) {
    const std::lock_guard guard(lock_);
    forget_old(now);
    charge(payer, patience_, now);
}

void LeftAlone::through(const ProgramId& program, Time now) {
    const std::lock_guard guard(lock_);
    kept_.erase(program);
    programs_[program] = now + program_free() + times_ * patience_;
}

/// Half a patience: the first look at one whose files are large, or lie on a slow disk.
LeftAlone::Span LeftAlone::program_free() const {
    return times_ * patience_ / 2;
}

LeftAlone::Span LeftAlone::user_free() const {
    return times_ * kUserLooks * patience_;
}

void LeftAlone::charge(Payer payer, Span took, Time now) {
    if (payer == kNoPayer || payer == kRootPayer) return;
    add(users_.try_emplace(payer, now).first->second, user_free(), took, now);
}

/// Never so much that it would be left alone for longer than for one look.
void LeftAlone::add(Time& paid, Span free, Span took, Time now) const {
    paid = std::min(std::max(paid, now) + times_ * std::min(took, patience_),
                    now + free + times_ * patience_);
}

void LeftAlone::forget_old(Time now) {
    const auto over = [&](const auto& noted) { return noted.second <= now; };
    std::erase_if(programs_, over);
    std::erase_if(users_, over);
}

}  // namespace lattop
