// SPDX-License-Identifier: GPL-2.0-or-later
//
// See names.h.
#include "lattop/recording/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lattop/recording/bytes.h"
#include "lattop/source/error.h"
#include "unwind/byte_reader.h"

namespace lattop::recording {
namespace {

constexpr std::uint32_t kNoOwn = 0xffffffff;
/// An 'S' item without its frames.
constexpr std::size_t kStackBytes = 41;

void put_text(std::string& to, const std::string& text) {
    const std::string_view kept = std::string_view(text).substr(0, kMaxText);
    put(to, static_cast<std::uint32_t>(kept.size()));
    to += kept;
}

std::string text(ByteReader& reader) {
    const auto size = reader.fixed<std::uint32_t>();
    if (size > kMaxText)
        throw RecordingError(fmt::format("a text of {} bytes, {} is the most", size, kMaxText));
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

std::size_t inlined_count(const UserFrame& frame) {
    return std::min(frame.inlined.size(), kMaxInlined);
}

/// As many frames, innermost first, as a stack may have.
std::span<const UserFramePtr> within_limits(const UserStack& stack) {
    std::size_t frames = 0;
    std::size_t functions = 0;
    for (const UserFramePtr& frame : stack.frames) {
        functions += 1 + inlined_count(*frame);
        if (functions > kMaxStackFunctions || frames == kMaxStackFrames) break;
        ++frames;
    }
    return std::span(stack.frames).first(frames);
}

std::string frame_item(const UserFrame& frame) {
    std::string item = "F";
    put_text(item, frame.symbol);
    put(item, frame.offset);
    put_text(item, frame.module);
    put_text(item, frame.path);
    put_text(item, frame.file);
    put(item, frame.line);
    const auto inlined_here = std::span(frame.inlined).first(inlined_count(frame));
    put(item, static_cast<std::uint32_t>(inlined_here.size()));
    for (const InlinedFrame& inlined : inlined_here) {
        put_text(item, inlined.symbol);
        put_text(item, inlined.file);
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
    const std::uint32_t inlined_here = count(reader, kLeastInlined);
    if (inlined_here > kMaxInlined)
        throw RecordingError(fmt::format("a frame of {} inlined functions, {} is the most",
                                         inlined_here, kMaxInlined));
    for (std::uint32_t n = inlined_here; n > 0; --n) {
        InlinedFrame inlined;
        inlined.symbol = text(reader);
        inlined.file = text(reader);
        inlined.line = reader.fixed<std::uint32_t>();
        frame.inlined.push_back(std::move(inlined));
    }
    return std::make_shared<const UserFrame>(std::move(frame));
}

}  // namespace

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

NameBook::Added NameBook::room_for(std::size_t bytes, const std::string& payload) const {
    if (bytes > kMaxNamesPayload || written_ + payload.size() + bytes > most_) return Added::Never;
    return payload.size() + bytes > kMaxNamesPayload ? Added::Later : Added::Yes;
}

NameBook::Added NameBook::add_stack(const StackId& id, const UserStack& stack,
                                    std::string& payload) {
    std::vector<std::string> items;
    std::size_t bytes = kStackBytes;
    for (const UserFramePtr& frame : within_limits(stack)) {
        items.push_back(frame_item(*frame));
        bytes += sizeof(std::uint32_t) + (frames_.contains(items.back()) ? 0 : items.back().size());
    }
    if (const Added added = room_for(bytes, payload); added != Added::Yes) return added;
    std::vector<std::uint32_t> frames;
    for (std::string& item : items) {
        const auto next = static_cast<std::uint32_t>(frames_.size());
        const auto [found, added] = frames_.try_emplace(std::move(item), next);
        if (added) payload += found->first;
        frames.push_back(found->second);
    }
    payload += 'S';
    put(payload, id.task.kind);
    put(payload, id.task.pid);
    put(payload, id.task.tgid);
    put(payload, id.task.start_ns);
    put(payload, id.exec_id);
    put(payload, id.trace_id);
    put(payload, stack.own < frames.size() ? static_cast<std::uint32_t>(stack.own) : kNoOwn);
    put(payload, static_cast<std::uint32_t>(frames.size()));
    for (const std::uint32_t frame : frames)
        put(payload, frame);
    return Added::Yes;
}

/// One that has no room stays a number.
void NameBook::add_user(std::uint32_t uid, const std::string& name, std::string& payload) {
    std::string item = "U";
    put(item, uid);
    put_text(item, name);
    const Added added = room_for(item.size(), payload);
    if (added == Added::Yes) payload += item;
    if (added != Added::Later) users_.try_emplace(uid, name);
}

void NameBook::take_user(std::uint32_t uid, Users& users, std::string& payload) {
    if (users_.contains(uid)) return;
    const std::string& name = users.name(uid);
    if (users.known(uid))
        add_user(uid, name, payload);
    else
        late_users_.insert(uid);
}

void NameBook::take_late_users(Users& users, std::string& payload) {
    for (const std::uint32_t uid : std::exchange(late_users_, {}))
        take_user(uid, users, payload);
}

/// One that has no room stays a path.
void NameBook::add_cgroup(const std::string& path, CgroupNames& names, Cgroups& here,
                          std::string& payload) {
    // Cut short it would be the path of another.
    if (path.empty() || path.size() > kMaxText || here.contains(path)) return;
    const std::string& name = names.name(path);
    auto before = cgroups_.extract(path);
    if (before && before.mapped() == name) {
        here.insert(std::move(before));
        return;
    }
    Added added = Added::Never;
    if (name != path) {
        std::string item = "C";
        put_text(item, path);
        put_text(item, name);
        added = room_for(item.size(), payload);
        if (added == Added::Yes) payload += item;
    }
    if (added != Added::Later) here.try_emplace(path, name);
}

void NameBook::take_over(const StackId& id, const UserStacks& stacks, Stacks& here,
                         std::string& payload) {
    std::optional<std::uint64_t>& known = here[id];
    if (const auto before = stacks_.extract(id)) known = before.mapped();
    const UserStack* stack = stacks.find(id);
    if (stack == nullptr && stacks.pending(id)) late_stacks_.insert(id);
    if (stack == nullptr || known == stack->version) return;
    const Added added = add_stack(id, *stack, payload);
    if (added == Added::Never) ++left_out_;
    if (added != Added::Later) known = stack->version;
}

void NameBook::take_late_stacks(const UserStacks& stacks, std::string& payload) {
    std::erase_if(late_stacks_, [&](const StackId& id) {
        const UserStack* stack = stacks.find(id);
        if (stack == nullptr) return !stacks.pending(id);
        const Added added = add_stack(id, *stack, payload);
        if (added == Added::Never) ++left_out_;
        if (const auto here = stacks_.find(id); here != stacks_.end() && added != Added::Later)
            here->second = stack->version;
        return added != Added::Later;
    });
}

std::vector<std::byte> NameBook::news(const Snapshot& snapshot, NameSources names) {
    std::string payload;
    Stacks here;
    Cgroups cgroups_here;
    const UserStacks& stacks = names.stacks;
    take_late_users(names.users, payload);
    take_late_stacks(stacks, payload);
    for (const UserHoldings& holder : snapshot.header.users)
        take_user(holder.uid, names.users, payload);
    for (const Task& task : snapshot.tasks) {
        take_user(task.uid, names.users, payload);
        add_cgroup(task.cgroup(), names.cgroups, cgroups_here, payload);
        for (const Entry& entry : snapshot.entries_of(task)) {
            if (snapshot.trace_of(entry) != nullptr)
                take_over(stack_id(snapshot, task, entry), stacks, here, payload);
            for (const Waker& waker : snapshot.wakers_of(entry))
                for (const TraceIndex of : {waker.trace, waker.waited_trace})
                    if (snapshot.trace_at(of) != nullptr)
                        take_over(stack_id(snapshot, waker, of), stacks, here, payload);
        }
    }
    stacks_ = std::move(here);
    cgroups_ = std::move(cgroups_here);
    return finish(payload);
}

std::vector<std::byte> NameBook::late(NameSources names) {
    std::string payload;
    take_late_users(names.users, payload);
    take_late_stacks(names.stacks, payload);
    return finish(payload);
}

std::vector<std::byte> NameBook::finish(const std::string& payload) {
    written_ += payload.size();
    const auto bytes = std::as_bytes(std::span(payload));
    return {bytes.begin(), bytes.end()};
}

void RecordedNames::expect(std::size_t bytes) const {
    if (bytes > kMaxNamesPayload)
        throw RecordingError(
            fmt::format("names of {} bytes at once, {} is the most", bytes, kMaxNamesPayload));
    if (bytes_ + bytes > most_)
        throw RecordingError(
            fmt::format("names of {} bytes in all, {} is the most", bytes_ + bytes, most_));
}

UserStack RecordedNames::read_stack(ByteReader& reader) const {
    const auto own = reader.fixed<std::uint32_t>();
    const std::uint32_t frames = count(reader, sizeof(std::uint32_t));
    if (frames > kMaxStackFrames)
        throw RecordingError(
            fmt::format("a stack of {} frames, {} is the most", frames, kMaxStackFrames));
    UserStack stack;
    stack.frames.reserve(frames);
    std::size_t functions = 0;
    for (std::uint32_t n = frames; n > 0; --n) {
        const auto frame = reader.fixed<std::uint32_t>();
        if (frame >= frames_.size())
            throw RecordingError(
                fmt::format("a stack names frame {} of {}", frame, frames_.size()));
        stack.frames.push_back(frames_[frame]);
        functions += 1 + frames_[frame]->inlined.size();
    }
    if (functions > kMaxStackFunctions)
        throw RecordingError(
            fmt::format("a stack of {} functions, {} is the most", functions, kMaxStackFunctions));
    if (own < stack.frames.size()) stack.own = own;
    stack.version = new_version();
    return stack;
}

void RecordedNames::add(std::span<const std::byte> payload) {
    expect(payload.size());
    bytes_ += payload.size();
    ByteReader reader = reader_of(payload);
    while (!reader.empty()) {
        const std::uint8_t kind = reader.byte();
        if (kind == 'F') {
            UserFramePtr frame = read_frame(reader);
            if (reader.ok()) frames_.push_back(std::move(frame));
        } else if (kind == 'S') {
            const StackId id = read_stack_id(reader);
            UserStack stack = read_stack(reader);
            if (reader.ok()) stacks_.insert_or_assign(id, std::move(stack));
        } else if (kind == 'U') {
            const auto uid = reader.fixed<std::uint32_t>();
            std::string name = text(reader);
            if (reader.ok() && !name.empty()) users_.insert_or_assign(uid, std::move(name));
        } else if (kind == 'C') {
            std::string path = text(reader);
            std::string name = text(reader);
            if (reader.ok() && !name.empty())
                cgroups_.insert_or_assign(std::move(path), std::move(name));
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

const std::string& RecordedNames::name(const std::string& path) {
    const auto found = cgroups_.find(path);
    return found == cgroups_.end() ? here_.name(path) : found->second;
}

}  // namespace lattop::recording
