// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/export/stacks.h"

#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <sstream>

#include "lattop/verbs/report.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/golden.h"
#include "tests/unit/support/sample.h"

namespace lattop::test {
namespace {

using Json = nlohmann::json;

/// Names that each format has a weakness for.
const std::vector<std::string> kHostile = {
    "a;b;c",
    "two\nlines 5",
    "quote\"quote,comma",
    "</script><script>alert(1)</script>",
    "<!--",
    "\x1b[2J\x1b]0;title\a",
    "bad\xff\xfe utf8",
    "ends 12",
    "/*DATA*/",
    "$& ${x} `y` \\u0041 \\",
    "",
    "\xe2\x80\xa8line separator",
    ")HTML\"",
    "=cmd|' /C calc'!A0",
};

std::vector<MergedStack> hostile_stacks() {
    std::vector<MergedStack> stacks;
    std::uint64_t ns = 1'000;
    for (const std::string& name : kHostile) {
        MergedStack stack;
        stack.command = name;
        stack.frames = {{name, name, 3, false}, {name, "", 0, true}};
        stack.reason = name;
        stack.blocked_ns = ns++;
        stack.sleeps = 2;
        stack.tasks = 1;
        stacks.push_back(std::move(stack));
    }
    return stacks;
}

std::vector<MergedStack> sample_stacks() {
    const Snapshot snapshot = sample_machine(10).snapshot();
    Reasons reasons;
    return merge_stacks(snapshot, SampleStacks(), reasons);
}

std::uint64_t total(const std::vector<MergedStack>& stacks) {
    std::uint64_t sum = 0;
    for (const MergedStack& stack : stacks)
        sum += stack.blocked_ns;
    return sum;
}

/// What stands in the page between the marks of the data's line.
Json page_data(const std::string& page) {
    const std::string begin = "const data = ";
    const std::size_t from = page.find(begin) + begin.size();
    return Json::parse(page.substr(from, page.find(";\n", from) - from));
}

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t n = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at)
        ++n;
    return n;
}

/// RFC 4180, read back.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
    std::vector<std::vector<std::string>> rows(1);
    std::string field;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (quoted) {
            if (text[i] != '"')
                field += text[i];
            else if (i + 1 < text.size() && text[i + 1] == '"')
                field += text[++i];
            else
                quoted = false;
        } else if (text[i] == '"') {
            quoted = true;
        } else if (text[i] == ',') {
            rows.back().push_back(std::exchange(field, {}));
        } else if (text[i] == '\r' && text[i + 1] == '\n') {
            rows.back().push_back(std::exchange(field, {}));
            rows.emplace_back();
            ++i;
        } else {
            field += text[i];
        }
    }
    rows.pop_back();
    return rows;
}

}  // namespace

TEST_CASE("stacks of the same names are one, and their times add up") {
    const Snapshot snapshot = sample_machine(10).snapshot();
    Reasons reasons;
    const auto stacks = merge_stacks(snapshot, SampleStacks(), reasons);
    std::uint64_t entries = 0;
    for (const Task& task : snapshot.tasks)
        for (const Entry& entry : snapshot.entries_of(task))
            entries += entry.blocked_ns;
    CHECK(total(stacks) == entries);
    SnapshotBuilder builder;
    const auto trace = builder.add_trace({.id = 1, .kernel = {"schedule"}, .user = {1}});
    for (const std::uint32_t pid : {1U, 2U, 3U})
        builder.add_task({.pid = pid,
                          .blocked_ns = pid,
                          .sleeps = 1,
                          .entries = {{.trace = trace, .blocked_ns = pid, .max_ns = pid}}});
    const auto merged = merge_stacks(builder.snapshot(), NoUserStacks(), reasons);
    REQUIRE(merged.size() == 1);
    CHECK(merged[0].blocked_ns == 6);
    CHECK(merged[0].tasks == 3);
    CHECK(merged[0].max_ns == 3);
    CHECK(merged[0].folded() == "task;0x1;schedule_[k]");
}

