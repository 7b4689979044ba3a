// SPDX-License-Identifier: GPL-2.0-or-later
//
// reasons.conf, and what it decides of any stack. Functions of user programs are
// named by whoever made them. That a table does not ask for them means that they
// could not decide otherwise; and globs match as the plainest matcher does.
//
//	reasons: table | kernel functions, innermost first | user functions    (bytes.h: parts_of)
#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "lattop/reasons/table.h"
#include "lattop/source/error.h"
#include "tests/fuzz/bytes.h"

namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
    constexpr std::size_t kMost = 32;
    std::vector<std::string_view> lines;
    while (!text.empty() && lines.size() < kMost)
        lines.push_back(lattop::fuzz::take_until(text, '\n'));
    return lines;
}

/// By a row for each character of the glob: which starts of the name it matches.
bool plain_match(std::string_view glob, std::string_view name) {
    static std::vector<char> row;  // a bool each; kept: what is tried is over sooner than a malloc
    row.assign(name.size() + 1, 0);
    row[0] = 1;
    for (const char c : glob) {
        if (c == '*') {
            for (std::size_t i = 1; i < row.size(); ++i)
                row[i] |= row[i - 1];
        } else {
            for (std::size_t i = row.size(); i-- > 1;)
                row[i] = static_cast<char>(row[i - 1] & static_cast<int>(name[i - 1] == c));
            row[0] = 0;
        }
    }
    return row[name.size()] != 0;
}

/// The first of the functions of one part are globs, those of the other names.
void check_globs(std::span<const std::string_view> globs, std::span<const std::string_view> names) {
    constexpr std::size_t kMost = 4;  // as good as all of them, which took nine tenths of the time
    for (const std::string_view glob : globs.first(std::min(globs.size(), kMost)))
        for (const std::string_view name : names.first(std::min(names.size(), kMost)))
            REQUIRE(lattop::glob_matches(glob, name) == plain_match(glob, name));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto parts = lattop::fuzz::parts_of<3>(lattop::fuzz::text_of(data, size));
    lattop::ReasonTable table;
    try {
        table.append(parts[0], "fuzz.conf");
    } catch (const lattop::Error& error) {
        REQUIRE(std::string_view(error.what()).starts_with("fuzz.conf:"));
        return 0;
    }
    const lattop::FunctionStack kernel{lines_of(parts[1]), {}};
    const lattop::FunctionStack whole{kernel.kernel, lines_of(parts[2])};
    const lattop::Reason* decided = table.decide(whole);
    REQUIRE(decided == nullptr || (!decided->name.empty() && !decided->decided.empty()));
    REQUIRE(decided == table.decide(kernel) || table.asks_for_user(kernel.kernel));
    check_globs(whole.user, whole.kernel);
    return 0;
}
