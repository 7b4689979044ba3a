// SPDX-License-Identifier: GPL-2.0-or-later
//
// Records of perf_event_open(2), as `lattop run` takes them from a ring that is
// mapped: what is counted is there, or it is an error.
#include <cstdint>
#include <span>

#include "lattop/source/error.h"
#include "lattop/source/process_tree.h"
#include "tests/fuzz/bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::uint32_t kRoot = 1;
    lattop::TreeMembers members(kRoot);
    try {
        members.take(std::as_bytes(std::span(data, size)));
    } catch (const lattop::FormatError&) {
    }
    constexpr std::size_t kLeastRecord = 8;
    REQUIRE(members.size() <= 1 + size / kLeastRecord);
    REQUIRE(members.processes().size() <= members.size());
    REQUIRE(members.processes().front() == kRoot);
    lattop::Task task;
    task.kind = LT_KIND_TASK;
    task.pid = kRoot;
    REQUIRE(members.contains(task));
    return 0;
}
