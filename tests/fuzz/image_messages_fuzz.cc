// SPDX-License-Identifier: GPL-2.0-or-later
//
// What an image reader and who asks it say to each other: whatever it is, it is refused or within
// what the other side may act on; and what was written is read again.
#include <cstdint>
#include <span>

#include "tests/fuzz/require.h"
#include "unwind/image_messages.h"

namespace {

void check_request(std::span<const std::uint8_t> bytes) {
    const auto request = lattop::request_of(bytes);
    if (!request) return;
    REQUIRE(request->op <= lattop::ImageOp::Close);
    const auto again = lattop::request_of(lattop::to_message(*request));
    REQUIRE(again && again->image == request->image && again->end == request->end);
}

void check_name(std::span<const std::uint8_t> bytes) {
    lattop::ByteReader reader(bytes);
    const lattop::DebugName name = lattop::read_debug_name(reader);
    // Both become part of a path.
    REQUIRE(name.build_id.find_first_not_of("0123456789abcdef") == std::string::npos);
    REQUIRE(name.build_id.empty() || name.build_id.size() > 2);
    REQUIRE(name.link.find('/') == std::string::npos && name.link.find('\0') == std::string::npos);
}

void check_place(std::span<const std::uint8_t> bytes) {
    lattop::ByteReader reader(bytes);
    const lattop::SourcePlace place = lattop::read_place(reader);
    std::size_t texts = place.line.file.size();
    for (const lattop::InlinedCall& call : place.inlined)
        texts += call.function.size() + call.call.file.size();
    REQUIRE(texts <= bytes.size());
    if (!reader.ok()) return;
    lattop::MessageWriter message;
    write(message, place);
    REQUIRE(message.bytes().size() <= lattop::kMaxImageMessage);
    lattop::ByteReader again(message.bytes());
    REQUIRE(lattop::read_place(again).inlined.size() == place.inlined.size());
    REQUIRE(again.ok() && again.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span bytes(data, size);
    check_request(bytes);
    check_name(bytes);
    check_place(bytes);
    lattop::ByteReader reader(bytes);
    lattop::read_facts(reader);
    lattop::read_text(reader);
    return 0;
}
