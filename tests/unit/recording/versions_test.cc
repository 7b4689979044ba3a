// SPDX-License-Identifier: GPL-2.0-or-later
//
// Recordings of other releases: those of earlier ones, kept in tests/recordings, say what they
// said; of later ones is read what lattop-recording(5) promises.
#include <cstring>
#include <filesystem>
#include <fstream>

#include "lattop/recording/checksum.h"
#include "lattop/recording/reader.h"
#include "lattop/source/encoder.h"
#include "lattop/source/error.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/kept.h"
#include "tests/unit/support/recordings.h"

namespace lattop::test {
namespace {

using recording::Kind;
using recording::kNeedsPrevious;
using recording::Reader;

constexpr std::string_view kBase64Digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The lines of a kept recording but those that begin with #.
std::vector<std::byte> read_base64(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::vector<std::byte> bytes;
    std::uint32_t bits = 0;
    int n_bits = 0;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) continue;
        for (const char digit : line.substr(0, line.find('='))) {
            const std::size_t value = kBase64Digits.find(digit);
            REQUIRE(value != std::string_view::npos);
            bits = bits << 6 | static_cast<std::uint32_t>(value);
            n_bits += 6;
            if (n_bits < 8) continue;
            n_bits -= 8;
            bytes.push_back(static_cast<std::byte>(bits >> n_bits & 0xff));
        }
    }
    return bytes;
}