TEST_CASE("a task counts once, in however many of its stacks the names are the same") {
    SnapshotBuilder builder;
    const auto one = builder.add_trace({.id = 1, .kernel = {"schedule"}});
    const auto again = builder.add_trace({.id = 2, .kernel = {"schedule"}});
    builder.add_task(
        {.blocked_ns = 3,
         .sleeps = 2,
         .entries = {{.trace = one, .blocked_ns = 1}, {.trace = again, .blocked_ns = 2}}});
    Reasons reasons;
    const auto stacks = merge_stacks(builder.snapshot(), NoUserStacks(), reasons);
    REQUIRE(stacks.size() == 1);
    CHECK(stacks[0].blocked_ns == 3);
    CHECK(stacks[0].tasks == 1);
    CHECK(stacks[0].command == "task");
}

TEST_CASE("worker-1 and worker-2 of one process are one row of a report") {
    SnapshotBuilder builder;
    const auto trace = builder.add_trace({.id = 1, .kernel = {"schedule"}});
    for (const std::uint32_t pid : {11U, 12U})
        builder.add_task({.pid = pid,
                          .tgid = 11,
                          .comm = "worker-" + std::to_string(pid - 10),
                          .blocked_ns = 3,
                          .sleeps = 2,
                          .entries = {{.trace = trace, .blocked_ns = pid}}});
    SampleUsers users;
    Reasons reasons;
    const std::string text =
        report_text(builder.snapshot(), NoUserStacks(), users, reasons, "", {}, Charset::Ascii);
    CHECK_THAT(text, has_text("worker-2 +1\n        schedule"));
}

TEST_CASE("threads of one process are one, whatever their names, where processes count") {
    SnapshotBuilder builder;
    const auto trace = builder.add_trace({.id = 1, .kernel = {"schedule"}});
    const auto add = [&](std::uint32_t pid, std::uint32_t tgid, const char* comm,
                         std::uint64_t start_ns, std::uint64_t blocked_ns) {
        builder.add_task({.pid = pid,
                          .tgid = tgid,
                          .comm = comm,
                          .blocked_ns = blocked_ns,
                          .sleeps = 1,
                          .start_ns = start_ns,
                          .entries = {{.trace = trace, .blocked_ns = blocked_ns}}});
    };
    builder.add_task({.pid = 10, .comm = "server", .start_ns = 100});  // never slept there
    add(11, 10, "worker-1", 110, 3);
    add(12, 10, "worker-2", 120, 5);
    add(13, 10, "worker-3", 130, 4);
    add(20, 20, "client", 200, 2);
    add(30, 30, "client", 300, 2);  // another run of it
    // The pid of the server, used again
    builder.add_task({.pid = 10, .comm = "later", .start_ns = 900});
    add(14, 10, "worker-1", 910, 1);
    const Snapshot snapshot = builder.snapshot();
    const ProcessNames processes(snapshot);
    Reasons reasons;
    CHECK(merge_stacks(snapshot, NoUserStacks(), reasons).size() == 4);  // by thread
    const auto stacks = merge_stacks(snapshot, NoUserStacks(), reasons, &processes);
    REQUIRE(stacks.size() == 3);
    CHECK(stacks[0].command == "worker-2 +2");
    CHECK(stacks[0].identity() == "server;schedule_[k]");
    CHECK(stacks[0].tasks == 3);
    CHECK(stacks[0].blocked_ns == 12);
    CHECK(stacks[1].command == "client");
    CHECK(stacks[1].tasks == 2);
    CHECK(stacks[2].command == "worker-1");
    CHECK(stacks[2].identity() == "later;schedule_[k]");
}

