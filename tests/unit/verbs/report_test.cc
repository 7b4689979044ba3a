// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/verbs/report.h"

#include "lattop/source/error.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"
#include "tests/unit/support/fakes.h"
#include "tests/unit/support/golden.h"
#include "tests/unit/support/recordings.h"

namespace lattop::test {

TEST_CASE("the report of a recording looks as recorded, and is of its time alone") {
    const TempFolder folder;
    const std::string path = folder.path() + "/r";
    write_file(path, sample_recording(5));
    const Profile profile = Profile::recorded(path, {});
    CHECK_THAT(profile.title, has_text("sample, Linux 6.1, 8.00s in 5 snapshots"));
    const std::string text = report_text(profile.snapshot, profile.names(), profile.users(),
                                         profile.reasons(), "12:34:56", {.tasks = 4, .stacks = 6},
                                         Charset::Utf8, nullptr, &profile.longest);
    CHECK_THAT(text, has_text("in all 8.00s"));
    check_golden("report.txt", text);
}

TEST_CASE("a command line of a megabyte is cut in titles, not within a character") {
    const TempFolder folder;
    const std::string path = folder.path() + "/r";
    std::vector<std::byte> bytes;
    recording::Writer writer(
        [&](auto more) { bytes.insert(bytes.end(), more.begin(), more.end()); },
        {{"command", std::string(199, 'x') + "\u00e4" + std::string(1'000'000, 'y')}}, 0);
    const SampleStacks stacks;
    SampleUsers users;
    FakeCgroups cgroups;
    writer.add(sample_machine(10).snapshot(), {stacks, users, cgroups}, 0);
    writer.end(0);
    write_file(path, bytes);
    CHECK(Profile::recorded(path, {}).title.ends_with(": " + std::string(199, 'x') + " ..."));
}

TEST_CASE("a report is of the tasks chosen") {
    const TempFolder folder;
    const std::string path = folder.path() + "/r";
    write_file(path, sample_recording(3));
    Selection selection;
    selection.pids = {877};
    const Profile profile = Profile::recorded(path, selection);
    REQUIRE(profile.snapshot.tasks.size() == 1);
    CHECK(profile.snapshot.tasks.front().blocked_ns == 4 * 950'000'000ULL);
    CHECK_THROWS_AS(Profile::recorded(folder.path() + "/none", selection), Error);
}

TEST_CASE("a report is of the waits chosen, and its figures are of those alone") {
    const TempFolder folder;
    const std::string path = folder.path() + "/r";
    write_file(path, sample_recording(3));
    const Profile all = Profile::recorded(path, {});
    Selection selection;
    selection.waits.hide_idle = true;
    const Profile busy = Profile::recorded(path, selection);
    REQUIRE(!busy.snapshot.tasks.empty());
    CHECK(busy.snapshot.entries.size() < all.snapshot.entries.size());
    for (const Task& task : busy.snapshot.tasks) {
        std::uint64_t blocked_ns = 0;
        std::uint64_t sleeps = 0;
        REQUIRE(task.n_entries != 0);
        for (const Entry& entry : busy.snapshot.entries_of(task)) {
            CHECK(!busy.reasons().of(busy.snapshot, task, entry, busy.names()).idle);
            blocked_ns += entry.blocked_ns;
            sleeps += entry.sleeps;
        }
        CHECK(task.blocked_ns == blocked_ns);
        CHECK(task.sleeps == sleeps);
    }
    // A reason and a command: either is enough.
    selection.waits = {.filter = "FUTEX|nginx"};
    const Profile some = Profile::recorded(path, selection);
    REQUIRE(!some.snapshot.tasks.empty());
    CHECK(some.snapshot.tasks.size() < all.snapshot.tasks.size());
    for (const Task& task : some.snapshot.tasks)
        for (const Entry& entry : some.snapshot.entries_of(task)) {
            const Reason& reason = some.reasons().of(some.snapshot, task, entry, some.names());
            const bool known = reason.name.find("futex") != std::string::npos ||
                               command_text(task).find("nginx") != std::string::npos;
            CHECK(known);
        }
    selection.waits = {.filter = "nothing is called so"};
    CHECK(Profile::recorded(path, selection).snapshot.tasks.empty());
}

TEST_CASE("a recording of one snapshot counts from load on") {
    const TempFolder folder;
    const std::string path = folder.path() + "/r";
    write_file(path, sample_recording(1));
    CHECK(Profile::recorded(path, {}).snapshot.header.since_ns == 100'000'000'000);
}

TEST_CASE("a report of the module as it runs names its stacks as well") {
    /// As StackNames: names are of a load of the module.
    class StacksOfALoad final : public UserStacks {
    public:
        explicit StacksOfALoad(StackId id) : id_(id) {
            UserFrame frame;
            frame.symbol = "checkout_connection";
            stack_.frames.push_back(std::make_shared<const UserFrame>(frame));
            stack_.own = 0;
        }
        void want(const Snapshot& /*snapshot*/) override {}
        bool collect() override { return false; }
        void want_live(const Task& /*task*/) override {}
        [[nodiscard]] int ready_fd() const override { return -1; }
        [[nodiscard]] const UserStack* find(const StackId& id) const override {
            return id == id_ ? &stack_ : nullptr;
        }
        [[nodiscard]] const LiveNames* find_live(const Task& /*task*/) const override {
            return nullptr;
        }

    private:
        StackId id_;
        UserStack stack_;
    };
    SnapshotBuilder builder;
    const auto trace = builder.add_trace({.kernel = {"schedule"}, .user = {0x10}});
    builder.add_task(
        {.blocked_ns = 5, .sleeps = 1, .entries = {{.trace = trace, .blocked_ns = 5}}});
    Snapshot snapshot = builder.snapshot();
    snapshot.header.load = 1;
    const StacksOfALoad names(stack_id(snapshot, snapshot.tasks[0], snapshot.entries[0]));
    SampleUsers users;
    Reasons reasons;
    const std::string text =
        report_text(snapshot, names, users, reasons, "12:34:56", {}, Charset::Utf8);
    // Among the tasks, not in the merged stacks alone.
    CHECK_THAT(text.substr(0, text.find("The worst stacks")), has_text("checkout_connection"));
}

TEST_CASE("a report says below each stack who ended its sleeps, where that was accounted") {
    const auto report = [](const std::vector<WakerSpec>& wakers) {
        SnapshotBuilder builder;
        const auto wait = builder.add_trace({.id = 7, .kernel = {"schedule", "do_wait"}});
        builder.add_trace({.id = 8, .kernel = {"wake_up_process", "exit_notify"}});
        builder.add_trace({.id = 9, .kernel = {"hrtimer_wakeup"}});
        builder.add_task(
            {.pid = 11,
             .comm = "make",
             .blocked_ns = 8'000'000'000,
             .sleeps = 8,
             .entries = {
                 {.trace = wait, .blocked_ns = 8'000'000'000, .sleeps = 8, .wakers = wakers}}});
        SampleUsers users;
        Reasons reasons;
        return report_text(builder.snapshot(), NoUserStacks(), users, reasons, "12:34:56", {},
                           Charset::Utf8);
    };
    const auto shell = [](std::uint32_t pid, std::uint64_t seconds) {
        return WakerSpec{
            .trace = 1, .pid = pid, .comm = "sh", .blocked_ns = seconds * 1'000'000'000};
    };
    const WakerSpec timer{.trace = 2, .kind = LT_WAKER_INTERRUPT, .blocked_ns = 500'000'000};
    const WakerSpec hidden{.kind = LT_WAKER_HIDDEN, .blocked_ns = 500'000'000};

    const std::string text =
        report({timer, shell(21, 1), shell(22, 2), shell(23, 3), shell(24, 1), hidden});
    const std::string of_task = text.substr(0, text.find("The worst stacks"));
    // The three that ended most, and the others as one
    CHECK_THAT(of_task, has_text("        kernel  schedule < do_wait\n"
                                 "        woken by  37.5%  3.00s      1 sh 23 in exit_notify\n"
                                 "                  25.0%  2.00s      1 sh 22 in exit_notify\n"
                                 "                  12.5%  1.00s      1 sh 21 in exit_notify\n"
                                 "                  25.0%  2.00s      3 3 more\n"));
    // Over all tasks those of one name are one
    CHECK_THAT(text.substr(of_task.size()),
               has_text("        schedule < do_wait\n"
                        "        woken by  87.5%  7.00s      4 sh (4 tasks)\n"
                        "                   6.2%  500ms      1 an interrupt\n"
                        "                   6.2%  500ms      1 a task that is not yours to see\n"));
    CHECK_THAT(report({shell(21, 8)}), has_text("woken by 100.0%  8.00s      1 sh 21\n"));
    CHECK_THAT(report({}), !has_text("woken by"));
}

}  // namespace lattop::test
