// SPDX-License-Identifier: GPL-2.0-or-later
//
// See thread_registers.h.
#include "unwind/thread_registers.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>
#include <vector>

namespace lattop {

std::optional<ThreadRegisters> parse_syscall(const std::string& text) {
    // "NUMBER ARG0 ... ARG5 SP PC", "-1 SP PC" or "running"
    static constexpr std::array<std::size_t, 6> kArguments{UNW_X86_64_RDI, UNW_X86_64_RSI,
                                                           UNW_X86_64_RDX, UNW_X86_64_R10,
                                                           UNW_X86_64_R8,  UNW_X86_64_R9};
    std::vector<std::uint64_t> words;
    std::string_view rest = text;
    rest = rest.substr(0, rest.find('\n'));
    const std::string_view number = rest.substr(0, rest.find(' '));
    while ((rest = rest.substr(std::min(rest.find(" 0x"), rest.size()))).size() > 3) {
        rest.remove_prefix(3);
        std::uint64_t word = 0;
        const auto [stop, error] =
            std::from_chars(rest.data(), rest.data() + rest.size(), word, 16);
        if (error != std::errc{}) return std::nullopt;
        words.push_back(word);
        rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()));
    }
    const bool in_call = words.size() == kArguments.size() + 2;
    if (!in_call && !(words.size() == 2 && number == "-1")) return std::nullopt;
    ThreadRegisters registers;
    for (std::size_t i = 0; in_call && i < kArguments.size(); ++i)
        registers.values.at(kArguments.at(i)) = words.at(i);
    registers.values.at(ThreadRegisters::kSp) = words.at(words.size() - 2);
    registers.values.at(ThreadRegisters::kPc) = words.back();
    return registers;
}

}  // namespace lattop
