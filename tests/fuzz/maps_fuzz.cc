// SPDX-License-Identifier: GPL-2.0-or-later
//
// Text of /proc/PID/maps: paths are any bytes, and the process chooses them.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/require.h"
#include "unwind/maps.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto maps = lattop::parse_maps(text);
    lattop::MapsParser in_pieces;
    in_pieces.add(text.substr(0, size / 2));
    in_pieces.add(text.substr(size / 2));
    REQUIRE(std::ranges::equal(in_pieces.finish(), maps, lattop::same_mapping));
    const lattop::Mapping* before = nullptr;
    for (const lattop::Mapping& mapping : maps) {
        REQUIRE(mapping.start < mapping.end);
        REQUIRE(before == nullptr || before->start <= mapping.start);
        REQUIRE(lattop::find_mapping(maps, mapping.start) != nullptr);
        REQUIRE(mapping.path.size() <= lattop::kMaxMappedPath + 3);
        REQUIRE(lattop::module_name(mapping.path).find('/') == std::string::npos);
        before = &mapping;
    }
    return 0;
}
