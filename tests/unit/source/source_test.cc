// SPDX-License-Identifier: GPL-2.0-or-later
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "lattop/source/error.h"
#include "lattop/source/file_source.h"
#include "lattop/source/proc_source.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"
#include "tests/unit/support/sample.h"

namespace lattop::test {
namespace {

void append(const std::string& path, const std::vector<std::byte>& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::app)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

/// What making a ProcSource of `path` says.
NotUsableError refusal(const std::string& path) {
    try {
        const ProcSource source(path);
    } catch (const NotUsableError& error) {
        return error;
    }
    throw std::logic_error(path + " was accepted");
}

}  // namespace

TEST_CASE("a module that is not loaded: what to do") {
    const NotUsableError error = refusal("/nonexistent/lattop");
    CHECK_THAT(error.what(), has_text("not loaded"));
    CHECK_THAT(error.hint(), has_text("make load") && has_text("modprobe lattop"));
    CHECK(error.code() == ExitCode::NotUsable);
}

TEST_CASE("a file that is not lattop's is told from one that is") {
    CHECK_THAT(refusal("/dev/null").what(), has_text("not lattop's"));
    const TempFolder folder;
    const std::string path = folder.path() + "/file";
    append(path, sample_machine(1).bytes());
    CHECK_THAT(refusal(path).what(), has_text("not lattop's"));
}

TEST_CASE("a file that this user may not read says so") {
    if (::geteuid() == 0) return;  // root may read everything
    const TempFolder folder;
    const std::string path = folder.path() + "/file";
    append(path, {});
    ::chmod(path.c_str(), 0);
    CHECK_THAT(refusal(path).hint(), has_text("root"));
}

TEST_CASE("saved snapshots are given one after the other, the last one for ever") {
    const TempFolder folder;
    const std::string path = folder.path() + "/saved";
    append(path, sample_machine(10).bytes());
    append(path, sample_machine(12).bytes());
    FileSource source(path);
    const Query query;
    CHECK(source.take(query, Moment::Next).header.time_ns == 110'000'000'000);
    CHECK(source.take(query, Moment::Same).header.time_ns == 110'000'000'000);
    CHECK(source.more());
    CHECK(source.take(query, Moment::Next).header.time_ns == 112'000'000'000);
    CHECK(!source.more());
    CHECK(source.take(query, Moment::Next).header.time_ns == 112'000'000'000);
    CHECK_THROWS_AS(source.reset(), Error);
}

TEST_CASE("snapshots larger than the buffer are read whole") {
    const TempFolder folder;
    const std::string path = folder.path() + "/large";
    SnapshotBuilder builder;
    std::vector<EntrySpec> entries(8);
    for (std::uint32_t pid = 1; pid <= 1500; ++pid)
        builder.add_task({.pid = pid, .blocked_ns = pid, .entries = entries});
    append(path, builder.bytes());
    FileSource source(path);
    Query query;
    query.limit = LT_MAX_LIMIT;
    query.traces = LT_TRACES_ALL;
    const Snapshot snapshot = source.take(query, Moment::Next);
    REQUIRE(snapshot.tasks.size() == 1500);
    CHECK(snapshot.tasks.front().pid == 1500);
    CHECK(snapshot.entries.size() == 12000);
}

TEST_CASE("a query is applied to saved snapshots as the module would") {
    const TempFolder folder;
    const std::string path = folder.path() + "/saved";
    append(path, sample_machine(10).bytes());
    FileSource source(path);
    const auto pids = [&](const Query& query) {
        std::vector<std::uint32_t> result;
        for (const Task& task : source.take(query, Moment::Same).tasks)
            result.push_back(task.pid);
        return result;
    };
    Query query;
    query.sort = LT_SORT_PID;
    query.flags = LT_Q_NO_KTHREADS | LT_Q_NO_EXITED;
    CHECK(pids(query) == std::vector<std::uint32_t>{877, 1200, 1201, 1202, 2001});
    query.flags |= LT_Q_ASLEEP;
    query.limit = 2;
    CHECK(pids(query) == std::vector<std::uint32_t>{1200, 1201});
    query = {};
    query.pids = {1200};
    query.sort = LT_SORT_BLOCKED;
    CHECK(pids(query) == std::vector<std::uint32_t>{1202, 1201, 1200});
    query.min_blocked_ns = UINT64_MAX;
    CHECK(pids(query).empty());
}

TEST_CASE("saved files that are cut, empty, folders or absent are refused") {
    const TempFolder folder;
    CHECK_THROWS_WITH(FileSource(folder.path()), has_text("not a regular file"));
    CHECK_THROWS_WITH(FileSource(folder.path() + "/none"), has_text("cannot open"));
    const std::string path = folder.path() + "/cut";
    append(path, {});
    CHECK_THROWS_WITH(FileSource(path).take({}, Moment::Next), has_text("no snapshot"));
    auto bytes = sample_machine(1).bytes();
    bytes.resize(bytes.size() - 1);
    append(path, bytes);
    CHECK_THROWS_WITH(FileSource(path).take({}, Moment::Next), has_text("damaged"));
}

}  // namespace lattop::test
