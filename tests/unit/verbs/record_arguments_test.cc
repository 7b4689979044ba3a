// SPDX-License-Identifier: GPL-2.0-or-later
//
// What record and the verbs beside it are told on the command line.
#include "lattop/verbs/record.h"

#include "lattop/source/error.h"
#include "lattop/verbs/replay.h"
#include "tests/unit/support/catch.h"

namespace lattop::test {

TEST_CASE("the selection of a verb is read as the live table's is") {
    const auto parse = [](std::vector<const char*> words) {
        Selection selection;
        std::string file;
        Arguments arguments("verb", "does", words);
        arguments.text("-o", "FILE", file, "where");
        arguments.selection(selection);
        if (!arguments.parse()) throw std::logic_error("help was asked for");
        return selection;
    };
    CHECK(parse({"-p", "1,2", "-p", "3", "-o", "x"}).pids == std::vector<std::uint32_t>{1, 2, 3});
    CHECK(parse({"-k"}).query().flags == LT_Q_NO_KTHREADS);
    CHECK_THROWS_AS(parse({"-p", "x"}), UsageError);
    CHECK_THROWS_WITH(parse({"--nonsense"}), has_text("lattop verb"));
}

TEST_CASE("a command stands behind two dashes, its options are its own") {
    const auto parse = [](const std::vector<const char*>& words) {
        std::string file;
        std::vector<std::string> command;
        Arguments arguments("verb", "does", words);
        arguments.text("-o", "FILE", file, "where");
        arguments.command(command, "what to run");
        if (!arguments.parse()) throw std::logic_error("help was asked for");
        CHECK(file == "x");
        return command;
    };
    CHECK(parse({"-o", "x", "--", "make", "-j2", "--", "all"}) ==
          std::vector<std::string>{"make", "-j2", "--", "all"});
    CHECK(parse({"-o", "x"}).empty());
    CHECK_THROWS_WITH(parse({"-o", "x", "--"}), has_text("no command stands behind --"));
}

TEST_CASE("filters are refused by record, with what to do instead") {
    const std::vector<const char*> words = GENERATE(values<std::vector<const char*>>(
        {{"-o", "x", "--filter", "postgres"}, {"--filter=postgres"}, {"-o", "x", "--no-idle"}}));
    Arguments arguments("record", "records", words);
    try {
        record_command(arguments);
        FAIL("was not refused");
    } catch (const UsageError& error) {
        CHECK_THAT(error.what(), has_text("a recording keeps all sleeps"));
        CHECK_THAT(error.hint(), has_text("when they read it"));
    }
    // What is not refused is unknown, or something else is wrong with it.
    const std::vector<const char*> other = {"-o", "x", "--nonsense"};
    Arguments unknown("record", "records", other);
    CHECK_THROWS_WITH(record_command(unknown), has_text("--nonsense"));
}

TEST_CASE("replay takes a limit as the live table does") {
    const std::vector<const char*> words = {"--limit", "many", "x"};
    Arguments arguments("replay", "replays", words);
    CHECK_THROWS_WITH(replay_command(arguments), has_text("--limit many: give a whole number"));
}

}  // namespace lattop::test
