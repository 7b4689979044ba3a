// SPDX-License-Identifier: GPL-2.0-or-later
//
// See demangle.h.
#include "unwind/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string_view>

#include "unwind/demangle_rust.h"

namespace lattop {
namespace {

/// Names come from files that anyone may have written. The library bounds its
/// recursion by the length of the name; longer ones than this are not read by
/// people either.
constexpr std::size_t kMaxMangled = 8192;
constexpr std::size_t kMaxDemangled = 65536;

}  // namespace

std::string demangle(const std::string& name) {
    if (name.size() > kMaxMangled) return name;
    if (name.starts_with("_R")) return demangle_rust_v0(name).value_or(name);
    if (!name.starts_with("_Z")) return name;
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
    if (status != 0 || text == nullptr) return name;
    const std::string_view whole(text.get());
    if (whole.size() > kMaxDemangled) return name;
    return demangle_rust_legacy(std::string(whole));
}

}  // namespace lattop
