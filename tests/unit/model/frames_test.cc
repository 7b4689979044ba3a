// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/model/frames.h"

#include "lattop/model/kernel_stack.h"
#include "lattop/model/rows.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/fakes.h"
#include "tests/unit/support/sample.h"

namespace lattop::test {
namespace {

std::vector<KernelFrame> stack(const std::vector<const char*>& names) {
    std::vector<KernelFrame> frames;
    for (const char* name : names)
        frames.push_back({{name, ""}, 0x10});
    return frames;
}

}  // namespace

TEST_CASE("the telling kernel function is behind the scheduler and its helpers") {
    struct Case {
        std::vector<const char*> frames;
        const char* telling;
    };
    const std::vector<Case> cases = {
        {{"schedule", "futex_wait_queue", "futex_wait"}, "futex_wait_queue"},
        {{"__schedule", "schedule", "do_nanosleep", "hrtimer_nanosleep"}, "hrtimer_nanosleep"},
        {{"schedule_hrtimeout_range", "poll_schedule_timeout.constprop.0", "do_sys_poll"},
         "do_sys_poll"},
        {{"io_schedule", "folio_wait_bit_common", "filemap_fault", "handle_mm_fault"},
         "filemap_fault"},
        {{"io_schedule", "bit_wait_io", "__wait_on_bit", "jbd2_log_wait_commit"},
         "jbd2_log_wait_commit"},
        {{"schedule", "schedule_preempt_disabled", "__mutex_lock.constprop.0", "ext4_readdir"},
         "ext4_readdir"},
        {{"schedule", "frobnicate.isra.0"}, "frobnicate.isra.0"},
        {{"schedule"}, "schedule"},
    };
    for (const Case& one : cases) {
        const auto frames = stack(one.frames);
        INFO(one.telling);
        REQUIRE(telling_frame(frames));
        CHECK(frames[*telling_frame(frames)].symbol.name == one.telling);
    }
    CHECK(!telling_frame({}));
}

TEST_CASE("parameters are cut from names, what looks like them is not") {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"main", "main"},
        {"ns::Pool::take(int)", "ns::Pool::take"},
        {"ns::Pool::size() const", "ns::Pool::size"},
        {"f(void (*)(int))", "f"},
        {"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
        {"(anonymous namespace)::f", "(anonymous namespace)::f"},
        {"main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"},
        {"A::operator()(int)", "A::operator()"},
        {"A::operator()", "A::operator()"},
        {"f(int) [clone .cold]", "f"},
        {"", ""},
        {")", ")"},
        {"(", "("},
    };
    for (const auto& [name, cut] : cases)
        CHECK(without_parameters(name) == cut);
}

TEST_CASE("names that are too long lose what tells least") {
    CHECK(fitted_name("ns::Pool<int, 3>::take", 30) == "ns::Pool<int, 3>::take");
    CHECK(fitted_name("ns::Pool<int, 3>::take", 16) == "ns::Pool<>::take");
    CHECK(fitted_name("ns::Pool<int, 3>::take", 12) == "Pool<>::take");
    CHECK(fitted_name("ns::Pool<int, 3>::take", 5) == "take");
    CHECK(fitted_name("ns::Pool<int, 3>::take", 2) == "take");
    CHECK(fitted_name("ns::wait<A<B<C>>, D<E>>", 12) == "ns::wait<>");
    CHECK(fitted_name("very_long_plain_name", 5) == "very_long_plain_name");
    CHECK(fitted_name("A::operator<<", 5) == "operator<<");
    CHECK(fitted_name("broken<<name", 5) == "broken<<name");
    // In time that grows as the name does
    std::string qualifiers;
    for (int i = 0; i < 1'000'000; ++i)
        qualifiers += "::";
    CHECK(fitted_name(qualifiers + "take", 5) == "take");
}

TEST_CASE("frames as text") {
    CHECK(frame_text(KernelFrame{{"f", ""}, 0x12}) == "f+0x12");
    CHECK(frame_text(KernelFrame{{"f", "kvm"}, 0x12}) == "f+0x12 [kvm]");
    CHECK(frame_text(UserFrame{"a::f(int)", 0x12, "prog", "/prog", "/x/a.cc", 3, {}}) ==
          "a::f+0x12 prog a.cc:3");
    CHECK(frame_text(UserFrame{"f", 0x12, "prog", "/prog", "", 0, {}}) == "f+0x12 prog");
    CHECK(frame_text(UserFrame{"", 0x12, "prog", "/prog", "", 0, {}}) == "prog+0x12");
    CHECK(frame_text(UserFrame{"", 0x12, "", "", "", 0, {}}) == "0x12");
    CHECK(frame_text(InlinedFrame{"a::g(int)", "/x/b.h", 7},
                     UserFrame{"f", 0x12, "prog", "/prog", "", 0, {}}) ==
          "a::g (inlined) prog b.h:7");
}

