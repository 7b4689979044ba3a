// SPDX-License-Identifier: GPL-2.0-or-later
//
// See demangle_rust.h: its legacy half, names that are C++'s with escapes and a
// hash at the end.
#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "unwind/demangle_rust.h"
#include "unwind/hex.h"

namespace lattop {
namespace {

/// What an escape between two '$' stands for; "" where it is none.
std::string unescape(std::string_view code) {
    struct Escape {
        std::string_view code, text;
    };
    static constexpr std::array<Escape, 9> kEscapes = {{{"SP", "@"},
                                                        {"BP", "*"},
                                                        {"RF", "&"},
                                                        {"LT", "<"},
                                                        {"GT", ">"},
                                                        {"LP", "("},
                                                        {"RP", ")"},
                                                        {"C", ","},
                                                        {"u20", " "}}};
    for (const Escape& escape : kEscapes)
        if (escape.code == code) return std::string(escape.text);
    // "u7e": a character by its number; printable ASCII only.
    if (code.size() != 3 || code.front() != 'u' || !is_hex(code.substr(1))) return "";
    const int value = std::stoi(std::string(code.substr(1)), nullptr, 16);
    return value > ' ' && value < 0x7f ? std::string(1, static_cast<char>(value)) : "";
}

constexpr std::size_t kHash = 16;

}  // namespace

std::string_view without_llvm_suffix(std::string_view symbol) {
    constexpr std::string_view kMark = "17h";
    const std::string_view plain = symbol.substr(0, symbol.find(".llvm."));
    if (plain.size() < kMark.size() + kHash + 1 || !plain.ends_with('E')) return symbol;
    const std::string_view tail = plain.substr(plain.size() - kMark.size() - kHash - 1);
    const bool rust = tail.starts_with(kMark) && is_hex(tail.substr(kMark.size(), kHash));
    return rust ? plain : symbol;
}

std::string demangle_rust_legacy(std::string name) {
    constexpr std::string_view kMark = "::h";
    if (name.size() < kHash + kMark.size()) return name;
    const std::size_t end = name.size() - kHash - kMark.size();
    const std::string_view tail = std::string_view(name).substr(end);
    if (!tail.starts_with(kMark) || !is_hex(tail.substr(kMark.size()))) return name;
    std::string result;
    for (std::size_t i = 0; i < end;) {
        // An identifier that begins with an escape has a '_' before it.
        const bool begins = i == 0 || name[i - 1] == ':';
        if (begins && name[i] == '_' && name[i + 1] == '$') ++i;
        if (name[i] == '$') {
            const std::size_t close = name.find('$', i + 1);
            const std::string text =
                close < end ? unescape(std::string_view(name).substr(i + 1, close - i - 1)) : "";
            if (!text.empty()) {
                result += text;
                i = close + 1;
                continue;
            }
        }
        if (name.compare(i, 2, "..") == 0) {
            result += "::";
            i += 2;
            continue;
        }
        result += name[i++];
    }
    return result;
}

}  // namespace lattop
