// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/source/decoder.h"

#include <cstring>
#include <functional>

#include "lattop/source/encoder.h"
#include "lattop/source/error.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/snapshot_builder.h"

namespace lattop::test {
namespace {

SnapshotBuilder sample() {
    SnapshotBuilder builder;
    const auto futex = builder.add_trace({.id = 7,
                                          .kernel = {"schedule", "futex_wait", "kvm_go [kvm]"},
                                          .user = {0x401000, 0x402000},
                                          .syscall = 202});
    const auto poll = builder.add_trace({.id = 9, .kernel = {"do_poll"}, .user = {0x401000}});
    builder.add_task({.pid = 10,
                      .comm = "sixteen_bytes_xy",
                      .blocked_ns = 30,
                      .sleeps = 3,
                      .entries = {{.trace = futex,
                                   .blocked_ns = 20,
                                   .hist = {{4, 2}},
                                   .wakers = {{.trace = poll, .pid = 11, .comm = "waker"}}},
                                  {.trace = poll, .blocked_ns = 9},
                                  {.blocked_ns = 1}}});
    builder.add_task({.pid = 11, .tgid = 10, .entries = {{.trace = futex, .blocked_ns = 5}}});
    builder.header.lost[LT_LOST_user_fault] = 4;
    return builder;
}

template <typename Raw>
void poke(std::vector<std::byte>& bytes, std::size_t at, Raw value) {
    std::memcpy(bytes.data() + at, &value, sizeof(value));
}

lt_header header_of(const std::vector<std::byte>& bytes) {
    lt_header header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    return header;
}

/// Changes the header in place.
void edit(std::vector<std::byte>& bytes, const std::function<void(lt_header&)>& change) {
    lt_header header = header_of(bytes);
    change(header);
    std::memcpy(bytes.data(), &header, sizeof(header));
}

std::size_t record_at(const std::vector<std::byte>& bytes, lt_sec section, std::size_t index) {
    const lt_section where = header_of(bytes).section[section];
    return where.offset + index * where.record_bytes;
}

}  // namespace

TEST_CASE("a snapshot is decoded whole") {
    const Snapshot snapshot = sample().snapshot();
    CHECK(snapshot.header.hook == "tracepoint");
    CHECK(snapshot.header.lost[LT_LOST_user_fault] == 4);
    REQUIRE(snapshot.tasks.size() == 2);
    CHECK(snapshot.tasks[0].comm == "sixteen_bytes_xy");
    CHECK(snapshot.tasks[1].tgid == 10);

    const auto entries = snapshot.entries_of(snapshot.tasks[0]);
    REQUIRE(entries.size() == 3);
    CHECK(entries[0].hist[4] == 2);
    CHECK(snapshot.trace_of(entries[2]) == nullptr);
    const Trace* trace = snapshot.trace_of(entries[0]);
    REQUIRE(trace != nullptr);
    CHECK(trace->id == 7);
    CHECK(trace->syscall == 202);
    const auto kernel = snapshot.kernel_frames(*trace);
    REQUIRE(kernel.size() == 3);
    CHECK(kernel[1].symbol.name == "futex_wait");
    CHECK(kernel[1].offset == 0x10);
    CHECK(kernel[2].symbol.module == "kvm");
    const auto user = snapshot.user_frames(*trace);
    REQUIRE(user.size() == 2);
    CHECK(user[1] == 0x402000);
}

TEST_CASE("kernel names survive moving the snapshot") {
    Snapshot first = sample().snapshot();
    const Snapshot second = std::move(first);
    CHECK(second.kernel_frames(second.traces[0])[2].symbol.module == "kvm");
}

TEST_CASE("records and headers of a newer module are read by their known part") {
    SnapshotBuilder builder = sample();
    builder.growth = 24;
    const Snapshot snapshot = builder.snapshot();
    CHECK(snapshot.tasks[1].pid == 11);
    CHECK(snapshot.frames.size() == 7);
    CHECK(snapshot.entries_of(snapshot.tasks[0])[1].blocked_ns == 9);
}

TEST_CASE("a snapshot cut at any byte is refused, never read past its end") {
    const auto whole = sample().bytes();
    for (std::size_t n = 0; n < whole.size(); ++n) {
        const std::vector<std::byte> part(whole.begin(),
                                          whole.begin() + static_cast<std::ptrdiff_t>(n));
        REQUIRE_THROWS_AS(decode(part), Error);
    }
    CHECK_NOTHROW(decode(whole));
}

TEST_CASE("any single damaged byte gives a snapshot or an error, with all indices in range") {
    const auto whole = sample().bytes();
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (const unsigned value : {0x00U, 0x01U, 0x7fU, 0x80U, 0xffU}) {
            auto bytes = whole;
            bytes[at] = static_cast<std::byte>(value);
            try {
                const Snapshot snapshot = decode(bytes);
                const auto use = [&](const Trace* trace) {
                    if (trace == nullptr) return;
                    static_cast<void>(snapshot.kernel_frames(*trace).size());
                    static_cast<void>(snapshot.user_frames(*trace).size());
                };
                for (const Task& task : snapshot.tasks)
                    for (const Entry& entry : snapshot.entries_of(task)) {
                        use(snapshot.trace_of(entry));
                        for (const Waker& waker : snapshot.wakers_of(entry))
                            use(snapshot.trace_at(waker.trace));
                    }
            } catch (const Error&) {
            }
        }
    }
}

