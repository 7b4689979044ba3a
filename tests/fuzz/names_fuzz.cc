// SPDX-License-Identifier: GPL-2.0-or-later
//
// Names in a recording (recording/names.h draws them), unpacked: what the recording
// target, whose bytes are packed, hardly gets to. Stacks are within their limits,
// also where the payload ends badly.
#include <cstdint>
#include <span>

#include "lattop/recording/names.h"
#include "lattop/source/error.h"
#include "tests/fuzz/bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace lattop::recording;
    RecordedNames names;
    const auto payload = std::as_bytes(std::span(data, size));
    try {
        names.add(payload);
    } catch (const lattop::RecordingError& error) {
        REQUIRE(*error.what() != '\0');
    }
    REQUIRE(!static_cast<lattop::Users&>(names).name(0).empty());
    // Each place where a stack's identity may stand.
    for (std::size_t at = 0; at < size; ++at) {
        if (data[at] != 'S') continue;
        lattop::ByteReader reader({data + at + 1, size - at - 1});
        const lattop::UserStack* stack = names.find(lattop::recording::read_stack_id(reader));
        if (stack == nullptr) continue;
        REQUIRE(!stack->frames.empty() && stack->frames.size() <= kMaxStackFrames);
        REQUIRE(stack->own == lattop::UserStack::kNone || stack->own < stack->frames.size());
        std::size_t functions = 0;
        for (const lattop::UserFramePtr& frame : stack->frames)
            functions += 1 + frame->inlined.size();
        REQUIRE(functions <= kMaxStackFunctions);
    }
    return 0;
}
