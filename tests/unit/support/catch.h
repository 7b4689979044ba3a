// SPDX-License-Identifier: GPL-2.0-or-later
//
// Catch2, of whichever major version the distribution has, and the names that
// differ between them. Precompiled.
#pragma once

#include <string>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
namespace lattop::test {
using Catch::Approx;
inline auto has_text(const std::string& text) {
    return Catch::Matchers::ContainsSubstring(text);
}
}  // namespace lattop::test
#else
#include <catch2/catch.hpp>
namespace lattop::test {
using Catch::Detail::Approx;
inline auto has_text(const std::string& text) {
    return Catch::Matchers::Contains(text);
}
}  // namespace lattop::test
#endif