TEST_CASE("hostile headers and records are refused by name") {
    struct Case {
        const char* message;
        std::function<void(std::vector<std::byte>&)> damage;
    };
    const auto in_header = [](const std::function<void(lt_header&)>& change) {
        return [change](std::vector<std::byte>& bytes) { edit(bytes, change); };
    };
    const std::vector<Case> cases = {
        {"begins with", in_header([](auto& h) { h.magic = 0x464c457f; })},
        {"header has", in_header([](auto& h) { h.header_bytes = 8; })},
        {"header has", in_header([](auto& h) { h.section_nr = 2; })},
        {"total_bytes", in_header([](auto& h) { h.total_bytes = 3; })},
        {"bytes are there", in_header([](auto& h) { h.total_bytes = UINT64_MAX; })},
        {"tasks begin at", in_header([](auto& h) { h.section[LT_SEC_TASKS].offset = UINT64_MAX; })},
        {"tasks: ", in_header([](auto& h) { h.section[LT_SEC_TASKS].count = UINT32_MAX; })},
        {"at least", in_header([](auto& h) { h.section[LT_SEC_TASKS].record_bytes = 0; })},
        {"at least", in_header([](auto& h) {
             h.section[LT_SEC_ENTRIES].count = UINT32_MAX;
             h.section[LT_SEC_ENTRIES].record_bytes = 0;
         })},
        {"do not fit",
         in_header([](auto& h) { h.section[LT_SEC_FRAMES].record_bytes = UINT32_MAX; })},
        {"strings: ", in_header([](auto& h) { h.section[LT_SEC_STRINGS].count = UINT32_MAX; })},
        {"does not end", in_header([](auto& h) { h.section[LT_SEC_STRINGS].count -= 1; })},
        {"of 0 bytes", in_header([](auto& h) { h.section[LT_SEC_STRINGS].count = 0; })},
        {"tasks[1]: entries up to",
         [](auto& bytes) {
             poke<std::uint32_t>(
                 bytes, record_at(bytes, LT_SEC_TASKS, 1) + offsetof(lt_task_rec, n_entries),
                 UINT32_MAX);
         }},
        {"entries[2]: trace",
         [](auto& bytes) {
             poke<std::uint32_t>(bytes, record_at(bytes, LT_SEC_ENTRIES, 2), UINT32_MAX - 1);
         }},
        {"traces[0]: frames up to",
         [](auto& bytes) {
             poke<std::uint32_t>(
                 bytes, record_at(bytes, LT_SEC_TRACES, 0) + offsetof(lt_trace_rec, first_frame),
                 UINT32_MAX);
         }},
        // Tables that stand in each other are many times what their bytes hold
        {"tasks[1]: more entries than there are",
         [](auto& bytes) {
             const auto at = record_at(bytes, LT_SEC_TASKS, 1);
             poke<std::uint32_t>(bytes, at + offsetof(lt_task_rec, first_entry), 0);
             poke<std::uint32_t>(bytes, at + offsetof(lt_task_rec, n_entries), 2);
         }},
        {"traces[1]: more frames than there are",
         [](auto& bytes) {
             const auto at = record_at(bytes, LT_SEC_TRACES, 1);
             poke<std::uint32_t>(bytes, at + offsetof(lt_trace_rec, first_frame), 0);
             poke<std::uint16_t>(bytes, at + offsetof(lt_trace_rec, nr_user), 3);
         }},
        // Sections, too
        {"sections have", in_header([](auto& h) {
             lt_section& ksyms = h.section[LT_SEC_KSYMS];
             ksyms.offset = h.header_bytes;
             ksyms.count =
                 static_cast<std::uint32_t>((h.total_bytes - h.header_bytes) / ksyms.record_bytes);
         })},
        {"sections have", in_header([](auto& h) {
             h.users = h.section[LT_SEC_TASKS];
             h.users.count = 3;
         })},
        {"ksyms: 4194305 functions",
         [](auto& bytes) {
             const std::size_t end = bytes.size();
             constexpr std::uint32_t kMany = (1U << 22) + 1;
             bytes.resize(end + kMany * sizeof(lt_ksym_rec));
             edit(bytes, [&](auto& h) {
                 h.section[LT_SEC_KSYMS] = {end, kMany, sizeof(lt_ksym_rec)};
                 h.total_bytes = bytes.size();
             });
         }},
        {"traces[0]: 65535 kernel and",
         [](auto& bytes) {
             poke<std::uint16_t>(
                 bytes, record_at(bytes, LT_SEC_TRACES, 0) + offsetof(lt_trace_rec, nr_kernel),
                 UINT16_MAX);
         }},
        {"traces[0]: kernel function",
         [](auto& bytes) {
             poke<std::uint64_t>(bytes, record_at(bytes, LT_SEC_FRAMES, 1), UINT64_MAX);
         }},
        {"ksyms[0]: string",
         [](auto& bytes) {
             poke<std::uint32_t>(bytes, record_at(bytes, LT_SEC_KSYMS, 0), 1U << 30);
         }},
    };
    for (const Case& one : cases) {
        auto bytes = sample().bytes();
        one.damage(bytes);
        INFO(one.message);
        CHECK_THROWS_WITH(decode(bytes), has_text(one.message));
        CHECK_THROWS_AS(decode(bytes), FormatError);
    }
}