/// What every release says of kept_recording().
void check_kept(const std::vector<std::byte>& bytes) {
    Reader reader(read_from(bytes), "kept");
    CHECK(reader.damage().empty());
    REQUIRE(reader.size() == 3);
    CHECK(reader.info() == recording::Info{{"host", "kept"},
                                           {"kernel", "6.1.0"},
                                           {"lattop", "0.1.0"},
                                           {"command", "shop --open"}});
    CHECK(reader.realtime_ns(1) == 1'790'000'001'000'000'000);
    CHECK(reader.time_ns(1) == 511 * kSecond);

    const Snapshot snapshot = reader.snapshot(2);
    CHECK(snapshot.header.time_ns - snapshot.header.since_ns == 12 * kSecond);
    CHECK(snapshot.header.hook == "tracepoint");
    CHECK(snapshot.header.lost[LT_LOST_user_cut] == 3);
    CHECK(snapshot.header.user_share == 50);
    REQUIRE(snapshot.header.users.size() == 1);
    CHECK(snapshot.header.users[0].uid == 1000);
    CHECK(snapshot.header.users[0].held[LT_HELD_traces] == 3);

    REQUIRE(snapshot.tasks.size() == 2);
    const Task& task = snapshot.tasks[0];
    CHECK((task.pid == 4001 && task.tgid == 4000 && task.uid == 1000 && task.start_ns == 77'000));
    CHECK((task.comm == "waiter" && task.state == 'S' && task.asleep() && task.exec_id == 2));
    CHECK((task.blocked_ns == 9 * kSecond && task.sleeps == 36 && task.max_ns == 260 * kMs));
    CHECK((task.ongoing_ns == 200 * kMs && task.runq_ns == 2 * kMs && task.runs == 35));
    CHECK(task.cgroup() == kSampleContainer);
    CHECK((snapshot.tasks[1].comm == "holder" && snapshot.tasks[1].state == 'R'));

    REQUIRE(snapshot.entries_of(task).size() == 1);
    const Entry& entry = snapshot.entries_of(task)[0];
    CHECK((entry.blocked_ns == 9 * kSecond && entry.ongoing_ns == 200 * kMs));
    CHECK((entry.sleeps == 36 && entry.max_ns == 260 * kMs && entry.hist[27] == 35));
    const Trace* trace = snapshot.trace_of(entry);
    REQUIRE(trace != nullptr);
    CHECK((trace->syscall == 202 && trace->flags == LT_TR_USER_CUT));
    REQUIRE(snapshot.kernel_frames(*trace).size() == 3);
    CHECK(snapshot.kernel_frames(*trace)[1].symbol.name == "futex_wait");
    REQUIRE(snapshot.user_frames(*trace).size() == 2);
    CHECK(snapshot.user_frames(*trace)[1] == 0x401136);

    REQUIRE(snapshot.wakers_of(entry).size() == 1);
    const Waker& waker = snapshot.wakers_of(entry)[0];
    CHECK((waker.pid == 4002 && waker.comm == "holder" && waker.sleeps == 35));
    CHECK((waker.blocked_ns == 8'800 * kMs && waker.waited_ns == 400 * kMs));
    const Trace* waited = snapshot.trace_at(waker.waited_trace);
    REQUIRE(waited != nullptr);
    CHECK(snapshot.kernel_frames(*waited)[1].symbol.module == "ext4");

    recording::RecordedNames& names = reader.names();
    CHECK(names.name(1000) == "alice");
    CHECK(names.name(kSampleContainer) == "docker:shop");
    const UserStack* stack = names.find(stack_id(snapshot, task, entry));
    REQUIRE((stack != nullptr && stack->frames.size() == 2));
    CHECK(stack->own == 1);
    CHECK((stack->frames[0]->symbol == "pthread_mutex_lock" && stack->frames[0]->offset == 0x20));
    const UserFrame& own = *stack->frames[1];
    CHECK((own.symbol == "shop::order(int)" && own.module == "shop" && own.line == 42));
    CHECK((own.file == "/src/order.cc" && own.path == "/opt/shop/bin/shop"));
    REQUIRE(own.inlined.size() == 1);
    CHECK((own.inlined[0].symbol == "shop::guard()" && own.inlined[0].line == 7));
    const UserStack* journal = names.find(stack_id(snapshot, waker, waker.waited_trace));
    REQUIRE(journal != nullptr);
    CHECK(journal->frames.at(0)->file == "/src/journal.cc");
}

/// A recording of some later release.
class LaterRecording {
public:
    explicit LaterRecording(std::uint32_t version = recording::kVersion) {
        recording::FileHeader header;
        header.version = version;
        header.checksum = recording::header_checksum(header);
        append(std::as_bytes(std::span(&header, 1)));
    }

    void add(std::uint16_t kind, std::span<const std::byte> raw, std::uint16_t flags = 0,
             std::span<const std::byte> prefix = {}) {
        const std::vector<std::byte> stored = compressor_.pack(raw, prefix);
        add_stored(kind, stored, static_cast<std::uint32_t>(raw.size()), flags);
    }
    void add(Kind kind, std::span<const std::byte> raw, std::uint16_t flags = 0,
             std::span<const std::byte> prefix = {}) {
        add(static_cast<std::uint16_t>(kind), raw, flags, prefix);
    }
    void add(Kind kind, std::string_view text) { add(kind, std::as_bytes(std::span(text))); }

    void end() { add(Kind::End, std::string_view()); }

    void add_stored(std::uint16_t kind, std::span<const std::byte> stored, std::uint32_t raw_bytes,
                    std::uint16_t flags = 0) {
        recording::RecordHeader header;
        header.kind = kind;
        header.flags = flags;
        header.stored_bytes = static_cast<std::uint32_t>(stored.size());
        header.raw_bytes = raw_bytes;
        header.payload_checksum = recording::crc32c(stored);
        header.header_checksum = recording::header_checksum(header);
        append(std::as_bytes(std::span(&header, 1)));
        append(stored);
    }

    [[nodiscard]] Reader open() const { return Reader(read_from(bytes_), "later"); }

private:
    void append(std::span<const std::byte> more) {
        bytes_.insert(bytes_.end(), more.begin(), more.end());
    }

    recording::Compressor compressor_;
    std::vector<std::byte> bytes_;
};

/// Each record and the header longer, and a section behind those that are known.
std::vector<std::byte> later_snapshot(std::uint64_t seconds) {
    SnapshotBuilder builder = sample_machine(seconds);
    builder.growth = 24;
    std::vector<std::byte> bytes = builder.bytes();
    bytes.resize(bytes.size() + 4096, std::byte{0x5a});
    const std::uint64_t total = bytes.size();
    std::memcpy(bytes.data() + offsetof(lt_header, total_bytes), &total, sizeof(total));
    return bytes;
}

}  // namespace

TEST_CASE("recordings of earlier releases say what they said") {
    std::size_t n = 0;
    for (const auto& entry : std::filesystem::directory_iterator(LATTOP_TEST_RECORDINGS)) {
        INFO(entry.path().string());
        check_kept(read_base64(entry.path()));
        ++n;
    }
    CHECK(n >= 1);
}

TEST_CASE("a recording of this release says what those that are kept say") {
    check_kept(kept_recording());
    Reader reader(read_from(kept_recording()), "kept");
    const Snapshot snapshot = reader.snapshot(2);
    const std::string* object = reader.names().object(snapshot, snapshot.tasks.at(0));
    REQUIRE(object != nullptr);
    CHECK(*object == "mutex order_lock");
}

TEST_CASE("a recording of before there were objects has none, and says nothing of damage") {
    LaterRecording earlier;
    earlier.add(Kind::Snapshot, sample_machine(10).bytes());
    earlier.end();
    Reader reader = earlier.open();
    CHECK(reader.damage().empty());
    const Snapshot snapshot = reader.snapshot(0);
    for (const Task& task : snapshot.tasks)
        CHECK(reader.names().object(snapshot, task) == nullptr);
}

TEST_CASE("what a recording says of itself takes no more memory than a command line may have") {
    const std::string text = "command=" + std::string(std::size_t{9} << 20, 'x');
    LaterRecording large;
    large.add(Kind::Snapshot, sample_machine(10).bytes());
    large.add(Kind::Info, text);
    large.add(Kind::Info, text);
    large.end();
    Reader reader = large.open();
    CHECK(reader.size() == 1);
    CHECK_THAT(reader.damage(), has_text("says of itself"));
}

TEST_CASE("of a later release's recording what is known is read, the rest stepped over") {
    LaterRecording later;
    const std::vector<std::byte> first = later_snapshot(10);
    const std::vector<std::byte> second = later_snapshot(12);
    const std::vector<std::byte> unknown(300, std::byte{0xee});  // no zstd frame
    later.add(Kind::Info, std::string_view("host=h\0weather=fine\0no equals sign\0", 34));
    later.add_stored(6, unknown, 4'000'000, 0xff00);
    later.add(Kind::Names, std::string_view("U\0\0\0\0\4\0\0\0root", 13));
    later.add(Kind::Snapshot, first);
    later.add_stored(77, unknown, 1);
    later.add(Kind::Snapshot, second, kNeedsPrevious, first);
    later.add_stored(78, {}, 0);
    later.end();
    Reader reader = later.open();
    CHECK(reader.damage().empty());
    CHECK(reader.info().at("weather") == "fine");
    CHECK(static_cast<Users&>(reader.names()).name(0) == "root");
    REQUIRE(reader.size() == 2);
    CHECK(encode(reader.snapshot(1)) == encode(sample_machine(12).snapshot()));
    CHECK(encode(reader.snapshot(0)) == encode(sample_machine(10).snapshot()));
}

TEST_CASE("names of a kind unknown are damage: what stands before them counts") {
    LaterRecording later;
    later.add(Kind::Snapshot, later_snapshot(10));
    later.add(Kind::Names, "Z");
    later.add(Kind::Snapshot, later_snapshot(12));
    later.end();
    const Reader reader = later.open();
    CHECK(reader.size() == 1);
    CHECK_THAT(reader.damage(), has_text("no item begins with 0x5a"));
}

TEST_CASE("a later version of the format is refused: it may mean something else") {
    LaterRecording later(recording::kVersion + 1);
    later.add(Kind::Snapshot, later_snapshot(10));
    later.end();
    try {
        static_cast<void>(later.open());
        FAIL("it was read");
    } catch (const NotUsableError& error) {
        CHECK_THAT(error.what(), has_text("later has version 2 of the format"));
        CHECK_THAT(error.hint(), has_text("a newer one"));
    }
}

TEST_CASE("a snapshot of a later version of the module's records is refused as the recording's") {
    SnapshotBuilder builder = sample_machine(10);
    builder.header.version = LT_VERSION + 1;
    LaterRecording later;
    later.add(Kind::Snapshot, later_snapshot(8));
    later.add(Kind::Snapshot, builder.bytes());
    later.end();
    Reader reader = later.open();
    CHECK_NOTHROW(reader.snapshot(0));
    try {
        reader.snapshot(1);
        FAIL("it was read");
    } catch (const NotUsableError& error) {
        CHECK_THAT(error.what(), has_text("later: snapshot 2 is of version 2"));
        CHECK_THAT(error.hint(), has_text("a newer one"));
    }
}

}  // namespace lattop::test
