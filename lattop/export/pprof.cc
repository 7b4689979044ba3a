// SPDX-License-Identifier: GPL-2.0-or-later
//
// See stacks.h. The messages are those of pprof's profile.proto
// (github.com/google/pprof/blob/main/proto/profile.proto), written in protobuf's
// wire format: a field is (number << 3 | type) and a varint (type 0), or a
// length and that many bytes (type 2). Not compressed, which pprof takes too.
//
//	Profile   1 sample_type  2 sample  4 location  5 function  6 string_table
//	          9 time_nanos  10 duration_nanos
//	Sample    1 location_id...  2 value...  3 label      innermost frame first
//	Location  1 id  4 line (1 function_id, 2 line)
//	Function  1 id  2 name  3 system_name  4 filename
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "lattop/export/stacks.h"
#include "lattop/model/format.h"

namespace lattop {
namespace {

void put_varint(std::string& to, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        to += static_cast<char>(value | 0x80);
    to += static_cast<char>(value);
}

/// A message in the making.
class Message {
public:
    Message& number(unsigned field, std::uint64_t value) {
        put_varint(bytes_, field << 3U);
        put_varint(bytes_, value);
        return *this;
    }
    Message& bytes(unsigned field, std::string_view value) {
        constexpr unsigned kLengthDelimited = 2;
        put_varint(bytes_, field << 3U | kLengthDelimited);
        put_varint(bytes_, value.size());
        bytes_ += value;
        return *this;
    }
    Message& message(unsigned field, const Message& value) { return bytes(field, value.bytes_); }

    [[nodiscard]] const std::string& text() const { return bytes_; }

private:
    std::string bytes_;
};

class Strings {
public:
    Strings() { index(""); }  // 0 must be ""

    std::uint64_t index(const std::string& text) {
        const auto [found, added] = index_.try_emplace(text, texts_.size());
        if (added) texts_.push_back(text);
        return found->second;
    }
    [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }

private:
    std::map<std::string, std::uint64_t> index_;
    std::vector<std::string> texts_;
};

/// Locations and functions, one of each for each frame; ids begin at 1.
class Frames {
public:
    explicit Frames(Strings& strings) : strings_(strings) {}

    std::uint64_t id(const std::string& name, const std::string& file, std::uint32_t line) {
        const auto [found, added] = ids_.try_emplace({name, file, line}, ids_.size() + 1);
        const std::uint64_t id = found->second;
        if (!added) return id;
        const std::uint64_t text = strings_.index(printable(name, Charset::Utf8));
        functions_.push_back(Message().number(1, id).number(2, text).number(3, text).number(
            4, strings_.index(printable(file, Charset::Utf8))));
        locations_.push_back(
            Message().number(1, id).message(4, Message().number(1, id).number(2, line)));
        return id;
    }

    void append_to(Message& profile) const {
        for (const Message& location : locations_)
            profile.message(4, location);
        for (const Message& function : functions_)
            profile.message(5, function);
    }

private:
    Strings& strings_;
    std::map<std::tuple<std::string, std::string, std::uint32_t>, std::uint64_t> ids_;
    std::vector<Message> functions_, locations_;
};

Message sample_of(const MergedStack& stack, Frames& frames, Strings& strings) {
    std::string locations;
    for (auto frame = stack.frames.rbegin(); frame != stack.frames.rend(); ++frame)
        put_varint(locations, frames.id(frame->kernel ? frame->name + " [kernel]" : frame->name,
                                        frame->file, frame->line));
    if (stack.frames.empty()) put_varint(locations, frames.id("[other]", "", 0));
    put_varint(locations, frames.id(stack.command, "", 0));
    std::string values;
    put_varint(values, stack.sleeps);
    put_varint(values, stack.blocked_ns);
    const Message reason = Message()
                               .number(1, strings.index("reason"))
                               .number(2, strings.index(printable(stack.reason, Charset::Utf8)));
    return Message().bytes(1, locations).bytes(2, values).message(3, reason);
}

}  // namespace

std::string export_pprof(std::span<const MergedStack> stacks, std::uint64_t begin_realtime_ns,
                         std::uint64_t duration_ns) {
    Strings strings;
    Frames frames(strings);
    Message profile;
    const auto type = [&](const char* name, const char* unit) {
        profile.message(1, Message().number(1, strings.index(name)).number(2, strings.index(unit)));
    };
    type("sleeps", "count");
    type("blocked", "nanoseconds");
    for (const MergedStack& stack : stacks)
        profile.message(2, sample_of(stack, frames, strings));
    frames.append_to(profile);
    for (const std::string& text : strings.texts())
        profile.bytes(6, text);
    profile.number(9, begin_realtime_ns).number(10, duration_ns);
    return profile.text();
}

}  // namespace lattop
