// SPDX-License-Identifier: GPL-2.0-or-later
//
// What sleepers waited for, in a recording (recording/objects.h draws it), unpacked. Two payloads
// of different moments; what is found of any task that may stand in them is within the limits.
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "lattop/recording/objects.h"
#include "lattop/source/error.h"
#include "tests/fuzz/require.h"
#include "unwind/byte_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace lattop::recording;
    RecordedObjects recorded;
    const auto payload = std::as_bytes(std::span(data, size));
    const std::size_t half = size / 2;
    for (const auto& [time_ns, part] :
         {std::pair(std::uint64_t{100}, payload.first(half)),
          std::pair(std::uint64_t{200}, payload.subspan(half))}) {
        try {
            recorded.add(time_ns, part);
        } catch (const lattop::RecordingError& error) {
            REQUIRE(*error.what() != '\0');
        }
    }
    for (std::size_t at = 0; at < size; ++at) {
        lattop::ByteReader reader({data + at, size - at});
        lattop::SleepId sleep;
        sleep.task.pid = reader.fixed<std::uint32_t>();
        sleep.task.tgid = reader.fixed<std::uint32_t>();
        sleep.task.start_ns = reader.fixed<std::uint64_t>();
        sleep.begin_ns = reader.fixed<std::uint64_t>();
        for (const std::uint64_t time_ns : {0UL, 100UL, 150UL, 300UL}) {
            const std::string* object = recorded.objects().find(sleep, time_ns);
            REQUIRE(object == nullptr || object->size() <= kMaxObjectText);
        }
    }
    return 0;
}
