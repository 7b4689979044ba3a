// SPDX-License-Identifier: GPL-2.0-or-later
//
// See demangle.h. A part of a C++ name may stand for what was said before (S_, T_), and
// so on: 230 bytes make 142 MB, 300 more than there is memory. abi::__cxa_demangle()
// has no limit and cannot be stopped; what it is made of hands the name over piece by
// piece. That function is in libstdc++'s static part alone (libsupc++.a), as it has
// been since 2007, declared nowhere.
#include "unwind/demangle.h"

#include <cstddef>
#include <optional>
#include <string_view>

#include "unwind/demangle_rust.h"

// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" int __gcclibcxx_demangle_callback(
    const char* mangled, void (*take)(const char* piece, std::size_t bytes, void* to), void* to);

namespace lattop {
namespace {

/// Names come from files that anyone may have written. The library bounds its
/// recursion by the length of the name; longer ones than this are not read by
/// people either.
constexpr std::size_t kMaxMangled = 8192;
constexpr std::size_t kMaxDemangled = 65536;

/// In a name with a conversion ("cv") the library reads what is behind a template parameter ("T_I",
/// "T0_I") a second time, so that those within one another take twice as long each: 30 of them a
/// minute, 60 for ever. Names that compilers make have one, if any.
constexpr std::size_t kMaxReadTwice = 8;

/// Looks at each "S" or "T" (as `letters` says) behind which a number and "_" stand, as in "T0_I":
/// `found` gets what is behind these, and says whether to go on. A name is gone through once.
void each_reference(std::string_view name, const char* letters, const auto& found) {
    std::size_t at = name.find_first_of(letters);
    while (at != std::string_view::npos) {
        const std::size_t end =
            name.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", at + 1);
        if (end == std::string_view::npos) return;
        if (name[end] == '_' && !found(name.substr(end + 1))) return;
        at = name.find_first_of(letters, end);
    }
}

bool takes_for_ever(std::string_view name) {
    if (name.find("cv") == std::string_view::npos) return false;
    std::size_t twice = 0;
    each_reference(name, "T", [&twice](std::string_view behind) {
        if (behind.starts_with('I')) ++twice;
        return true;
    });
    return twice > kMaxReadTwice;
}

/// Whether a part may stand for what was said before. Where none does, what the library looks at
/// is as long as the name.
bool refers_back(std::string_view name) {
    bool refers = false;
    each_reference(name, "ST", [&refers](std::string_view) {
        refers = true;
        return false;
    });
    return refers;
}

struct TooLong {};

/// Thrown through C that owns nothing: all that it works on is on its stack.
void take_piece(const char* piece, std::size_t bytes, void* to) {
    auto& name = *static_cast<std::string*>(to);
    if (name.size() + bytes > kMaxDemangled) throw TooLong{};
    name.append(piece, bytes);
}

std::optional<std::string> demangle_cxx(const std::string& mangled) {
    std::string name;
    try {
        if (__gcclibcxx_demangle_callback(mangled.c_str(), take_piece, &name) != 0)
            return std::nullopt;
    } catch (const TooLong&) {
        return std::nullopt;
    }
    return name;
}

}  // namespace

std::string demangle(const std::string& name) {
    if (name.size() > kMaxMangled) return name.substr(0, kMaxMangled);
    if (name.starts_with("_R")) return demangle_rust_v0(name).value_or(name);
    if (!name.starts_with("_Z") || takes_for_ever(name)) return name;
    auto text = demangle_cxx(std::string(without_llvm_suffix(name)));
    return text ? demangle_rust_legacy(*std::move(text)) : name;
}

std::string demangle_at_once(const std::string& name) {
    if (name.starts_with("_Z") && refers_back(name)) return name.substr(0, kMaxMangled);
    return demangle(name);
}

}  // namespace lattop
