// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a recording says things are called: users, cgroups, stacks. Written by NameBook, read by
// RecordedNames.
#include "lattop/recording/reader.h"
#include "lattop/source/encoder.h"
#include "lattop/source/error.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/fakes.h"
#include "tests/unit/support/recordings.h"

namespace lattop::test {
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
    recording::Reader reader(read_from(sample_recording(2)), "r");
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
    recording::Reader reader(read_from(bytes), "r");
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
    Snapshot in_longer = with("/a");
    in_longer.tasks[0].cgroup_path = std::make_shared<std::string>(longer);
    CHECK(news(in_longer, of_longer) == 0);
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