TEST_CASE("another version of the record view says which, and what to do") {
    auto bytes = sample().bytes();
    edit(bytes, [](lt_header& header) { header.version = 2; });
    try {
        static_cast<void>(decode(bytes));
        FAIL("version 2 was accepted");
    } catch (const NotUsableError& error) {
        CHECK_THAT(error.what(), has_text("version 2") && has_text("version 1"));
        CHECK_THAT(error.hint(), has_text("same release"));
        CHECK(error.code() == ExitCode::NotUsable);
    }
}

TEST_CASE("names of tasks need no terminating NUL and end at the first one") {
    SnapshotBuilder builder;
    builder.add_task({.pid = 1, .comm = std::string("ab\0cd", 5)});
    builder.add_task({.pid = 2, .comm = "\x1b[2J\xff"});
    const Snapshot snapshot = builder.snapshot();
    CHECK(snapshot.tasks[0].comm == "ab");
    CHECK(snapshot.tasks[1].comm == "\x1b[2J\xff");
}

TEST_CASE("wakers come with their traces") {
    SnapshotBuilder builder;
    const auto wait = builder.add_trace({.id = 7, .kernel = {"pipe_read"}});
    const auto wake = builder.add_trace({.id = 8, .kernel = {"pipe_write"}, .user = {0x401000}});
    builder.add_task({.pid = 10, .entries = {{.trace = wait}}});
    builder.add_task(
        {.pid = 11,
         .entries = {
             {.trace = wait,
              .wakers = {
                  {.trace = wake, .pid = 12, .comm = "writer", .blocked_ns = 30, .sleeps = 2},
                  {.kind = LT_WAKER_HIDDEN, .blocked_ns = 5}}}}});
    const Snapshot snapshot = builder.snapshot();
    CHECK(snapshot.wakers_of(snapshot.entries[0]).empty());
    const auto wakers = snapshot.wakers_of(snapshot.entries[1]);
    REQUIRE(wakers.size() == 2);
    CHECK(wakers[0].pid == 12);
    CHECK(wakers[0].start_ns == 1000);
    CHECK(wakers[0].comm == "writer");
    CHECK(wakers[0].blocked_ns == 30);
    CHECK(wakers[0].sleeps == 2);
    CHECK(snapshot.trace_at(wakers[0].trace)->id == 8);
    CHECK(wakers[1].kind == LT_WAKER_HIDDEN);
    CHECK(snapshot.trace_at(wakers[1].trace) == nullptr);
}

