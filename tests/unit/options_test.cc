// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/options.h"

#include "lattop/commands.h"
#include "lattop/source/error.h"
#include "tests/unit/support/catch.h"

namespace lattop::test {
namespace {

using namespace std::chrono_literals;

CommandLine parse(std::vector<const char*> arguments) {
    Arguments own("", "does", arguments);
    return parse_command_line(own);
}

}  // namespace

TEST_CASE("options are taken in every form") {
    CHECK(!parse({}).options.batch);
    CHECK(parse({"-b"}).options.batch);
    CHECK(parse({"--json"}).options.batch);
    CHECK(!parse({"--json"}).options.objects);
    CHECK(parse({"--json", "--objects"}).options.objects);
    CHECK(parse({"--json", "--objects", "-i", "file"}).options.objects);
    CHECK(parse({"--json", "--cmdline"}).options.command_lines);
    CHECK(parse({"-b", "-n", "3"}).options.refreshes == 3);
    CHECK(parse({"-b", "-n3"}).options.refreshes == 3);
    CHECK(parse({"-d", "0.5"}).options.delay == 500ms);
    CHECK(parse({"--delay=10"}).options.delay == 10s);
    CHECK(parse({"-p", "1,2", "-p", "3"}).options.selection.pids ==
          std::vector<std::uint32_t>{1, 2, 3});
    CHECK(parse({"-p", "1", "-b"}).options.batch);
    CHECK(parse({"-s", "max"}).options.sort == Column::Max);
    CHECK(parse({"--limit", "0"}).options.limit == 0);
    CHECK(!parse({}).options.limit);
    CHECK(parse({}).options.learn);
    CHECK(!parse({"--no-learn"}).options.learn);
    CHECK(parse({"-k"}).options.selection.hide_kernel_threads);
}

TEST_CASE("help and version are printed, nothing else happens") {
    CHECK_THAT(parse({"--help"}).print.value(), has_text("--no-kernel-threads"));
    CHECK_THAT(parse({"-b", "--version"}).print.value(), has_text("lattop 0."));
}

TEST_CASE("wrong usage says what would be right") {
    const std::vector<std::pair<std::vector<const char*>, const char*>> cases = {
        {{"-b", "-n", "0"}, "whole number from 1"},
        {{"-b", "-n", "x"}, "whole number"},
        {{"-b", "-n", "99999999999999999999"}, "whole number"},
        {{"-n", "1"}, "-b or --json"},
        {{"-b", "--objects"}, "goes with --json"},
        {{"-b", "--cmdline"}, "goes with --json"},
        {{"--json", "--cmdline", "-i", "file"}, "no recording has"},
        {{"-d", "0.05"}, "0.1 to 3600"},
        {{"-d", "nan"}, "0.1 to 3600"},
        {{"-d", "1e999"}, "0.1 to 3600"},
        {{"-d", "2s"}, "0.1 to 3600"},
        {{"-p", "0"}, "from 1 to 4194304"},
        {{"-p", "1,,2"}, "from 1 to 4194304"},
        {{"-p", "-1"}, "-p"},
        {{"-s", "nothing"}, "blocked"},
        {{"--limit", "2000000"}, "from 0 to 1048576"},
        {{"--nonsense"}, "nonsense"},
        {{"word"}, "word"},
    };
    for (const auto& [arguments, message] : cases) {
        INFO(arguments.back());
        CHECK_THROWS_AS(parse(arguments), UsageError);
        CHECK_THROWS_WITH(parse(arguments), has_text(message));
    }
    std::string many = "1";
    for (int i = 0; i < LT_MAX_PIDS; ++i)
        many += ",1";
    CHECK_THROWS_WITH(parse({"-p", many.c_str()}), has_text("1024 at most"));
}

TEST_CASE("whatever shows waits takes the same filters, and says the same of them") {
    const auto tables = command_tables();
    const auto find = [&](std::string_view verb, const std::string& option) {
        const auto table = std::ranges::find(tables, verb, &CommandTable::name);
        REQUIRE(table != tables.end());
        const auto found = std::ranges::find_if(table->arguments, [&](const Argument& argument) {
            return std::ranges::count(argument.names, option) != 0;
        });
        INFO(verb << " " << option);
        REQUIRE(found != table->arguments.end());
        return found->help;
    };
    for (const char* verb : {"chain", "diff", "export", "replay", "report", "run"})
        for (const char* option : {"--filter", "--no-idle"})
            CHECK(find(verb, option) == find("", option));
}

}  // namespace lattop::test
