// SPDX-License-Identifier: GPL-2.0-or-later
//
// `lattop --json --objects`: what sleeping tasks wait for.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "lattop/batch.h"
#include "lattop/model/object_finder.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/fake_world.h"

namespace lattop::test {
namespace {

using namespace std::chrono_literals;
using Document = nlohmann::json;

/// Finds of sleeps what a test says, as of the snapshot asked for last.
class FakeObjects final : public ObjectFinder {
public:
    void want(const Snapshot& snapshot) override {
        time_ns = snapshot.header.time_ns;
        std::vector<std::uint32_t> pids;
        for (const Task& task : snapshot.tasks)
            pids.push_back(task.pid);
        std::ranges::sort(pids);
        wanted.push_back(pids);
    }
    std::vector<FoundObjects> take() override { return {}; }
    std::vector<FoundObjects> wait(std::chrono::milliseconds patience) override {
        waited.push_back(patience);
        return {FoundObjects{time_ns, std::exchange(found, {})}};
    }

    std::vector<FoundObjects::Object> found;  // with the next wait
    std::uint64_t time_ns = 0;
    std::vector<std::vector<std::uint32_t>> wanted;
    std::vector<std::chrono::milliseconds> waited;
};

/// Sleepers 11 and 12, and 13, who is awake.
Snapshot sleepers(std::uint64_t n) {
    SnapshotBuilder builder;
    builder.header.time_ns = (100 + 2 * n) * kSecond;
    builder.add_task({.pid = 11, .ongoing_ns = builder.header.time_ns - kSecond});
    builder.add_task({.pid = 12, .ongoing_ns = kSecond});
    builder.add_task({.pid = 13, .flags = 0});
    return builder.snapshot();
}

FoundObjects::Object of_sleep(std::uint32_t pid, std::uint64_t begin_ns) {
    return {{{LT_KIND_TASK, pid, pid, 1000}, begin_ns}, "fd 7: /f" + std::to_string(pid)};
}

Options document_options(std::uint64_t refreshes) {
    Options options;
    options.batch = options.json = true;
    options.refreshes = refreshes;
    return options;
}

struct ObjectsRun : FakeWorld {
    /// The documents.
    std::vector<Document> go(const Options& options) {
        World world = with(asleep);
        world.objects = &objects;
        std::string printed;
        run_batch(options, world, Charset::Utf8, [&](std::string_view text) {
            printed += text;
            return true;
        });
        std::vector<Document> documents;
        std::istringstream lines(printed);
        for (std::string line; std::getline(lines, line);)
            documents.push_back(Document::parse(line));
        return documents;
    }

    FakeSource asleep{sleepers};
    FakeObjects objects;
};

std::map<std::uint32_t, std::string> waits_for(const Document& document) {
    std::map<std::uint32_t, std::string> objects;
    for (const Document& task : document.at("tasks"))
        objects[task.at("pid")] = task.at("waits_for");
    return objects;
}

}  // namespace

TEST_CASE("what a task waits for is said where asked for, of the sleep that is shown") {
    ObjectsRun run;
    run.objects.found = {of_sleep(11, kSecond), of_sleep(12, 7 * kSecond)};  // 12 sleeps anew
    CHECK(!run.go(document_options(1)).at(0).at("tasks").at(0).contains("waits_for"));
    CHECK(run.objects.wanted.empty());
    Options options = document_options(1);
    options.objects = true;
    CHECK(waits_for(run.go(options).at(0)) ==
          std::map<std::uint32_t, std::string>{{11, "fd 7: /f11"}, {12, ""}, {13, ""}});
    CHECK(run.objects.wanted == std::vector<std::vector<std::uint32_t>>{{11, 12}});
    CHECK(run.asleep.queries.size() == 2);  // whether sleeps go on is the finder's matter
}

TEST_CASE("what tasks wait for keeps no document for long: what is not found in time is not said") {
    ObjectsRun run;
    Options options = document_options(3);
    options.objects = true;
    SECTION("until the next look, five seconds for the last one") {
        for (const Document& document : run.go(options))
            CHECK(waits_for(document).at(11).empty());
        CHECK(run.objects.waited == std::vector<std::chrono::milliseconds>{2000ms, 2000ms, 5000ms});
    }
    SECTION("a second where looks follow each other closely, five seconds where they do not") {
        options.delay = 100ms;
        run.go(options);
        options.delay = 1h;
        run.go(options);
        CHECK(run.objects.waited == std::vector<std::chrono::milliseconds>{1000ms, 1000ms, 5000ms,
                                                                           5000ms, 5000ms, 5000ms});
    }
}

}  // namespace lattop::test