TEST_CASE("tasks come with their cgroups; one that is not there is refused") {
    SnapshotBuilder builder;
    builder.add_task({.pid = 1, .cgroup = "/system.slice/nginx.service"});
    builder.add_task({.pid = 2});
    const Snapshot snapshot = builder.snapshot();
    CHECK(snapshot.tasks[0].cgroup() == "/system.slice/nginx.service");
    CHECK(snapshot.tasks[1].cgroup().empty());
    CHECK(decode(encode(snapshot)).tasks[0].cgroup() == "/system.slice/nginx.service");

    auto bytes = builder.bytes();
    poke(bytes, record_at(bytes, LT_SEC_TASKS, 1) + offsetof(lt_task_rec, cgroup), __u32{4000});
    CHECK_THROWS_WITH(decode(bytes), has_text("tasks[1]: string 4000 of"));
    bytes = builder.bytes();
    poke(bytes, record_at(bytes, LT_SEC_TASKS, 1) + offsetof(lt_task_rec, cgroup), __u32{2});
    CHECK_THROWS_WITH(decode(bytes), has_text("tasks[1]: string 2 begins within another"));
    builder.add_task({.pid = 3, .cgroup = "/.." + std::string(4095, 'x')});
    CHECK(builder.snapshot().tasks[2].cgroup().size() == 4098);
    builder.add_task({.pid = 4, .cgroup = "/system.slice/nginx.service"});
    const Snapshot shared = builder.snapshot();
    CHECK(shared.tasks[3].cgroup_path == shared.tasks[0].cgroup_path);
}

