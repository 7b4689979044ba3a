// SPDX-License-Identifier: GPL-2.0-or-later
//
// See walk_answers.h.
#include "unwind/walk_answers.h"

#include <utility>
#include <variant>

namespace lattop {

std::optional<std::vector<std::uint8_t>> WalkAnswers::answer(
    std::span<const std::uint8_t> message) {
    auto said = walk_message_of(message);
    if (!said) return std::nullopt;
    if (auto* walk = std::get_if<StackWalk>(&*said)) {
        walk_ = std::move(*walk);
        return std::nullopt;
    }
    if (++questions_ > kMaxWalkQuestions) return std::nullopt;
    if (const auto* page = std::get_if<PageWanted>(&*said))
        return page_message(process_.page_at(page->address));
    return table_message(process_.table_at(std::get<TableWanted>(*said).pc));
}

}  // namespace lattop