TEST_CASE("a trace longer than any machine's is cut, and every export has room for it") {
    SnapshotBuilder builder;
    std::vector<std::uint64_t> addresses(4'096);
    std::iota(addresses.begin(), addresses.end(), 1);
    const auto trace = builder.add_trace({.kernel = {"schedule"}, .user = addresses});
    builder.add_task(
        {.blocked_ns = 5, .sleeps = 1, .entries = {{.trace = trace, .blocked_ns = 5}}});
    Reasons reasons;
    const auto stacks = merge_stacks(builder.snapshot(), NoUserStacks(), reasons);
    REQUIRE(stacks.size() == 1);
    CHECK(stacks[0].frames.size() == kMaxMergedFrames);
    CHECK(stacks[0].frames.front().name == "[more]");
    CHECK(stacks[0].frames.back().name == "schedule");
    CHECK_THAT(export_flamegraph(stacks, "t"), has_text("[more]"));
    CHECK_THAT(export_speedscope(stacks, "t"), has_text("[more]"));
    CHECK_THAT(export_pprof(stacks, 0, 1), has_text("[more]"));
}

TEST_CASE("stacks that have no room are [other], and their time is not lost") {
    SnapshotBuilder builder;
    for (const std::uint32_t i : {1U, 2U, 3U}) {
        const auto trace =
            builder.add_trace({.id = i, .kernel = std::vector(10, std::string(500, 'f'))});
        builder.add_task({.pid = i,
                          .comm = "c" + std::to_string(i),
                          .entries = {{.trace = trace, .blocked_ns = i}}});
    }
    Reasons reasons;
    const auto stacks = merge_stacks(builder.snapshot(), NoUserStacks(), reasons, nullptr, 12'000);
    CHECK(total(stacks) == 6);
    CHECK(std::ranges::count_if(stacks, [](const auto& one) { return one.frames.empty(); }) == 2);
}

TEST_CASE("folded stacks look as recorded") {
    check_golden("folded.txt", export_folded(sample_stacks()));
}

TEST_CASE("no name breaks the folded format") {
    std::istringstream lines(export_folded(hostile_stacks()));
    std::size_t n = 0;
    for (std::string line; std::getline(lines, line); ++n) {
        INFO(line);
        const std::size_t blank = line.rfind(' ');
        CHECK(line.substr(blank + 1) == std::to_string(1'000 + n));
        CHECK(std::ranges::count(line.substr(0, blank), ';') == 2);
        CHECK(std::ranges::none_of(line, [](char c) { return c >= 0 && c < ' '; }));
    }
    CHECK(n == kHostile.size());
}

TEST_CASE("no name breaks CSV") {
    const auto rows = read_csv(export_csv(hostile_stacks()));
    REQUIRE(rows.size() == kHostile.size() + 1);
    for (const auto& row : rows)
        CHECK(row.size() == 7);
    CHECK(rows[3][0] == "quote\"quote,comma");
    CHECK(rows[1][2] == "1000");
    CHECK(rows[0][6] == "stack");
}

TEST_CASE("no name is a formula to a spreadsheet") {
    CHECK(csv_field("=1+1") == "'=1+1");
    CHECK(csv_field("@SUM(A1,A2)") == "\"'@SUM(A1,A2)\"");
    CHECK(csv_field("+1") == "'+1");
    CHECK(csv_field("-1") == "'-1");
    CHECK(csv_field("a=1") == "a=1");
    CHECK(csv_field("main;=1+1;b;@c") == "main;'=1+1;b;'@c");
    CHECK(csv_field("").empty());
}

TEST_CASE("speedscope: frames, samples and weights fit together, whatever the names") {
    const auto check = [](const std::vector<MergedStack>& stacks) {
        const Json document = Json::parse(export_speedscope(stacks, "a\xff\"title"));
        CHECK(document.at("$schema") == "https://www.speedscope.app/file-format-schema.json");
        const Json& frames = document.at("shared").at("frames");
        const Json& profile = document.at("profiles").at(0);
        CHECK(profile.at("type") == "sampled");
        CHECK(profile.at("unit") == "nanoseconds");
        REQUIRE(profile.at("samples").size() == profile.at("weights").size());
        std::uint64_t sum = 0;
        for (const Json& weight : profile.at("weights"))
            sum += weight.get<std::uint64_t>();
        CHECK(sum == total(stacks));
        CHECK(profile.at("endValue") == sum);
        for (const Json& sample : profile.at("samples")) {
            CHECK(!sample.empty());
            for (const Json& index : sample)
                CHECK(index.get<std::size_t>() < frames.size());
        }
        for (const Json& frame : frames)
            CHECK(frame.at("name").is_string());
    };
    check(sample_stacks());
    check(hostile_stacks());
    check({});
}

namespace {

/// A protobuf message read back: fields by number, numbers and bytes.
struct Fields {
    std::multimap<unsigned, std::uint64_t> numbers;
    std::multimap<unsigned, std::string> bytes;
};

std::uint64_t take_varint(std::string_view& from) {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        const auto byte = static_cast<unsigned char>(from.at(0));
        from.remove_prefix(1);
        value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
        if (byte < 0x80) return value;
    }
}

Fields read_message(std::string_view from) {
    Fields fields;
    while (!from.empty()) {
        const std::uint64_t tag = take_varint(from);
        const auto field = static_cast<unsigned>(tag >> 3);
        if ((tag & 7) == 0) {
            fields.numbers.emplace(field, take_varint(from));
        } else {
            REQUIRE((tag & 7) == 2);
            const std::uint64_t size = take_varint(from);
            REQUIRE(size <= from.size());
            fields.bytes.emplace(field, from.substr(0, size));
            from.remove_prefix(size);
        }
    }
    return fields;
}

std::vector<std::uint64_t> read_packed(std::string_view from) {
    std::vector<std::uint64_t> numbers;
    while (!from.empty())
        numbers.push_back(take_varint(from));
    return numbers;
}

}  // namespace

TEST_CASE("pprof: ids and strings are in range, and the times add up, whatever the names") {
    for (const auto& stacks : {sample_stacks(), hostile_stacks(), {}}) {
        const Fields profile = read_message(export_pprof(stacks, kSecond, 7));
        std::vector<std::string> strings;
        for (auto [at, end] = profile.bytes.equal_range(6); at != end; ++at)
            strings.push_back(at->second);
        REQUIRE(!strings.empty());
        CHECK(strings.front().empty());
        CHECK(profile.numbers.find(9)->second == kSecond);
        CHECK(profile.numbers.find(10)->second == 7);
        std::set<std::uint64_t> functions;
        for (auto [at, end] = profile.bytes.equal_range(5); at != end; ++at) {
            const Fields function = read_message(at->second);
            functions.insert(function.numbers.find(1)->second);
            for (const unsigned text : {2U, 3U, 4U})
                CHECK(function.numbers.find(text)->second < strings.size());
        }
        std::set<std::uint64_t> locations;
        for (auto [at, end] = profile.bytes.equal_range(4); at != end; ++at) {
            const Fields location = read_message(at->second);
            locations.insert(location.numbers.find(1)->second);
            const Fields line = read_message(location.bytes.find(4)->second);
            CHECK(functions.contains(line.numbers.find(1)->second));
        }
        CHECK(!locations.contains(0));
        CHECK(profile.bytes.count(2) == stacks.size());
        std::uint64_t sum = 0;
        for (auto [at, end] = profile.bytes.equal_range(2); at != end; ++at) {
            const Fields sample = read_message(at->second);
            for (const std::uint64_t id : read_packed(sample.bytes.find(1)->second))
                CHECK(locations.contains(id));
            const auto values = read_packed(sample.bytes.find(2)->second);
            REQUIRE(values.size() == profile.bytes.count(1));
            sum += values[1];
        }
        CHECK(sum == total(stacks));
    }
}

TEST_CASE("the flame graph's tree adds up") {
    const auto stacks = sample_stacks();
    const Json data = page_data(export_flamegraph(stacks, "title"));
    const std::function<std::uint64_t(const Json&)> check = [&](const Json& node) {
        CHECK(node.at(0).get<std::size_t>() < data.at("names").size());
        CHECK(node.at(1).get<std::size_t>() < data.at("reasons").size());
        std::uint64_t below = 0;
        for (const Json& child : node.at(4))
            below += check(child);
        CHECK(below <= node.at(2).get<std::uint64_t>());
        return node.at(2).get<std::uint64_t>();
    };
    CHECK(check(data.at("tree")) == total(stacks));
    CHECK(data.at("title") == "title");
}

TEST_CASE("no name gets out of the flame graph's data") {
    const std::string empty = export_flamegraph({}, "");
    const std::string page = export_flamegraph(hostile_stacks(), kHostile[3]);
    for (const char* what : {"<script", "</script", "<!--", "/*DATA*/const", "\x1b"})
        CHECK(count(page, what) == count(empty, what));
    const Json data = page_data(page);
    CHECK(data.at("title") == kHostile[3]);
    CHECK(data.at("tree").at(4).size() == kHostile.size());
}

TEST_CASE("a name of a million brackets is as quickly in a page as others") {
    // As it was each moved all that is behind it: minutes
    constexpr std::size_t kMany = 1'000'000;
    MergedStack stack;
    stack.command = "x";
    stack.frames = {{std::string(kMany, '<'), "", 0, false}};
    stack.blocked_ns = 1;
    stack.sleeps = stack.tasks = 1;
    const auto brackets = [](const std::vector<MergedStack>& stacks) {
        return count(export_flamegraph(stacks, "t"), "\\u003c");
    };
    CHECK(brackets({stack}) == brackets({}) + kMany);
}

}  // namespace lattop::test