TEST_CASE("names are as long as a kernel's may be, and no longer") {
    const auto names = [](const std::string& function, const std::string& module) {
        SnapshotBuilder builder;
        builder.add_trace({.id = 1, .kernel = {"schedule", function + " [" + module + "]"}});
        return builder.bytes();
    };
    const auto text = [](std::size_t size) { return std::string(size, 'x'); };
    const Snapshot longest = decode(names(text(511), text(55)));
    CHECK(longest.ksyms.at(1).name == text(511));
    CHECK(longest.ksyms.at(1).module == text(55));
    CHECK_THROWS_WITH(decode(names(text(512), "kvm")),
                      has_text("ksyms[1]: string 15 has 512 bytes or more"));
    CHECK_THROWS_WITH(decode(names("kvm_go", text(56))),
                      has_text("ksyms[1]: string 22 has 56 bytes or more"));
    // One string is as many names as it has bytes
    auto bytes = names(text(511), text(55));
    poke<std::uint32_t>(bytes, record_at(bytes, LT_SEC_KSYMS, 1), 16);
    CHECK_THROWS_WITH(decode(bytes), has_text("ksyms[1]: string 16 begins within another"));
    // The kernel's own longest path, below that of another deep one
    SnapshotBuilder builder;
    builder.add_task({.cgroup = text(10'235)});
    CHECK(builder.snapshot().tasks[0].cgroup().size() == 10'235);
    builder.add_task({.cgroup = text(1U << 20)});
    CHECK_THROWS_WITH(builder.snapshot(), has_text("tasks[1]: string") && has_text("or more"));
}

TEST_CASE("what users hold comes with the header, and goes into recordings") {
    SnapshotBuilder builder;
    builder.header.user_share = 50;
    builder.header.share[LT_HELD_tasks] = 8192;
    builder.users = {{1000, 0, {}}, {~0U, 0, {}}};
    builder.users[0].held[LT_HELD_tasks] = 17;
    builder.users[1].held[LT_HELD_SLOTS - 1] = 3;
    for (const Header& header :
         {builder.snapshot().header, decode(encode(builder.snapshot())).header}) {
        CHECK(header.user_share == 50);
        CHECK(header.share[LT_HELD_tasks] == 8192);
        REQUIRE(header.users.size() == 2);
        CHECK(header.users[0].uid == 1000);
        CHECK(header.users[0].held[LT_HELD_tasks] == 17);
        CHECK(header.users[1].uid == ~0U);
        CHECK(header.users[1].held[LT_HELD_SLOTS - 1] == 3);
    }
    builder.growth = 16;
    CHECK(builder.snapshot().header.users.at(1).held[LT_HELD_SLOTS - 1] == 3);
    auto bytes = builder.bytes();
    edit(bytes, [](lt_header& header) { header.users.count = 1000; });
    CHECK_THROWS_WITH(decode(bytes), has_text("users: 1000 records"));
}

TEST_CASE("a snapshot of the first layout is read, and has no wakers, no cgroups and no users") {
    SnapshotBuilder builder = sample();
    builder.users = {{1000, 0, {}}};
    builder.first_layout = true;
    const Snapshot snapshot = builder.snapshot();
    REQUIRE(snapshot.entries.size() == 4);
    CHECK(snapshot.entries[0].hist[4] == 2);
    CHECK(snapshot.entries[1].blocked_ns == 9);
    for (const Entry& entry : snapshot.entries)
        CHECK(snapshot.wakers_of(entry).empty());
    for (const Task& task : snapshot.tasks)
        CHECK(task.cgroup().empty());
    CHECK(snapshot.header.users.empty());
}

TEST_CASE("wakers that are not there, or have no trace, are refused") {
    SnapshotBuilder builder;
    const auto trace = builder.add_trace({.id = 7});
    builder.add_task({.entries = {{.trace = trace, .wakers = {{.trace = trace, .pid = 2}}}}});
    const std::vector<std::byte> good = builder.bytes();

    auto bytes = good;
    poke(bytes, record_at(bytes, LT_SEC_ENTRIES, 0) + offsetof(lt_entry_rec, n_wakers), __u32{2});
    CHECK_THROWS_WITH(decode(bytes), has_text("entries[0]: wakers up to 2 of 1"));
    bytes = good;
    poke(bytes, header_of(bytes).wakers.offset + offsetof(lt_waker_rec, trace), __u32{1});
    CHECK_THROWS_WITH(decode(bytes), has_text("wakers[0]: trace 1 of 1"));
    bytes = good;
    edit(bytes, [](lt_header& header) { header.wakers.count = 1000; });
    CHECK_THROWS_WITH(decode(bytes), has_text("wakers: 1000 records"));

    SnapshotBuilder two;
    const EntrySpec woken{.trace = two.add_trace({.id = 7}), .wakers = {{.pid = 2}}};
    two.add_task({.pid = 1, .entries = {woken}});
    two.add_task({.pid = 2, .entries = {woken}});
    bytes = two.bytes();
    CHECK_NOTHROW(decode(bytes));
    poke(bytes, record_at(bytes, LT_SEC_ENTRIES, 1) + offsetof(lt_entry_rec, first_waker),
         __u32{0});
    CHECK_THROWS_WITH(decode(bytes), has_text("entries[1]: wakers from 0 on, another entry has"));
}

}  // namespace lattop::test
