// SPDX-License-Identifier: GPL-2.0-or-later
//
// See names.h.
#include "lattop/recording/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "lattop/source/error.h"
#include "unwind/byte_reader.h"

namespace lattop::recording {
namespace {

constexpr std::uint32_t kNoOwn = 0xffffffff;

template <typename Number>
void put(std::string& to, Number number) {
    to.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

void put(std::string& to, const std::string& text) {
    put(to, static_cast<std::uint32_t>(text.size()));
    to += text;
}

std::string text(ByteReader& reader) {
    const auto size = reader.fixed<std::uint32_t>();
    const auto rest = reader.rest();
    reader.skip(size);
    if (!reader.ok()) return {};
    return {reinterpret_cast<const char*>(rest.data()), size};
}

/// Reads `count` things that have `least` bytes at least, so that a count out
/// of thin air is refused before anything is made room for.
std::uint32_t count(ByteReader& reader, std::size_t least) {
    const auto n = reader.fixed<std::uint32_t>();
    if (n > reader.rest().size() / least) reader.skip(reader.rest().size() + 1);
    return reader.ok() ? n : 0;
}

std::string frame_item(const UserFrame& frame) {
    std::string item = "F";
    put(item, frame.symbol);
    put(item, frame.offset);
    put(item, frame.module);
    put(item, frame.path);
    put(item, frame.file);
    put(item, frame.line);
    put(item, static_cast<std::uint32_t>(frame.inlined.size()));
    for (const InlinedFrame& inlined : frame.inlined) {
        put(item, inlined.symbol);
        put(item, inlined.file);
        put(item, inlined.line);
    }
    return item;
}

UserFramePtr read_frame(ByteReader& reader) {
    UserFrame frame;
    frame.symbol = text(reader);
    frame.offset = reader.fixed<std::uint64_t>();
    frame.module = text(reader);
    frame.path = text(reader);
    frame.file = text(reader);
    frame.line = reader.fixed<std::uint32_t>();
    constexpr std::size_t kLeastInlined = 12;
    for (std::uint32_t n = count(reader, kLeastInlined); n > 0; --n) {
        InlinedFrame inlined;
        inlined.symbol = text(reader);
        inlined.file = text(reader);
        inlined.line = reader.fixed<std::uint32_t>();
        frame.inlined.push_back(std::move(inlined));
    }
    return std::make_shared<const UserFrame>(std::move(frame));
}

StackId read_stack_id(ByteReader& reader) {
    StackId id;
    id.task.kind = reader.fixed<std::uint32_t>();
    id.task.pid = reader.fixed<std::uint32_t>();
    id.task.tgid = reader.fixed<std::uint32_t>();
    id.task.start_ns = reader.fixed<std::uint64_t>();
    id.exec_id = reader.fixed<std::uint32_t>();
    id.trace_id = reader.fixed<std::uint64_t>();
    return id;
}

}  // namespace

std::uint32_t NameBook::frame_index(const UserFrame& frame, std::string& payload) {
    std::string item = frame_item(frame);
    const auto next = static_cast<std::uint32_t>(frames_.size());
    const auto [found, added] = frames_.try_emplace(std::move(item), next);
    if (added) payload += found->first;
    return found->second;
}

void NameBook::add_stack(const StackId& id, const UserStack& stack, std::string& payload) {
    std::vector<std::uint32_t> frames;
    frames.reserve(stack.frames.size());
    for (const UserFramePtr& frame : stack.frames)
        frames.push_back(frame_index(*frame, payload));
    payload += 'S';
    put(payload, id.task.kind);
    put(payload, id.task.pid);
    put(payload, id.task.tgid);
    put(payload, id.task.start_ns);
    put(payload, id.exec_id);
    put(payload, id.trace_id);
    put(payload, stack.own == UserStack::kNone ? kNoOwn : static_cast<std::uint32_t>(stack.own));
    put(payload, static_cast<std::uint32_t>(frames.size()));
    for (const std::uint32_t frame : frames)
        put(payload, frame);
}

std::vector<std::byte> NameBook::news(const Snapshot& snapshot, const UserStacks& stacks,
                                      Users& users) {
    std::string payload;
    Stacks here;
    for (const Task& task : snapshot.tasks) {
        const std::string& user = users.name(task.uid);
        if (const auto [known, added] = users_.try_emplace(task.uid, user); added) {
            payload += 'U';
            put(payload, task.uid);
            put(payload, user);
        }
        for (const Entry& entry : snapshot.entries_of(task)) {
            if (snapshot.trace_of(entry) == nullptr) continue;
            const StackId id = stack_id(snapshot, task, entry);
            std::vector<UserFramePtr>& known = here[id];
            if (auto before = stacks_.extract(id)) known = std::move(before.mapped());
            const UserStack* stack = stacks.find(id);
            if (stack == nullptr || known == stack->frames) continue;
            known = stack->frames;
            add_stack(id, *stack, payload);
        }
    }
    stacks_ = std::move(here);
    const auto bytes = std::as_bytes(std::span(payload));
    return {bytes.begin(), bytes.end()};
}

void RecordedNames::add(std::span<const std::byte> payload) {
    ByteReader reader({reinterpret_cast<const std::uint8_t*>(payload.data()), payload.size()});
    while (!reader.empty()) {
        const std::uint8_t kind = reader.byte();
        if (kind == 'F') {
            UserFramePtr frame = read_frame(reader);
            if (reader.ok()) frames_.push_back(std::move(frame));
        } else if (kind == 'S') {
            const StackId id = read_stack_id(reader);
            const auto own = reader.fixed<std::uint32_t>();
            UserStack stack;
            for (std::uint32_t n = count(reader, sizeof(std::uint32_t)); n > 0; --n) {
                const auto frame = reader.fixed<std::uint32_t>();
                if (frame >= frames_.size())
                    throw RecordingError(
                        fmt::format("a stack names frame {} of {}", frame, frames_.size()));
                stack.frames.push_back(frames_[frame]);
            }
            if (own < stack.frames.size()) stack.own = own;
            if (reader.ok()) stacks_.insert_or_assign(id, std::move(stack));
        } else if (kind == 'U') {
            const auto uid = reader.fixed<std::uint32_t>();
            std::string name = text(reader);
            if (reader.ok()) users_.insert_or_assign(uid, std::move(name));
        } else {
            throw RecordingError(fmt::format("names: no item begins with {:#04x}", kind));
        }
        if (!reader.ok()) throw RecordingError("names: the last item is not whole");
    }
}

const UserStack* RecordedNames::find(const StackId& id) const {
    const auto found = stacks_.find(id);
    return found == stacks_.end() || found->second.frames.empty() ? nullptr : &found->second;
}

const std::string& RecordedNames::name(std::uint32_t uid) {
    const auto [found, added] = users_.try_emplace(uid);
    if (added) found->second = std::to_string(uid);
    return found->second;
}

}  // namespace lattop::recording
