// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/verbs/record.h"

#include "lattop/model/stack_names.h"
#include "lattop/model/stoppable_namer.h"
#include "lattop/source/error.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/errors_of.h"
#include "tests/unit/support/fake_world.h"
#include "tests/unit/support/recordings.h"

namespace lattop::test {
namespace {

using namespace std::chrono_literals;
using recording::Reader;

struct RecordRun : FakeWorld {
    /// Asked to end after as many waits.
    Reader go(const RecordPlan& plan, int waits = 1000) {
        std::vector<std::byte> bytes;
        recording::Writer writer(
            [&](auto more) { bytes.insert(bytes.end(), more.begin(), more.end()); }, {}, 0);
        const auto wait = [&](Clock::Time until) {
            clock.sleep_until(until);
            return --waits == 0;
        };
        record(plan, world(), writer, wait, [&](const recording::Writer& written) {
            progress.emplace_back(written.snapshots(), source.taken);
        });
        return Reader(read_from(bytes), "r");
    }

    std::vector<std::pair<std::uint64_t, std::uint64_t>> progress;  // written, taken
};

}  // namespace

TEST_CASE("recording goes on until it is asked to end, with a snapshot at the end") {
    RecordRun run;
    const Reader reader = run.go({}, 3);
    CHECK(reader.size() == 4);
    CHECK(reader.damage().empty());
    CHECK(run.clock.slept == std::vector{1000ms, 1000ms, 1000ms});
}

TEST_CASE("what begins when the first snapshot was written is in the second one, however brief") {
    RecordRun run;
    run.go({}, 1);
    CHECK(run.progress == std::vector<std::pair<std::uint64_t, std::uint64_t>>{{1, 1}, {2, 2}});
}

TEST_CASE("containers are called in a recording what they are called here") {
    RecordRun run;
    Reader reader = run.go({}, 1);
    CHECK(reader.names().name(kSampleContainer) == "docker:shop");
}

TEST_CASE("a duration ends it, also between two snapshots") {
    RecordRun run;
    RecordPlan plan;
    plan.duration = 2500ms;
    CHECK(run.go(plan).size() == 4);
    CHECK(run.clock.slept == std::vector{1000ms, 1000ms, 500ms});
}

TEST_CASE("that learning failed is said once") {
    RecordRun run;
    run.learning.now.kind = LearningState::Kind::Failed;
    run.learning.now.why = "for a reason";
    RecordPlan plan;
    plan.duration = 2500ms;
    const std::string said = errors_of([&] { CHECK(run.go(plan).size() == 4); });
    CHECK(said == "lattop: learning failed, user stacks may be cut from now on: for a reason\n");
}

TEST_CASE("a module unloaded meanwhile ends it: what was recorded is whole") {
    FakeWorld fake;
    FakeSource source([](std::uint64_t n) {
        if (n == 2) throw NoModuleError("lattop's kernel module was unloaded", "load it");
        return sample_machine(10 + n * 2).snapshot();
    });
    std::vector<std::byte> bytes;
    recording::Writer writer(
        [&](auto more) { bytes.insert(bytes.end(), more.begin(), more.end()); }, {}, 0);
    const auto wait = [](Clock::Time) { return false; };
    CHECK_THROWS_AS(record({}, fake.with(source), writer, wait, [](const auto&) {}), NoModuleError);
    const Reader reader(read_from(bytes), "r");
    CHECK(reader.size() == 2);
    CHECK(reader.damage().empty());
}

TEST_CASE("names that are slow to find delay no snapshot: they are behind them") {
    /// Finds what it is waited for, or what a test says.
    class Slow final : public Namer {
    public:
        void submit(std::vector<NameRequest> requests) override {
            asked_.insert(asked_.end(), requests.begin(), requests.end());
        }
        std::vector<NameAnswer> take() override { return std::exchange(found_, {}); }
        bool wait() override {
            if (on_wait) on_wait();
            find();
            return false;
        }
        [[nodiscard]] int ready_fd() const override { return -1; }

        void find() {
            for (const NameRequest& request : std::exchange(asked_, {})) {
                auto frame = std::make_shared<UserFrame>();
                frame->symbol = "of_" + std::to_string(request.task.pid);
                found_.push_back({request.id, {Naming::Result::Named, {{frame}}}});
            }
        }

        std::function<void()> on_wait;

    private:
        std::vector<NameRequest> asked_;
        std::vector<NameAnswer> found_;
    };
    FakeWorld fake;
    auto owned = std::make_unique<Slow>();
    Slow& namer = *owned;
    StackNames names(std::move(owned));
    // 41 has ended when the second snapshot is taken; 42 runs another program.
    FakeSource source([](std::uint64_t n) {
        SnapshotBuilder builder;
        const auto trace = builder.add_trace({.id = 7, .user = {1}});
        if (n == 0) builder.add_task({.pid = 41, .entries = {{.trace = trace}}});
        builder.add_task({.pid = 42, .exec_id = n == 0 ? 1U : 2U, .entries = {{.trace = trace}}});
        builder.add_task({.pid = 43, .entries = {{.trace = trace}}});
        return builder.snapshot();
    });
    int waits = 3;
    std::vector<std::byte> bytes;
    recording::Writer writer(
        [&](auto more) { bytes.insert(bytes.end(), more.begin(), more.end()); }, {}, 0);
    const auto go = [&](const std::function<void()>& meanwhile) {
        record(
            {}, {source, names, fake.users, fake.cgroups, fake.clock, fake.learning, fake.reasons},
            writer,
            [&](Clock::Time) {
                meanwhile();
                return --waits == 0;
            },
            [](const auto&) {});
        return Reader(read_from(bytes), "r");
    };
    const auto symbol = [](Reader& reader, std::uint32_t pid) {
        const UserStack* stack = reader.names().find({{LT_KIND_TASK, pid, pid, 1000}, 1, 7});
        return stack == nullptr ? "" : stack->frames.front()->symbol;
    };
    SECTION("at the end") {
        namer.on_wait = [&] { CHECK(source.taken == 4); };
        Reader reader = go([] {});
        CHECK(reader.size() == 4);
        CHECK(reader.damage().empty());
        CHECK(symbol(reader, 41) == "of_41");
        CHECK(symbol(reader, 42).empty());  // the program that had the addresses is gone
        CHECK(symbol(reader, 43) == "of_43");
    }
    SECTION("as soon as they are found") {
        Reader reader = go([&] { namer.find(); });
        CHECK(symbol(reader, 41) == "of_41");
        CHECK(symbol(reader, 42) == "of_42");
        CHECK(symbol(reader, 43) == "of_43");
    }
}

TEST_CASE(
    "what sleepers wait for stands behind the snapshot that showed them; the last is waited for") {
    /// Has found it when the next snapshot is due, of the last one when it is waited for.
    class Late final : public ObjectFinder {
    public:
        void want(const Snapshot& snapshot) override { found_ = {sample_objects(snapshot)}; }
        std::vector<FoundObjects> take() override { return std::exchange(found_, {}); }
        std::vector<FoundObjects> wait(std::chrono::milliseconds patience) override {
            waited.push_back(patience);
            return take();
        }

        std::vector<std::chrono::milliseconds> waited;

    private:
        std::vector<FoundObjects> found_;
    };
    FakeWorld fake;
    Late finder;
    World world = fake.world();
    world.objects = &finder;
    std::vector<std::byte> bytes;
    recording::Writer writer(
        [&](auto more) { bytes.insert(bytes.end(), more.begin(), more.end()); }, {}, 0);
    int waits = 3;
    record(
        {}, world, writer, [&](Clock::Time) { return --waits == 0; }, [](const auto&) {});
    CHECK(finder.waited == std::vector{kObjectsPatience});
    Reader reader(read_from(bytes), "r");
    CHECK(reader.damage().empty());
    REQUIRE(reader.size() == 4);
    for (std::size_t i = 0; i < reader.size(); ++i) {
        const Snapshot snapshot = reader.snapshot(i);
        std::size_t known = 0;
        for (const Task& task : snapshot.tasks)
            known += reader.names().object(snapshot, task) != nullptr ? 1U : 0U;
        CHECK(known == 4);
    }
}

TEST_CASE("a recording whose names are not waited for is whole, with addresses") {
    /// Never finds anything.
    class Slow final : public Namer {
    public:
        void submit(std::vector<NameRequest> /*requests*/) override {}
        std::vector<NameAnswer> take() override { return {}; }
        [[nodiscard]] int ready_fd() const override { return -1; }
    };
    FakeWorld fake;
    int asked = 0;
    StackNames names(std::make_unique<StoppableNamer>(std::make_unique<Slow>(),
                                                      [&](std::size_t) { return ++asked > 1; }));
    std::vector<std::byte> bytes;
    recording::Writer writer(
        [&](auto more) { bytes.insert(bytes.end(), more.begin(), more.end()); }, {}, 0);
    record(
        {}, {fake.source, names, fake.users, fake.cgroups, fake.clock, fake.learning, fake.reasons},
        writer, [](Clock::Time) { return true; }, [](const auto&) {});
    CHECK(asked > 1);
    Reader reader(read_from(bytes), "r");
    CHECK(reader.size() == 2);
    CHECK(reader.damage().empty());
    const Snapshot snapshot = reader.snapshot(1);
    for (const Task& task : snapshot.tasks)
        for (const Entry& entry : snapshot.entries_of(task))
            CHECK(reader.names().find(stack_id(snapshot, task, entry)) == nullptr);
}

TEST_CASE("a recording does not wait for the names of what does not answer, which is said") {
    /// One process keeps its first request, and is not looked at for the others.
    class Silent final : public Namer {
    public:
        void submit(std::vector<NameRequest> requests) override {
            for (const NameRequest& request : requests)
                if (std::exchange(kept_, true)) {
                    answers_.push_back({request.id, {}});
                    answers_.back().not_now = true;
                }
        }
        std::vector<NameAnswer> take() override { return std::exchange(answers_, {}); }
        [[nodiscard]] int ready_fd() const override { return -1; }
        [[nodiscard]] std::vector<std::uint32_t> silent() const override { return {1200}; }

    private:
        bool kept_ = false;
        std::vector<NameAnswer> answers_;
    };
    FakeWorld fake;
    StackNames names(std::make_unique<StoppableNamer>(std::make_unique<Silent>(), [](std::size_t) {
        FAIL_CHECK("it waits");
        return true;
    }));
    std::vector<std::byte> bytes;
    recording::Writer writer(
        [&](auto more) { bytes.insert(bytes.end(), more.begin(), more.end()); }, {}, 0);
    const std::string said = errors_of([&] {
        record(
            {},
            {fake.source, names, fake.users, fake.cgroups, fake.clock, fake.learning, fake.reasons},
            writer, [](Clock::Time) { return true; }, [](const auto&) {});
    });
    CHECK_THAT(said, has_text("names are not waited for where memory or files do not answer "
                              "(process 1200): stacks without them stay addresses"));
    Reader reader(read_from(bytes), "r");
    CHECK(reader.size() == 2);
    CHECK(reader.damage().empty());
}

TEST_CASE("names of users that come late are behind the snapshots, which did not wait for them") {
    FakeWorld fake;
    LateUsers users;
    // Who has ended by then has a name too.
    FakeSource source([](std::uint64_t n) {
        SnapshotBuilder builder;
        builder.add_task({.pid = 1, .uid = n == 0 ? 41U : 42U});
        return builder.snapshot();
    });
    World world{source, fake.stacks, users, fake.cgroups, fake.clock, fake.learning, fake.reasons};
    std::vector<std::byte> bytes;
    recording::Writer writer(
        [&](auto more) { bytes.insert(bytes.end(), more.begin(), more.end()); }, {}, 0);
    const auto go = [&] {
        return errors_of([&] {
            record(
                {}, world, writer,
                [&](Clock::Time) {
                    CHECK(users.waited.empty());
                    return true;
                },
                [](const auto&) {});
        });
    };
    SECTION("at its end") {
        CHECK(go().empty());
        Reader reader(read_from(bytes), "r");
        CHECK(reader.damage().empty());
        CHECK(reader.size() == 2);
        CHECK(reader.names().name(41) == "user-41");
        CHECK(reader.names().name(42) == "user-42");
    }
    SECTION("with the next snapshot") {
        FakeSource other([&](std::uint64_t n) {
            users.come = n == 1;
            SnapshotBuilder builder;
            builder.add_task({.pid = 1, .uid = n == 0 ? 41U : 42U});
            return builder.snapshot();
        });
        users.answers = false;
        World later{other,      fake.stacks,   users,       fake.cgroups,
                    fake.clock, fake.learning, fake.reasons};
        record(
            {}, later, writer, [](Clock::Time) { return true; }, [](const auto&) {});
        Reader reader(read_from(bytes), "r");
        CHECK(reader.names().name(41) == "user-41");
    }
    SECTION("where none come it is whole, with numbers, and that is said") {
        users.answers = false;
        CHECK_THAT(go(), has_text("what 2 users are called: they are shown by number"));
        CHECK(users.waited == std::vector{kUsersPatience});
        Reader reader(read_from(bytes), "r");
        CHECK(reader.damage().empty());
        CHECK(reader.names().name(41) == "41");
    }
}

TEST_CASE("a read that fails in passing costs a recording one snapshot, which is said once") {
    FakeWorld fake;
    std::uint64_t failing = 2;
    FakeSource source([&](std::uint64_t n) {
        if (n > 0 && n <= failing) throw PassingError("cannot read /proc/lattop: no memory");
        return sample_machine(10 + n * 2).snapshot();
    });
    std::vector<std::byte> bytes;
    recording::Writer writer(
        [&](auto more) { bytes.insert(bytes.end(), more.begin(), more.end()); }, {}, 0);
    int waits = 5;
    const auto go = [&] {
        const auto wait = [&](Clock::Time until) {
            fake.clock.sleep_until(until);
            return --waits == 0;
        };
        return errors_of([&] { record({}, fake.with(source), writer, wait, [](const auto&) {}); });
    };
    SECTION("the figures of the next one are whole") {
        CHECK(go() == "lattop: cannot read /proc/lattop: no memory: tried again\n");
        Reader reader(read_from(bytes), "r");
        CHECK(reader.damage().empty());
        REQUIRE(reader.size() == 4);
        const auto blocked_ns = [](const Snapshot& snapshot) {
            std::uint64_t sum = 0;
            for (const Task& task : snapshot.tasks)
                sum += task.blocked_ns;
            return sum;
        };
        CHECK(blocked_ns(reader.snapshot(1)) == blocked_ns(sample_machine(16).snapshot()));
    }
    SECTION("where it is asked to end then, the last one is tried until it succeeds") {
        waits = 1;
        go();
        const Reader reader(read_from(bytes), "r");
        CHECK(reader.size() == 2);
        CHECK(source.taken == 4);
        CHECK(reader.damage().empty());
    }
    SECTION("ten in a row end it: what was recorded is whole") {
        failing = 1000;
        waits = 100;
        CHECK_THROWS_WITH(go(), has_text("no memory, 10 times in a row"));
        const Reader reader(read_from(bytes), "r");
        CHECK(reader.size() == 1);
        CHECK(reader.damage().empty());
    }
}

TEST_CASE("the tasks asked for are recorded, with all their traces") {
    RecordRun run;
    RecordPlan plan;
    plan.selection.pids = {1200};
    Reader reader = run.go(plan, 1);
    const Snapshot snapshot = reader.snapshot(1);
    REQUIRE(snapshot.tasks.size() == 3);
    for (const Task& task : snapshot.tasks)
        CHECK(snapshot.entries_of(task).size() == 3);
    CHECK(run.source.queries.front().traces == LT_TRACES_ALL);
}

}  // namespace lattop::test
