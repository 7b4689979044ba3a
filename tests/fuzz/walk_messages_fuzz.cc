// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a process that walks a stack says to who asked it: whatever it is, it is refused, or
// answered within limits, and of the walk that comes of it the frames are as many as there may be;
// and what was written is read again.
//
// The bytes are messages, each behind its length as two bytes.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "tests/fuzz/require.h"
#include "unwind/byte_reader.h"
#include "unwind/image_messages.h"
#include "unwind/walk_answers.h"
#include "unwind/walk_messages.h"

namespace {

/// Every second page and table is there. What is asked for must be what may be asked for.
class HalfAProcess final : public lattop::WalkedProcess {
public:
    std::span<const std::uint8_t> page_at(std::uint64_t address) override {
        REQUIRE(address % lattop::kWalkPageBytes == 0);
        ++asked_;
        const std::uint64_t number = address / lattop::kWalkPageBytes;
        if (number % 2 != 0) return {};
        return std::span(page_).first(number % 4 == 0 ? page_.size() : 8);
    }
    std::optional<lattop::WalkTable> table_at(std::uint64_t pc) override {
        ++asked_;
        if (pc % 2 != 0) return std::nullopt;
        return lattop::WalkTable{.base = pc, .entries = pc + 1, .count = 3, .start = 4, .end = 5};
    }
    [[nodiscard]] std::size_t asked() const { return asked_; }

private:
    std::array<std::uint8_t, lattop::kWalkPageBytes> page_{1, 2, 3};
    std::size_t asked_ = 0;
};

void check_walk(const lattop::StackWalk& walk) {
    REQUIRE(walk.frames.size() <= lattop::kMaxStackFrames);
    REQUIRE(walk.end <= lattop::StackEnd::Failed);
}

void check_said(std::span<const std::uint8_t> message) {
    const auto said = lattop::walk_message_of(message);
    if (!said) return;
    REQUIRE(lattop::walk_message_of(lattop::to_message(*said)) == said);
    if (const auto* walk = std::get_if<lattop::StackWalk>(&*said)) check_walk(*walk);
}

/// The other side trusts who it asks, but reads no further than what there is.
void check_answers_read(std::span<const std::uint8_t> message) {
    REQUIRE(lattop::page_of(message).size() <= lattop::kWalkPageBytes);
    if (const auto table = lattop::table_of(message))
        REQUIRE(lattop::table_of(lattop::table_message(table)) == table);
    if (const auto registers = lattop::registers_of(message)) {
        const auto again = lattop::registers_of(lattop::to_message(*registers));
        REQUIRE(again && again->values == registers->values);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    HalfAProcess process;
    lattop::WalkAnswers answers(process);
    std::size_t answered = 0;
    std::span<const std::uint8_t> rest(data, size);
    while (!answers.walk() && !rest.empty()) {
        lattop::ByteReader reader(rest);
        const std::size_t bytes = reader.fixed<std::uint16_t>();
        const auto message = reader.rest().first(std::min(bytes, reader.rest().size()));
        rest = reader.rest().subspan(message.size());
        check_said(message);
        check_answers_read(message);
        const auto answer = answers.answer(message);
        if (!answer) continue;  // where lattop ends the other side
        ++answered;
        REQUIRE(!answer->empty() && answer->size() <= 1 + lattop::kWalkPageBytes);
    }
    REQUIRE(process.asked() == answered && answered <= lattop::kMaxWalkQuestions);
    if (answers.walk()) check_walk(*answers.walk());
    return 0;
}
