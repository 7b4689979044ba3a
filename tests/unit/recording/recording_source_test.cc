// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/recording/recording_source.h"

#include "lattop/source/error.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"
#include "tests/unit/support/recordings.h"

namespace lattop::test {
namespace {

using recording::open_recording;
using recording::RecordingSource;

RecordingSource source_of(const std::vector<std::byte>& bytes) {
    return RecordingSource(recording::Reader(read_from(bytes), "r"));
}

std::uint64_t seconds(const Snapshot& snapshot) {
    return snapshot.header.time_ns / 1'000'000'000;
}

}  // namespace

TEST_CASE("recorded snapshots are given one after the other, the last one for ever") {
    RecordingSource source = source_of(sample_recording(2));
    const Query query;
    CHECK(seconds(source.take(query, Moment::Next)) == 110);
    CHECK(seconds(source.take(query, Moment::Same)) == 110);
    CHECK(source.more());
    CHECK(seconds(source.take(query, Moment::Next)) == 112);
    CHECK(source.realtime_ns() == kRecordedAt + 2'000'000'000);
    CHECK(!source.more());
    CHECK(seconds(source.take(query, Moment::Next)) == 112);
    CHECK_THROWS_AS(source.reset(), Error);
}

TEST_CASE("none of the kernel's own files is read as a recording") {
    CHECK_THROWS_WITH(open_recording("/proc/self/status"), has_text("the kernel's own files"));
    CHECK_THROWS_WITH(open_recording("/dev/zero"), has_text("not a regular file"));
}

TEST_CASE("a recording can be gone through in both directions") {
    RecordingSource source = source_of(sample_recording(50));
    const Query query;
    const auto go = [&](std::int64_t by) {
        std::uint64_t at = 0;
        for (int takes = source.travel(by); takes > 0; --takes)
            at = seconds(source.take(query, Moment::Next));
        return at;
    };
    source.take(query, Moment::Next);
    CHECK(go(1) == 112);
    CHECK(go(40) == 192);
    CHECK(source.position() == "snapshot 42 of 50");
    CHECK(go(-1) == 190);
    CHECK(go(100) == 208);
    CHECK(!source.more());
    CHECK(go(-100) == 110);
    CHECK(go(-1) == 110);
    CHECK(source.position() == "snapshot 1 of 50");
}

TEST_CASE("a query is applied to recorded snapshots as the module would") {
    RecordingSource source = source_of(sample_recording(1));
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

TEST_CASE("files without a snapshot, folders and absent ones are refused") {
    const TempFolder folder;
    CHECK_THROWS_WITH(open_recording(folder.path()), has_text("not a regular file"));
    CHECK_THROWS_WITH(open_recording(folder.path() + "/none"), has_text("cannot open"));
    const std::string path = folder.path() + "/empty";
    write_file(path, sample_recording(0));
    CHECK_THROWS_WITH(RecordingSource(open_recording(path)), has_text("holds no snapshot"));
}

}  // namespace lattop::test
