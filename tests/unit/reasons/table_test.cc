// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/reasons/table.h"

#include "lattop/source/error.h"
#include "tests/unit/support/catch.h"

namespace lattop::test {
namespace {

ReasonTable table(std::string_view text) {
    ReasonTable result;
    result.append(text, "x.conf");
    return result;
}

std::string decided(const ReasonTable& table, std::vector<std::string_view> kernel,
                    std::vector<std::string_view> user = {}) {
    const Reason* reason = table.decide({std::move(kernel), std::move(user)});
    return reason == nullptr ? "nothing" : reason->name;
}

}  // namespace

TEST_CASE("a star is any text, also none") {
    CHECK(glob_matches("futex_*", "futex_wait"));
    CHECK(glob_matches("futex_*", "futex_"));
    CHECK(glob_matches("*lock*", "__mutex_lock_slow"));
    CHECK(glob_matches("a*b*c", "a-bb-b-c"));
    CHECK(glob_matches("*", ""));
    CHECK(glob_matches("", ""));
    CHECK(!glob_matches("futex", "futex_wait"));
    CHECK(!glob_matches("a*b*c", "a-b-d"));
    CHECK(!glob_matches("*x", ""));
}

TEST_CASE("the innermost function that a line names decides") {
    const ReasonTable lines = table("outer: f_out*\ninner: f_in\n");
    CHECK(decided(lines, {"schedule", "f_in", "f_outer"}) == "inner");
    CHECK(decided(lines, {"schedule", "f_outer", "f_in"}) == "outer");
    CHECK(decided(lines, {"schedule"}) == "nothing");
    CHECK(decided(lines, {}) == "nothing");
}

TEST_CASE("of two lines for one function the first decides") {
    CHECK(decided(table("one: f\ntwo: f\n"), {"f"}) == "one");
}

TEST_CASE("a section that decides leaves the later ones out") {
    const ReasonTable lines = table("[first]\none: outer\n[second]\ntwo: inner\n");
    CHECK(decided(lines, {"inner", "outer"}) == "one");
    CHECK(decided(lines, {"inner"}) == "two");
}

TEST_CASE("the file that came first is tried first") {
    ReasonTable lines = table("mine: outer\n");
    lines.append("theirs: inner outer\n", "y.conf");
    CHECK(decided(lines, {"inner", "outer"}) == "mine");
    CHECK(decided(lines, {"inner"}) == "theirs");
}

TEST_CASE("callers narrow a line down, also those of the program") {
    const ReasonTable lines = table(
        "condition: futex_*<user:pthread_cond_*\nmine: *<user:ns::Queue::pop\n"
        "mmap: down_read*<do_fault\nfutex: futex_*\nrwsem: down_read*\n");
    CHECK(decided(lines, {"futex_wait"}) == "futex");
    CHECK(decided(lines, {"futex_wait"}, {"", "pthread_cond_wait", "main"}) == "condition");
    CHECK(decided(lines, {"futex_wait"}, {"main"}) == "futex");
    CHECK(decided(lines, {"down_read", "do_fault"}) == "mmap");
    CHECK(decided(lines, {"do_fault", "down_read"}) == "rwsem");
    CHECK(decided(lines, {"schedule", "poll"}, {"ns::Queue::pop"}) == "mine");
    // A function of the program is none of the kernel's, and the other way round.
    CHECK(decided(lines, {"futex_wait", "pthread_cond_wait"}) == "futex");
    CHECK(decided(lines, {"x"}, {"futex_wait"}) == "nothing");
}

TEST_CASE("several callers stand in their order") {
    const ReasonTable lines = table("abc: a<b<user:c\n");
    CHECK(decided(lines, {"a", "x", "b"}, {"y", "c"}) == "abc");
    CHECK(decided(lines, {"b", "a"}, {"c"}) == "nothing");
}

TEST_CASE("only lines about the program's functions ask for their names") {
    const ReasonTable lines = table("one: futex_*<user:x\ntwo: poll\n");
    const std::vector<std::string_view> futex = {"schedule", "futex_wait"};
    const std::vector<std::string_view> poll = {"schedule", "poll"};
    CHECK(lines.asks_for_user(futex));
    CHECK(!lines.asks_for_user(poll));
}

TEST_CASE("a reason says whether it is waiting for work, and which line decided") {
    const ReasonTable lines = table("# nothing\n\n  job queue (idle) :  f   g # pools\r\nrun: h\n");
    const Reason* idle = lines.decide({{"g"}, {}});
    REQUIRE(idle != nullptr);
    CHECK(idle->name == "job queue");
    CHECK(idle->idle);
    CHECK(idle->decided == "x.conf:3");
    CHECK(!lines.decide({{"h"}, {}})->idle);
}

TEST_CASE("what is wrong with a line is said with file, line and remedy") {
    struct Case {
        const char* text;
        const char* message;
    };
    const auto [text, message] = GENERATE(values<Case>({
        {"a: f\nfutex futex_*\n", "x.conf:2: 'futex futex_*' is not understood: write REASON"},
        {": f\n", "x.conf:1: '': a reason has 1 to 16 characters"},
        {"a name that is too long: f\n", "a reason has 1 to 16 characters"},
        {"a (busy): f\n", "x.conf:1: 'a (busy)' is no reason"},
        {"a:\n", "x.conf:1: 'a' has no function behind the colon"},
        {"a: f<\n", "x.conf:1: 'f<' ends with '<'"},
        {"a: f<<g\n", "x.conf:1: 'f<<g' lacks the name of a function"},
        {"a: f<user:\n", "lacks the name"},
        {"a: user:f\n", "write *<user:f"},
        {"a: f<user:g<h\n", "callers stand to the right"},
        {"[\n", "x.conf:1: '[' is no section: write [NAME]"},
        {"[]\n", "is no section"},
    }));
    ReasonTable lines;
    INFO(text);
    try {
        lines.append(text, "x.conf");
        FAIL("it was taken");
    } catch (const Error& error) {
        CHECK_THAT(error.what(), has_text(message));
        CHECK_THAT(error.hint(), has_text("reasons.conf"));
    }
}

}  // namespace lattop::test
