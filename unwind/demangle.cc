// SPDX-License-Identifier: GPL-2.0-or-later
//
// See demangle.h.
#include "unwind/demangle.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace lattop {
namespace {

/// Names come from files that anyone may have written. The library bounds its
/// recursion by the length of the name; longer ones than this are not read by
/// people either.
constexpr std::size_t kMaxMangled = 8192;
constexpr std::size_t kMaxDemangled = 65536;

bool is_hex(std::string_view text) {
    return std::ranges::all_of(
        text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

/// Rust's old mangling is C++'s with a hash at the end: "::h0123456789abcdef".
void drop_rust_hash(std::string& name) {
    constexpr std::size_t kHash = 16;
    constexpr std::string_view kMark = "::h";
    if (name.size() < kHash + kMark.size()) return;
    const std::size_t at = name.size() - kHash - kMark.size();
    const std::string_view tail = std::string_view(name).substr(at);
    if (tail.starts_with(kMark) && is_hex(tail.substr(kMark.size()))) name.resize(at);
}

}  // namespace

std::string demangle(const std::string& name) {
    if (!name.starts_with("_Z") || name.size() > kMaxMangled) return name;
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
    if (status != 0 || text == nullptr) return name;
    const std::string_view whole(text.get());
    if (whole.size() > kMaxDemangled) return name;
    std::string result(whole);
    drop_rust_hash(result);
    return result;
}

}  // namespace lattop
