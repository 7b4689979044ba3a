// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/verbs/report.h"

#include "lattop/source/error.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"
#include "tests/unit/support/golden.h"
#include "tests/unit/support/recordings.h"

namespace lattop::test {

TEST_CASE("the report of a recording looks as recorded, and is of its time alone") {
    const TempFolder folder;
    const std::string path = folder.path() + "/r";
    write_file(path, sample_recording(5));
    const Profile profile = Profile::recorded(path, {});
    CHECK_THAT(profile.title, has_text("sample, Linux 6.1, 8.00s in 5 snapshots"));
    const std::string text =
        report_text(profile.snapshot, profile.names(), profile.users(), profile.reasons(),
                    "12:34:56", {.tasks = 4, .stacks = 6}, Charset::Utf8);
    CHECK_THAT(text, has_text("in all 8.00s"));
    check_golden("report.txt", text);
}

TEST_CASE("a report is of the tasks chosen") {
    const TempFolder folder;
    const std::string path = folder.path() + "/r";
    write_file(path, sample_recording(3));
    Selection selection;
    selection.pids = {877};
    const Profile profile = Profile::recorded(path, selection);
    REQUIRE(profile.snapshot.tasks.size() == 1);
    CHECK(profile.snapshot.tasks.front().blocked_ns == 4 * 995'000'000ULL);
    CHECK_THROWS_AS(Profile::recorded(folder.path() + "/none", selection), Error);
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

}  // namespace lattop::test
