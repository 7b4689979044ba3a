// SPDX-License-Identifier: GPL-2.0-or-later
//
// Names of symbols: any bytes but NUL, of files that anybody may have written. What
// comes of them is not larger than lattop keeps, and the escapes of Rust's old
// mangling only make a name shorter.
#include <cstdint>
#include <string>

#include "tests/fuzz/bytes.h"
#include "unwind/demangle.h"
#include "unwind/demangle_rust.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t kMostBytes = 65536;
    std::string_view text = lattop::fuzz::text_of(data, size);
    const std::string name(lattop::fuzz::take_until(text, '\0'));
    const std::string shown = lattop::demangle(name);
    REQUIRE(shown.empty() == name.empty() && shown.size() <= kMostBytes);
    REQUIRE(shown == lattop::demangle(name));
    const std::string at_once = lattop::demangle_at_once(name);
    REQUIRE(at_once == shown || name.starts_with(at_once));
    REQUIRE(lattop::demangle_rust_legacy(name).size() <= name.size());
    if (const auto rust = lattop::demangle_rust_v0(name)) {
        REQUIRE(name.starts_with("_R") && !rust->empty() && rust->size() <= kMostBytes);
        // What compilers add behind a name does not change it.
        const std::string plain = name.substr(0, name.find_first_of(".$"));
        REQUIRE(lattop::demangle_rust_v0(plain + ".llvm.1") == rust);
    }
    return 0;
}
