// SPDX-License-Identifier: GPL-2.0-or-later
//
// Names on their way to a terminal: commands, paths and functions are any bytes. What is
// shown is printable, is so once and for all, and has no byte that a terminal
// acts on.
#include <algorithm>
#include <cstdint>
#include <string>

#include "lattop/model/format.h"
#include "lattop/model/frames.h"
#include "tests/fuzz/bytes.h"

namespace {

void check(std::string_view bytes, lattop::Charset charset) {
    const std::string shown = lattop::printable(bytes, charset);
    REQUIRE(lattop::printable(shown, charset) == shown);
    REQUIRE(shown.size() <= bytes.size());
    for (const char c : shown) {
        const auto byte = static_cast<unsigned char>(c);
        REQUIRE(byte >= ' ' && byte != 0x7f);
        REQUIRE(byte < 0x80 || charset == lattop::Charset::Utf8);
    }
    for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t before = at;
        const char32_t c = lattop::next_printable(bytes, at, charset);
        REQUIRE(at > before && at <= bytes.size());
        const int columns = lattop::columns_of(c);
        REQUIRE(columns == 1 || columns == 2);
        REQUIRE(c < 0x80 || c >= 0xa0);  // C1 controls
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view bytes = lattop::fuzz::text_of(data + 1, size - 1);
    check(bytes, lattop::Charset::Utf8);
    check(bytes, lattop::Charset::Ascii);
    const std::string name(bytes);
    REQUIRE(name.starts_with(lattop::without_parameters(name)));
    REQUIRE(lattop::fitted_name(name, data[0]).size() <= name.size());
    return 0;
}
