// SPDX-License-Identifier: GPL-2.0-or-later
//
// /tmp/perf-PID.map: whoever runs the JIT writes it. A map that was read while it
// grew says what one says that was read at the end, and names only code between
// start and end.
//
//	perf map: 1 byte, where it ended when it was read first | its text
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/bytes.h"
#include "unwind/perf_map.h"

namespace {

using lattop::PerfMap;

void check(const PerfMap& map, const PerfMap& grown, std::uint64_t address) {
    const auto found = map.find(address);
    const auto again = grown.find(address);
    REQUIRE(found.has_value() == again.has_value());
    if (!found) return;
    REQUIRE(found->start <= address && address < found->end);
    REQUIRE(!found->name.empty() && found->name.find('\n') == std::string_view::npos);
    REQUIRE(found->start == again->start && found->end == again->end);
    REQUIRE(found->name == again->name);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static lattop::fuzz::MemoryFile file;
    if (size == 0) return 0;
    std::string_view text = lattop::fuzz::text_of(data + 1, size - 1);
    PerfMap grown;
    file.write(text.substr(0, data[0] * text.size() / UINT8_MAX));
    grown.read(file.fd());
    file.write(text);
    grown.read(file.fd());
    PerfMap map;
    map.read(file.fd());
    constexpr std::ptrdiff_t kMostLines = 32;  // as good as all, in half of the time
    const auto step = std::ranges::count(text, '\n') / kMostLines + 1;
    for (std::ptrdiff_t i = 0; !text.empty(); ++i) {
        std::string_view line = lattop::fuzz::take_until(text, '\n');
        if (i % step != 0) continue;
        if (line.starts_with("0x")) line.remove_prefix(2);
        std::uint64_t start = 0;
        std::from_chars(line.data(), line.data() + line.size(), start, 16);
        for (const std::uint64_t address : {start - 1, start, start + 1, start + 64})
            check(map, grown, address);
    }
    return 0;
}