TEST_CASE("the top frame is the program's own, else the kernel's, else [other]") {
    const Snapshot snapshot = sample_machine(1).snapshot();
    const SampleStacks stacks;
    const auto find = [&](std::uint32_t pid) -> const Task& {
        return *std::ranges::find(snapshot.tasks, pid, &Task::pid);
    };
    CHECK(top_frame(snapshot, find(1200), stacks).text == "db::BufferPool::acquire");
    CHECK(top_frame(snapshot, find(1200), stacks).user);
    CHECK(top_frame(snapshot, find(877), stacks).text == "ep_poll");
    CHECK(!top_frame(snapshot, find(877), stacks).user);
    CHECK(top_frame(snapshot, snapshot.tasks[0], snapshot.entries[2], stacks).text == "[other]");
    CHECK(top_frame(snapshot, Task{}, stacks).text.empty());  // of no stacks
}

TEST_CASE("the top frame is what was inlined there, unless that is the C++ library's") {
    SnapshotBuilder builder;
    const auto trace = builder.add_trace({.user = {0x10}});
    builder.add_task({.entries = {{.trace = trace}}});
    const Snapshot snapshot = builder.snapshot();
    const auto top = [&](std::vector<InlinedFrame> inlined) {
        const OneStack stacks(UserFrame{"work(int)", 0x12, "prog", "/prog", "", 0, inlined},
                              std::nullopt, 0);
        return top_frame(snapshot, snapshot.tasks[0], snapshot.entries[0], stacks).text;
    };
    CHECK(top({}) == "work");
    CHECK(top({{"take(int)", "p.cc", 7}}) == "take");
    CHECK(top({{"take(int)", "p.cc", 7}, {"serve()", "p.cc", 9}}) == "take");
    CHECK(top({{"std::mutex::lock()", "mutex", 7}}) == "work");
    CHECK(top({{"void std::__invoke<void (*)(int)>(void (*)(int))", "invoke.h", 7}}) == "work");
    CHECK(top({{"(anonymous namespace)::take(int)", "p.cc", 7}}) == "(anonymous namespace)::take");
    CHECK(top({{"ns::operator new(unsigned long)", "p.cc", 7}}) == "ns::operator new");
    CHECK(top({{"__gthread_mutex_lock", "gthr.h", 3}, {"take(int)", "p.cc", 7}}) == "take");
}

TEST_CASE("why a trace is not whole is said") {
    const auto with = [](std::uint32_t flags) { return completeness({.flags = flags}); };
    CHECK(with(LT_TR_COMPLETE) == "complete");
    CHECK_THAT(with(LT_TR_FP), has_text("incomplete") && has_text("frame pointer"));
    CHECK_THAT(with(LT_TR_FP | LT_TR_USER_FAULT), has_text("not readable") && has_text("pointer"));
    CHECK_THAT(with(LT_TR_COMPLETE | LT_TR_KERNEL_CUT), has_text("kernel_depth"));
    CHECK_THAT(with(LT_TR_USER_CUT), has_text("user_depth"));
    CHECK_THAT(with(LT_TR_MISS), has_text("incomplete: no row known yet"));
    CHECK_THAT(with(LT_TR_CANNOT), has_text("incomplete") && has_text("cannot be unwound"));
    CHECK_THAT(with(LT_TR_SEEDED), has_text("before lattop was loaded"));
    CHECK(with(LT_TR_COMPLETE | LT_TR_FP) == "complete, walked by frame pointer");
    CHECK(with(0) == "incomplete: user part does not reach the first frame");
}

TEST_CASE("rows are ordered by every column, and the other way round") {
    Model model;
    model.update(sample_machine(10).snapshot(), {});
    SampleStacks stacks;
    SampleUsers users;
    Reasons reasons;
    SystemCgroups cgroups;
    const TableContext context{model, stacks, users, reasons, cgroups};
    for (const Column id : columns(View::Tasks)) {
        const ColumnInfo& column = column_info(id);
        RowOptions options;
        options.sort = id;
        const auto rows = make_rows(context, options);
        REQUIRE(rows.size() == 9);
        options.invert = true;
        const auto inverted = make_rows(context, options);
        INFO(column.name);
        CHECK(cell_text(context, rows.front(), column.id) ==
              cell_text(context, inverted.back(), column.id));
        CHECK(column_named(column.name) == column.id);
    }
    CHECK(!column_named("nothing"));
    CHECK(make_rows(context, {.sort = Column::Pid}).front().task->pid == 12);
    CHECK(make_rows(context, {.sort = Column::Ongoing}).front().task->pid == 2001);
}

TEST_CASE("cells of every row fit their columns") {
    Model model;
    SnapshotBuilder builder;
    builder.add_task({.pid = 4194303,
                      .blocked_ns = UINT64_MAX,
                      .sleeps = UINT64_MAX,
                      .max_ns = UINT64_MAX,
                      .ongoing_ns = UINT64_MAX,
                      .runq_ns = UINT64_MAX});
    model.update(builder.snapshot(), {});
    SampleStacks stacks;
    SampleUsers users;
    Reasons reasons;
    SystemCgroups cgroups;
    const TableContext context{model, stacks, users, reasons, cgroups};
    const auto rows = make_rows(context, {});
    for (const Column column : columns(View::Tasks))
        if (column != Column::Command)
            CHECK(cell_text(context, rows.at(0), column).size() <=
                  static_cast<std::size_t>(column_info(column).width));
}

}  // namespace lattop::test
