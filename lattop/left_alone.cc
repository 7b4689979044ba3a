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
    return kept_.contains(program) || (known != programs_.end() && now < known->second);
}

bool LeftAlone::user(Payer payer, Time now) const {
    const std::lock_guard guard(lock_);
    const auto its = [&](const auto& kept) { return kept.second == payer; };
    if (payer == kNoPayer || payer == kRootPayer) return false;
    if (std::ranges::count_if(kept_, its) >= kUserKept) return true;
    const auto known = users_.find(payer);
    return known != users_.end() && known->second - now > times_ * kUserLooks * patience_;
}

void LeftAlone::note(const ProgramId& program, Payer payer, Span took, Time now) {
    const std::lock_guard guard(lock_);
    forget_old(now);
    programs_[program] = now + times_ * std::min(took, patience_);
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
    programs_[program] = now + times_ * patience_;
}

/// Never so much that he would be left alone for longer than one program is.
void LeftAlone::charge(Payer payer, Span took, Time now) {
    if (payer == kNoPayer || payer == kRootPayer) return;
    Time& paid = users_.try_emplace(payer, now).first->second;
    paid = std::min(std::max(paid, now) + times_ * std::min(took, patience_),
                    now + times_ * (kUserLooks + 1) * patience_);
}

void LeftAlone::forget_old(Time now) {
    const auto over = [&](const auto& noted) { return noted.second <= now; };
    std::erase_if(programs_, over);
    std::erase_if(users_, over);
}

}  // namespace lattop
