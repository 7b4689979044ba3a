// SPDX-License-Identifier: GPL-2.0-or-later
//
// The command line, a word a line: what it says is within the limits that its
// errors name, or it is a UsageError, which says something.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "lattop/options.h"
#include "lattop/source/error.h"
#include "tests/fuzz/bytes.h"

namespace {

template <typename Parse>
void refused_or(const Parse& parse) {
    try {
        parse();
    } catch (const lattop::UsageError& error) {
        REQUIRE(*error.what() != '\0');
    }
}

void check(const lattop::Options& options) {
    REQUIRE(options.delay >= lattop::kMinDelay && options.delay <= lattop::kMaxDelay);
    REQUIRE(!options.refreshes || (*options.refreshes != 0 && options.batch));
    REQUIRE(!options.limit || *options.limit <= LT_MAX_LIMIT);
    REQUIRE(options.selection.pids.size() <= LT_MAX_PIDS);
    REQUIRE(std::ranges::count(options.selection.pids, 0U) == 0);
    REQUIRE(!options.json || options.batch);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t kMostWords = 64;
    std::string_view text = lattop::fuzz::text_of(data, size);
    std::vector<std::string> words;
    while (!text.empty() && words.size() < kMostWords) {
        std::string_view word = lattop::fuzz::take_until(text, '\n');
        words.emplace_back(lattop::fuzz::take_until(word, '\0'));
    }
    std::vector<const char*> list;
    for (const std::string& word : words)
        list.push_back(word.c_str());
    refused_or([&] {
        lattop::Arguments arguments("", "fuzz", list);
        const lattop::CommandLine line = lattop::parse_command_line(arguments);
        if (line.print)
            REQUIRE(!line.print->empty());
        else
            check(line.options);
    });
    // A word is read alike wherever it stands: the first
    using std::chrono::milliseconds;
    const std::string word = words.empty() ? "" : words.front();
    refused_or([&] {
        const milliseconds delay = lattop::parse_delay(word);
        REQUIRE(delay >= lattop::kMinDelay && delay <= lattop::kMaxDelay);
    });
    refused_or([&] {
        const milliseconds duration = lattop::parse_duration(word, "--duration");
        REQUIRE(duration >= milliseconds(1) && duration <= std::chrono::days(31));
    });
    refused_or([&] {
        const auto pids = lattop::parse_pids({word});
        REQUIRE(pids.size() == 1U + static_cast<std::size_t>(std::ranges::count(word, ',')));
    });
    return 0;
}
