// SPDX-License-Identifier: GPL-2.0-or-later
//
// Names of Rust symbols in both manglings. Called by demangle().
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lattop {

/// The name of a symbol in the v0 mangling ("_R…", RFC 2603), without hashes
/// of crates; nothing where it is not of that form, or longer or deeper than
/// what people write.
std::optional<std::string> demangle_rust_v0(std::string_view name);

/// A name in the old mangling, C++'s, after that was undone: its hash at the
/// end is dropped and its escapes ("$LT$", "..") are resolved. Other names
/// stay as they are.
std::string demangle_rust_legacy(std::string name);

/// A symbol in the old mangling without what LLVM puts behind it (".llvm.123"), which C++'s library
/// does not read there; other symbols as they are.
std::string_view without_llvm_suffix(std::string_view symbol);

}  // namespace lattop
