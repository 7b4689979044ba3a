// SPDX-License-Identifier: GPL-2.0-or-later
//
// See walk_messages.h. The first byte of what a walker says is which of WalkMessage it is; that of
// an answer, whether there is one: no message is empty.
#include "unwind/walk_messages.h"

#include "unwind/byte_reader.h"
#include "unwind/image_messages.h"

namespace lattop {
namespace {

enum class WalkSays : std::uint8_t { Page, Table, Walk };

constexpr std::uint8_t kNone = 0;
constexpr std::uint8_t kThere = 1;

std::vector<std::uint8_t> taken(const MessageWriter& message) {
    const auto bytes = message.bytes();
    return {bytes.begin(), bytes.end()};
}

void write(MessageWriter& message, const PageWanted& page) {
    message.fixed(WalkSays::Page);
    message.fixed(page.address);
}

void write(MessageWriter& message, const TableWanted& table) {
    message.fixed(WalkSays::Table);
    message.fixed(table.pc);
}

void write(MessageWriter& message, const StackWalk& walk) {
    message.fixed(WalkSays::Walk);
    message.fixed(walk.end);
    message.fixed(walk.error);
    message.fixed(static_cast<std::uint32_t>(walk.frames.size()));
    for (const LiveFrame& frame : walk.frames) {
        message.fixed(frame.pc);
        message.fixed(frame.sp);
    }
}

std::optional<StackWalk> read_walk(ByteReader& reader) {
    StackWalk walk;
    const std::uint8_t end = reader.byte();
    walk.end = static_cast<StackEnd>(end);
    walk.error = reader.byte();
    const auto count = reader.fixed<std::uint32_t>();
    if (end > static_cast<std::uint8_t>(StackEnd::Failed) || count > kMaxStackFrames)
        return std::nullopt;
    for (std::uint32_t i = 0; i < count && reader.ok(); ++i) {
        LiveFrame frame;
        frame.pc = reader.fixed<std::uint64_t>();
        frame.sp = reader.fixed<std::uint64_t>();
        walk.frames.push_back(frame);
    }
    return walk;
}

std::optional<WalkMessage> read_said(ByteReader& reader) {
    switch (static_cast<WalkSays>(reader.byte())) {
        case WalkSays::Page: {
            const PageWanted page{reader.fixed<std::uint64_t>()};
            if (page.address % kWalkPageBytes != 0) return std::nullopt;
            return page;
        }
        case WalkSays::Table: return TableWanted{reader.fixed<std::uint64_t>()};
        case WalkSays::Walk: return read_walk(reader);
    }
    return std::nullopt;
}

}  // namespace

std::vector<std::uint8_t> to_message(const WalkMessage& said) {
    MessageWriter message;
    std::visit([&](const auto& one) { write(message, one); }, said);
    return taken(message);
}

std::optional<WalkMessage> walk_message_of(std::span<const std::uint8_t> message) {
    ByteReader reader(message);
    auto said = read_said(reader);
    if (!reader.ok() || !reader.empty()) return std::nullopt;
    return said;
}

std::vector<std::uint8_t> to_message(const ThreadRegisters& registers) {
    MessageWriter message;
    for (const auto& value : registers.values) {
        message.fixed(value ? kThere : kNone);
        message.fixed(value.value_or(0));
    }
    return taken(message);
}

std::optional<ThreadRegisters> registers_of(std::span<const std::uint8_t> message) {
    ByteReader reader(message);
    ThreadRegisters registers;
    for (auto& value : registers.values) {
        const bool there = reader.byte() != kNone;
        const auto word = reader.fixed<std::uint64_t>();
        if (there) value = word;
    }
    if (!reader.ok() || !reader.empty()) return std::nullopt;
    return registers;
}

std::vector<std::uint8_t> page_message(std::span<const std::uint8_t> page) {
    std::vector<std::uint8_t> message;
    message.reserve(1 + page.size());
    message.push_back(page.empty() ? kNone : kThere);
    message.insert(message.end(), page.begin(), page.end());
    return message;
}

std::span<const std::uint8_t> page_of(std::span<const std::uint8_t> message) {
    if (message.empty() || message.front() == kNone || message.size() > 1 + kWalkPageBytes)
        return {};
    return message.subspan(1);
}

std::vector<std::uint8_t> table_message(const std::optional<WalkTable>& table) {
    MessageWriter message;
    message.fixed(table ? kThere : kNone);
    const WalkTable values = table.value_or(WalkTable{});
    for (const std::uint64_t value :
         {values.base, values.entries, values.count, values.start, values.end})
        message.fixed(value);
    return taken(message);
}

std::optional<WalkTable> table_of(std::span<const std::uint8_t> message) {
    ByteReader reader(message);
    const bool there = reader.byte() != kNone;
    WalkTable table;
    for (std::uint64_t* value :
         {&table.base, &table.entries, &table.count, &table.start, &table.end})
        *value = reader.fixed<std::uint64_t>();
    if (!there || !reader.ok() || !reader.empty()) return std::nullopt;
    return table;
}

}  // namespace lattop
