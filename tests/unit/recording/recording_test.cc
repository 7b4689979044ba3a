// SPDX-License-Identifier: GPL-2.0-or-later
#include <cstring>

#include "lattop/recording/checksum.h"
#include "lattop/recording/reader.h"
#include "lattop/source/encoder.h"
#include "lattop/source/error.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/fakes.h"
#include "tests/unit/support/recordings.h"

namespace lattop::test {
namespace {

using recording::crc32c;
using recording::FileHeader;
using recording::Kind;
using recording::Reader;
using recording::RecordHeader;

Reader open(std::vector<std::byte> bytes) {
    return Reader(read_from(std::move(bytes)), "r");
}

RecordHeader header_at(const std::vector<std::byte>& bytes, std::size_t at) {
    RecordHeader header;
    std::memcpy(&header, bytes.data() + at, sizeof(header));
    return header;
}

/// Where each record begins, and behind the last one.
std::vector<std::size_t> record_begins(const std::vector<std::byte>& bytes) {
    std::vector<std::size_t> begins = {sizeof(FileHeader)};
    while (begins.back() < bytes.size())
        begins.push_back(begins.back() + sizeof(RecordHeader) +
                         header_at(bytes, begins.back()).stored_bytes);
    return begins;
}

/// Snapshots whose records end at or before byte `end`.
std::size_t whole_snapshots(const std::vector<std::byte>& bytes, std::size_t end) {
    const auto begins = record_begins(bytes);
    std::size_t n = 0;
    for (std::size_t i = 0; i + 1 < begins.size() && begins[i + 1] <= end; ++i)
        if (header_at(bytes, begins[i]).kind == static_cast<std::uint16_t>(Kind::Snapshot)) ++n;
    return n;
}

/// A header of the same bytes with its checksum made right again.
void seal(std::vector<std::byte>& bytes, std::size_t at, RecordHeader header) {
    header.header_checksum = crc32c(std::as_bytes(std::span(&header, 1)).first(sizeof(header) - 4));
    std::memcpy(bytes.data() + at, &header, sizeof(header));
}

}  // namespace

TEST_CASE("the checksum is CRC-32C") {
    const std::string digits = "123456789";
    CHECK(crc32c(std::as_bytes(std::span(digits))) == 0xe3069283);
    CHECK(crc32c({}) == 0);
}

TEST_CASE("what is recorded is read again, byte for byte, forwards and backwards") {
    constexpr std::size_t kCount = 3 * recording::kSnapshotsPerKey + 5;
    Reader reader = open(sample_recording(kCount));
    REQUIRE(reader.size() == kCount);
    CHECK(reader.damage().empty());
    CHECK(reader.info().at("host") == "sample");
    const auto check = [&](std::size_t i) {
        CHECK(encode(reader.snapshot(i)) == encode(sample_machine(10 + 2 * i).snapshot()));
        CHECK(reader.realtime_ns(i) == kRecordedAt + i * 2'000'000'000);
    };
    for (std::size_t i = 0; i < kCount; ++i)
        check(i);
    for (std::size_t i = kCount; i-- > 0;)
        check(i);
    for (const std::size_t i : {50U, 2U, 3U, 90U, 90U, 0U, 100U})
        check(i);
}

TEST_CASE("an encoded snapshot is what the module would have written") {
    SnapshotBuilder builder = sample_machine(10);
    CHECK(encode(builder.snapshot()) == builder.bytes());
}

TEST_CASE("wakers are encoded, and the names of the stacks they woke from recorded") {
    SnapshotBuilder builder;
    const auto wait = builder.add_trace({.id = 7, .kernel = {"pipe_read"}});
    const auto wake = builder.add_trace({.id = 50, .kernel = {"pipe_write"}, .user = {7}});
    builder.add_task(
        {.entries = {{.trace = wait,
                      .wakers = {{.trace = wake, .pid = 12, .comm = "writer", .blocked_ns = 30},
                                 {.kind = LT_WAKER_HIDDEN}}}}});
    const Snapshot snapshot = builder.snapshot();
    CHECK(encode(snapshot) == builder.bytes());

    UserFrame frame;
    frame.symbol = "write";
    const OneStack stacks(frame, StackId{{LT_KIND_TASK, 12, 12, 1000}, 1, 50});
    SampleUsers users;
    FakeCgroups cgroups;
    recording::RecordedNames names;
    names.add(recording::NameBook().news(snapshot, {stacks, users, cgroups}));
    const UserStack* stack =
        names.find(stack_id(snapshot, snapshot.wakers[0], snapshot.wakers[0].trace));
    REQUIRE(stack != nullptr);
    CHECK(stack->frames.at(0)->symbol == "write");
}

TEST_CASE("names of users and of stacks come with the recording") {
    Reader reader = open(sample_recording(2));
    const SampleStacks expected;
    SampleUsers users;
    const Snapshot snapshot = reader.snapshot(1);
    std::size_t named = 0;
    for (const Task& task : snapshot.tasks) {
        CHECK(reader.names().name(task.uid) == users.name(task.uid));
        for (const Entry& entry : snapshot.entries_of(task)) {
            const StackId id = stack_id(snapshot, task, entry);
            const UserStack* want = expected.find(id);
            if (want == nullptr) continue;
            const UserStack* got = reader.names().find(id);
            REQUIRE(got != nullptr);
            REQUIRE(got->frames.size() == want->frames.size());
            CHECK(got->own == want->own);
            for (std::size_t i = 0; i < got->frames.size(); ++i) {
                CHECK(got->frames[i]->symbol == want->frames[i]->symbol);
                CHECK(got->frames[i]->file == want->frames[i]->file);
                CHECK(got->frames[i]->line == want->frames[i]->line);
                CHECK(got->frames[i]->offset == want->frames[i]->offset);
            }
            ++named;
        }
    }
    CHECK(named > 5);
    CHECK(reader.names().name(4711) == "4711");
}

TEST_CASE("names of cgroups come with the recording, those that the path does not tell") {
    const std::string id(64, 'd');
    const std::string web = "/system.slice/docker-" + id + ".scope";
    const std::string job = "/system.slice/docker-" + std::string(64, 'e') + ".scope";
    SnapshotBuilder builder;
    builder.add_task({.pid = 1, .cgroup = web});
    builder.add_task({.pid = 2, .cgroup = web});
    builder.add_task({.pid = 3, .cgroup = "/my/own"});
    builder.add_task({.pid = 4});
    const Snapshot snapshot = builder.snapshot();
    const SampleStacks stacks;
    SampleUsers users;
    FakeCgroups cgroups;
    cgroups.call(web, "docker:web");
    std::vector<std::byte> bytes;
    recording::Writer writer(
        [&](auto more) { bytes.insert(bytes.end(), more.begin(), more.end()); }, {}, 0);
    writer.add(snapshot, {stacks, users, cgroups}, 0);
    CHECK(cgroups.asked == 2);
    writer.end(0);
    Reader reader = open(bytes);
    recording::RecordedNames& names = reader.names();
    CHECK(reader.damage().empty());
    CHECK(names.name(web) == "docker:web");
    CHECK(names.name("/my/own") == "/my/own");
    CHECK(names.name("") == "-");
    CHECK(names.name(job) == "docker:eeeeeeeeeeee");  // of an older lattop's recording
}

TEST_CASE("a cgroup is written once, again when it is called otherwise or comes back") {
    const auto with = [](const std::string& path) {
        SnapshotBuilder builder;
        builder.add_task({.cgroup = path});
        return builder.snapshot();
    };
    const SampleStacks stacks;
    SampleUsers users;
    FakeCgroups cgroups;
    cgroups.call("/a", "docker:a");
    cgroups.call("/b", "docker:b");
    FakeCgroups renamed;
    renamed.call("/a", "docker:z");
    recording::NameBook book;
    recording::RecordedNames names;
    const auto news = [&](const Snapshot& snapshot, CgroupNames& from) {
        const auto payload = book.news(snapshot, {stacks, users, from});
        names.add(payload);
        return payload.size();
    };
    CHECK(news(with("/a"), cgroups) > 0);
    CHECK(news(with("/a"), cgroups) == 0);
    CHECK(news(with("/a"), renamed) == 1 + 4 + 2 + 4 + 8);
    CHECK(names.name("/a") == "docker:z");
    CHECK(news(with("/b"), cgroups) == 1 + 4 + 2 + 4 + 8);
    CHECK(book.cgroups() == 1);
    CHECK(news(with("/a"), cgroups) == 1 + 4 + 2 + 4 + 8);
    CHECK(names.name("/b") == "docker:b");
    // What has no room, and what would be cut short, stays a path.
    recording::NameBook little(20);
    CHECK(little.news(with("/a"), {stacks, users, cgroups}).size() <= 20);
    const std::string longer(recording::kMaxText + 1, 'x');
    FakeCgroups of_longer;
    of_longer.call(longer, "docker:x");
    CHECK(news(with(longer), of_longer) == 0);
}

TEST_CASE("stacks of tasks that are gone are forgotten, their frames are not") {
    const SampleStacks stacks;
    SampleUsers users;
    FakeCgroups cgroups;
    recording::NameBook book;
    const Snapshot all = sample_machine(10).snapshot();
    const Snapshot none = SnapshotBuilder().snapshot();
    const std::size_t first = book.news(all, {stacks, users, cgroups}).size();
    CHECK(first > 0);
    CHECK(book.news(all, {stacks, users, cgroups}).empty());
    CHECK(book.stacks() > 0);
    CHECK(book.news(none, {stacks, users, cgroups}).empty());
    CHECK(book.stacks() == 0);
    const auto again = book.news(all, {stacks, users, cgroups});
    REQUIRE(!again.empty());
    CHECK(again.front() == std::byte{'S'});
    CHECK(again.size() < first / 2);
}

TEST_CASE("what did not change costs next to nothing") {
    const auto same = [](std::size_t) { return sample_machine(10); };
    const std::size_t one = make_recording(1, same).size();
    const std::size_t twenty = make_recording(20, same).size();
    CHECK((twenty - one) / 19 < 150);
    const std::size_t changing = sample_recording(20).size();
    CHECK((changing - one) / 19 < sample_machine(10).bytes().size() / 6);
}

TEST_CASE("a recording cut off at any byte opens to its last whole record") {
    const auto bytes = sample_recording(4);
    for (std::size_t end = 0; end < bytes.size(); ++end) {
        INFO("cut at " << end);
        const std::vector<std::byte> cut(bytes.begin(),
                                         bytes.begin() + static_cast<std::ptrdiff_t>(end));
        if (end < sizeof(FileHeader)) {
            CHECK_THROWS_AS(open(cut), RecordingError);
            continue;
        }
        Reader reader = open(cut);
        REQUIRE(reader.size() == whole_snapshots(bytes, end));
        CHECK_THAT(reader.damage(), has_text("cut off"));
        if (reader.size() > 0)
            CHECK(encode(reader.snapshot(reader.size() - 1)) ==
                  encode(sample_machine(8 + 2 * reader.size()).snapshot()));
    }
}

TEST_CASE("a bit flipped in any byte ends the recording there, and is said") {
    const auto bytes = sample_recording(3);
    const auto begins = record_begins(bytes);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        INFO("flipped at " << at);
        auto flipped = bytes;
        flipped[at] ^= std::byte{static_cast<unsigned char>(1U << (at % 8))};
        if (at < sizeof(FileHeader)) {
            CHECK_THROWS_AS(open(flipped), Error);
            continue;
        }
        Reader reader = open(flipped);
        // What stands before the record that the byte is in.
        std::size_t record = 0;
        while (begins[record + 1] <= at)
            ++record;
        REQUIRE(reader.size() == whole_snapshots(bytes, begins[record]));
        CHECK_THAT(reader.damage(), has_text("byte " + std::to_string(begins[record])));
        for (std::size_t i = 0; i < reader.size(); ++i)
            CHECK(encode(reader.snapshot(i)) == encode(sample_machine(10 + 2 * i).snapshot()));
    }
}

TEST_CASE("a record that lies with right checksums is refused, not believed") {
    auto bytes = sample_recording(3);
    std::vector<std::size_t> snapshots;
    for (const std::size_t begin : record_begins(bytes))
        if (begin < bytes.size() &&
            header_at(bytes, begin).kind == static_cast<std::uint16_t>(Kind::Snapshot))
            snapshots.push_back(begin);
    REQUIRE(snapshots.size() == 3);
    RecordHeader header = header_at(bytes, snapshots[1]);
    SECTION("longer than it is") {
        ++header.raw_bytes;
    }
    SECTION("shorter than it is") {
        --header.raw_bytes;
    }
    SECTION("far longer than it can be") {
        header.raw_bytes = recording::kMaxRawBytes;
    }
    SECTION("alone, though it needs the one before") {
        header.flags = 0;
    }
    seal(bytes, snapshots[1], header);
    Reader reader = open(bytes);
    CHECK_NOTHROW(reader.snapshot(0));
    CHECK_THROWS_AS(reader.snapshot(1), Error);
    CHECK_NOTHROW(reader.snapshot(0));
}

TEST_CASE("records of kinds unknown are stepped over, a later version is refused") {
    auto bytes = sample_recording(2);
    RecordHeader info = header_at(bytes, sizeof(FileHeader));
    REQUIRE(info.kind == static_cast<std::uint16_t>(Kind::Info));
    info.kind = 77;
    seal(bytes, sizeof(FileHeader), info);
    CHECK(open(bytes).size() == 2);
    CHECK(open(bytes).damage().empty());

    FileHeader file;
    file.version = recording::kVersion + 1;
    file.checksum = crc32c(std::as_bytes(std::span(&file, 1)).first(sizeof(file) - 4));
    std::memcpy(bytes.data(), &file, sizeof(file));
    CHECK_THROWS_AS(open(bytes), NotUsableError);
    CHECK_THROWS_WITH(open(bytes), has_text("version 2"));
}

TEST_CASE("other files are told from recordings") {
    const std::string text = "#!/bin/sh\necho hello, hello, hello, hello\n";
    const auto bytes = std::as_bytes(std::span(text));
    CHECK_THROWS_WITH(open({bytes.begin(), bytes.end()}), has_text("not a recording"));
    CHECK_THROWS_WITH(open({}), has_text("empty"));
}

TEST_CASE("damaged names are refused") {
    const std::vector<std::vector<unsigned char>> cases = {
        {'X'},
        {'U', 1},
        {'U', 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff},
        {'C', 1, 0, 0, 0, '/'},
        {'C', 1, 0, 0, 0, '/', 0xff, 0xff, 0xff, 0xff},
        {'F', 0xff, 0xff, 0xff, 0xff},
    };
    for (const auto& bytes : cases)
        CHECK_THROWS_AS(recording::RecordedNames().add(std::as_bytes(std::span(bytes))),
                        RecordingError);
    // A stack of a frame that nobody told.
    std::vector<unsigned char> stack(1 + 32 + 4 + 4 + 4);
    stack[0] = 'S';
    stack[37] = 1;
    CHECK_THROWS_WITH(recording::RecordedNames().add(std::as_bytes(std::span(stack))),
                      has_text("frame 0 of 0"));
    // A count out of thin air.
    stack[40] = 0xff;
    CHECK_THROWS_AS(recording::RecordedNames().add(std::as_bytes(std::span(stack))),
                    RecordingError);
}

namespace {

void put(std::string& to, std::uint32_t number) {
    to.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

/// A frame of no name with so many functions inlined.
std::string frame_item(std::uint32_t inlined) {
    std::string item = "F" + std::string(4 + 8 + 4 + 4 + 4 + 4, '\0');
    put(item, inlined);
    return item + std::string(std::size_t{12} * inlined, '\0');
}

/// A stack of frame 0, so many times.
std::string stack_item(std::uint32_t frames) {
    std::string item = "S" + std::string(32 + 4, '\0');
    put(item, frames);
    return item + std::string(std::size_t{4} * frames, '\0');
}

void add(recording::RecordedNames& names, const std::string& payload) {
    names.add(std::as_bytes(std::span(payload)));
}

/// A stack of as many frames, each with so many functions inlined.
class LargeStack final : public UserStacks {
public:
    LargeStack(std::size_t frames, std::size_t inlined, std::size_t text) {
        UserFrame frame;
        frame.symbol = std::string(text, 'f');
        frame.inlined.resize(inlined);
        stack_.frames.assign(frames, std::make_shared<const UserFrame>(frame));
        stack_.own = frames - 1;
    }
    void want(const Snapshot& /*snapshot*/) override {}
    bool collect() override { return false; }
    void want_live(const Task& /*task*/) override {}
    [[nodiscard]] int ready_fd() const override { return -1; }
    [[nodiscard]] const UserStack* find(const StackId& /*id*/) const override {
        return stack_.frames.empty() ? nullptr : &stack_;
    }
    [[nodiscard]] const LiveNames* find_live(const Task& /*task*/) const override {
        return nullptr;
    }

    /// Forgets it; what is left of its names while somebody holds them.
    std::weak_ptr<const UserFrame> drop() {
        std::weak_ptr<const UserFrame> frame = stack_.frames.at(0);
        stack_.frames.clear();
        return frame;
    }

private:
    UserStack stack_;
};

Snapshot one_stack() {
    SnapshotBuilder builder;
    const auto trace = builder.add_trace({.kernel = {"schedule"}, .user = {1}});
    builder.add_task(
        {.blocked_ns = 5, .sleeps = 1, .entries = {{.trace = trace, .blocked_ns = 5}}});
    return builder.snapshot();
}

}  // namespace

TEST_CASE("names beyond any machine's are refused, up to the limits they are taken") {
    using namespace recording;
    RecordedNames names;
    CHECK_NOTHROW(add(names, frame_item(0) + stack_item(kMaxStackFrames)));
    CHECK_THROWS_WITH(add(names, stack_item(kMaxStackFrames + 1)), has_text("a stack of 1201"));
    CHECK_THROWS_WITH(add(names, frame_item(80'000)), has_text("a frame of 80000 inlined"));
    RecordedNames inlined;
    CHECK_NOTHROW(add(inlined, frame_item(kMaxInlined) + stack_item(15)));
    CHECK_THROWS_WITH(add(inlined, stack_item(1'000)), has_text("functions, 4096 is the most"));
    std::string text = "U" + std::string(4, '\0');
    put(text, kMaxText + 1);
    CHECK_THROWS_WITH(add(names, text + std::string(kMaxText + 1, 'x')),
                      has_text("a text of 16385 bytes"));
    CHECK_THROWS_WITH(names.expect(kMaxNamesPayload + 1), has_text("at once"));
    RecordedNames few(100);
    CHECK_NOTHROW(add(few, frame_item(0)));
    CHECK_NOTHROW(add(few, frame_item(0)));
    CHECK_THROWS_WITH(add(few, frame_item(3)), has_text("in all, 100 is the most"));
}

TEST_CASE("an empty name is none: the number and the path stand there") {
    recording::RecordedNames names;
    add(names, "U" + std::string(4 + 4, '\0') + "C" + std::string("\4\0\0\0/web\0\0\0\0", 12));
    CHECK(static_cast<Users&>(names).name(0) == "0");
    CHECK(static_cast<CgroupNames&>(names).name("/web") == "/web");
}

TEST_CASE(
    "a recording of a few bytes with names beyond any machine's is damaged there, and says so") {
    auto bytes = sample_recording(2);
    std::size_t at = 0;
    for (const std::size_t begin : record_begins(bytes))
        if (at == 0 && header_at(bytes, begin).kind == static_cast<std::uint16_t>(Kind::Names))
            at = begin;
    RecordHeader header = header_at(bytes, at);
    header.raw_bytes = recording::kMaxNamesPayload + 1;
    seal(bytes, at, header);
    CHECK_THAT(open(bytes).damage(), has_text("is damaged: names of 67108865 bytes at once"));
}

TEST_CASE("the writer keeps to the limits of the reader") {
    const auto check = [](const LargeStack& stacks, std::size_t frames) {
        SampleUsers users;
        FakeCgroups cgroups;
        recording::NameBook book;
        recording::RecordedNames names;
        const Snapshot snapshot = one_stack();
        names.add(book.news(snapshot, {stacks, users, cgroups}));
        const UserStack* stack =
            names.find(stack_id(snapshot, snapshot.tasks[0], snapshot.entries[0]));
        REQUIRE(stack != nullptr);
        CHECK(stack->frames.size() == frames);
        CHECK(book.left_out() == 0);
    };
    check(LargeStack(5'000, 0, 10), recording::kMaxStackFrames);
    check(LargeStack(3, 80'000, 10), 3);
    check(LargeStack(1'000, 80'000, 10), recording::kMaxStackFunctions / 257);
    check(LargeStack(3, 0, 1'000'000), 3);
}

TEST_CASE("names that were written or had no room are not kept") {
    const std::size_t most = GENERATE(recording::kMaxNames, 500);
    LargeStack stacks(10, 0, 1'000);
    SampleUsers users;
    FakeCgroups cgroups;
    recording::NameBook book(most);
    book.news(one_stack(), {stacks, users, cgroups});
    CHECK(book.stacks() == 1);
    CHECK(stacks.drop().expired());
}

TEST_CASE("stacks that have no room in a recording are counted once and have no names") {
    const LargeStack stacks(10, 0, 1'000);
    SampleUsers users;
    FakeCgroups cgroups;
    const Snapshot snapshot = one_stack();
    recording::NameBook book(500);
    recording::RecordedNames names(500);
    for (int i = 0; i < 2; ++i)
        names.add(book.news(snapshot, {stacks, users, cgroups}));
    CHECK(book.left_out() == 1);
    CHECK(names.find(stack_id(snapshot, snapshot.tasks[0], snapshot.entries[0])) == nullptr);
    CHECK(names.name(0) == users.name(0));
}

}  // namespace lattop::test
