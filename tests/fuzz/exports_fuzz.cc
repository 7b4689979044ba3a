// SPDX-License-Identifier: GPL-2.0-or-later
//
// Names in the formats of other tools: commands and functions are called as their
// authors like, and none of it breaks a format, begins a formula or leaves a script.
//
//	exports: a line a stack, its parts between tabs: command, reason, functions (outermost
// first)
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lattop/export/stacks.h"
#include "tests/fuzz/bytes.h"

namespace {

using lattop::MergedStack;

std::vector<MergedStack> stacks_of(std::string_view text) {
    std::vector<MergedStack> stacks;
    while (!text.empty()) {
        std::string_view line = lattop::fuzz::take_until(text, '\n');
        MergedStack stack;
        stack.command = lattop::fuzz::take_until(line, '\t');
        stack.reason = lattop::fuzz::take_until(line, '\t');
        while (!line.empty()) {
            const std::string name(lattop::fuzz::take_until(line, '\t'));
            stack.frames.push_back({name, name, 1, stack.frames.size() % 2 != 0});
        }
        stack.blocked_ns = stack.sleeps = stack.tasks = stacks.size() + 1;
        stacks.push_back(std::move(stack));
    }
    return stacks;
}

void check_folded(const std::vector<MergedStack>& stacks) {
    const std::string folded = lattop::export_folded(stacks);
    std::string_view text = folded;
    for (const MergedStack& stack : stacks) {
        const std::string_view line = lattop::fuzz::take_until(text, '\n');
        REQUIRE(line.ends_with(" " + std::to_string(stack.blocked_ns)));
        REQUIRE(std::ranges::count(line, ';') ==
                std::max<std::ptrdiff_t>(1, std::ssize(stack.frames)));
    }
    REQUIRE(text.empty());
}

/// By RFC 4180; takes one field and the ',' or line's end behind it.
std::string take_field(std::string_view& text) {
    std::string field;
    const bool quoted = text.starts_with('"');
    if (quoted) {
        for (text.remove_prefix(1); !text.empty(); text.remove_prefix(1)) {
            if (text.front() == '"') {
                text.remove_prefix(1);
                if (!text.starts_with('"')) break;
            }
            field += text.front();
        }
    } else {
        field = text.substr(0, text.find_first_of(",\"\r\n"));
        text.remove_prefix(field.size());
    }
    REQUIRE(text.starts_with(',') || text.starts_with("\r\n"));
    text.remove_prefix(text.starts_with(',') ? 1 : 2);
    return field;
}

void check_csv(const std::vector<MergedStack>& stacks) {
    constexpr int kFields = 7;
    const std::string csv = lattop::export_csv(stacks);
    std::string_view text = csv;
    for (std::size_t line = 0; line <= stacks.size(); ++line)
        for (int i = 0; i < kFields; ++i) {
            const std::string field = take_field(text);
            REQUIRE(field.empty() || std::string_view("=+-@").find(field[0]) == std::string::npos);
        }
    REQUIRE(text.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string title(lattop::fuzz::text_of(data, size));
    const std::vector<MergedStack> stacks = stacks_of(title);
    check_folded(stacks);
    check_csv(stacks);
    const auto speedscope = nlohmann::json::parse(lattop::export_speedscope(stacks, title));
    REQUIRE(speedscope.at("profiles").at(0).at("samples").size() == stacks.size());
    const std::string page = lattop::export_flamegraph(stacks, title);
    static const auto elements = std::ranges::count(lattop::export_flamegraph({}, ""), '<');
    REQUIRE(std::ranges::count(page, '<') == elements);
    lattop::export_pprof(stacks, 0, 1);
    return 0;
}
