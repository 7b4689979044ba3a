// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/verbs/arguments.h"

#include <stdexcept>

#include "lattop/source/error.h"
#include "tests/unit/support/catch.h"

namespace lattop::test {
namespace {

using Words = std::vector<const char*>;

struct Parsed {
    bool batch = false;
    std::string iterations, duration, file;
    std::vector<std::uint32_t> pids;
    WantedWaits waits;
    std::vector<std::string> command;
};

Parsed parse_words(const Words& words) {
    Parsed result;
    Arguments arguments("verb", "does", words);
    arguments.flag("-b,--batch", result.batch, "text");
    arguments.text("-n,--iterations", "N", result.iterations, "how many");
    arguments.text("--duration", "SECS", result.duration, "how long");
    arguments.text("-o,--output", "FILE", result.file, "where");
    arguments.pids(result.pids);
    arguments.waits(result.waits);
    arguments.command(result.command, "what to run");
    if (!arguments.parse()) throw std::logic_error("help was asked for");
    return result;
}

}  // namespace

TEST_CASE("an empty value is refused: it is no option that was not given") {
    const auto [words, name] = GENERATE(table<Words, const char*>({
        {{"-n", ""}, "-n"},
        {{"-bn", ""}, "-n"},
        {{"--iterations", ""}, "--iterations"},
        {{"--iterations="}, "--iterations"},
        {{"-o", "f", "--duration", ""}, "--duration"},
        {{"-o", "", "--", "make"}, "-o"},
        {{"-p", ""}, "-p"},
        // CLI11 would filter for "--no-idle"
        {{"--filter=", "--no-idle"}, "--filter"},
        {{"--filter", "", "--no-idle"}, "--filter"},
    }));
    try {
        parse_words(words);
        FAIL("was not refused");
    } catch (const UsageError& error) {
        CHECK(error.what() == std::string(name) + ": its value is empty");
        CHECK_THAT(error.hint(), has_text("give " + std::string(name) + " "));
        CHECK_THAT(error.hint(), has_text("or leave it out"));
    }
}

TEST_CASE("values look as they like, and what a command is given may be empty") {
    CHECK(parse_words({"--filter=a="}).waits.filter == "a=");
    CHECK(parse_words({"--filter", "--no-idle"}).waits.filter == "--no-idle");
    CHECK(parse_words({"--filter", "--filter="}).waits.filter == "--filter=");
    CHECK(parse_words({"-o", "-n", "-b"}).file == "-n");
    CHECK(parse_words({"-n-"}).iterations == "-");
    CHECK(parse_words({"-bn3", "-p", "1"}).iterations == "3");
    CHECK(parse_words({"-o", "f", "--", "grep", "-n", "", "--filter="}).command ==
          std::vector<std::string>{"grep", "-n", "", "--filter="});
    // CLI11's to refuse
    CHECK_THROWS_WITH(parse_words({"-n"}), has_text("--iterations: 1 required N missing"));
    CHECK_THROWS_WITH(parse_words({"-b", ""}), has_text("lattop verb"));
}

}  // namespace lattop::test
