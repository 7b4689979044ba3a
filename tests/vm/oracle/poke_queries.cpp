// SPDX-License-Identifier: GPL-2.0-or-later
// lattop-poke: the descriptor, and the verbs "views" and "queries".
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "poke.h"

namespace poke {

using namespace std::chrono_literals;

bool Checks::conclude() const {
    fmt::print("{} checks, {} wrong\n", made_, wrong_);
    return made_ > 0 && wrong_ == 0;
}

Descriptor::Descriptor(int flags) : fd_(open(LT_PROC_PATH, flags | O_CLOEXEC)) {
    if (fd_ < 0)
        throw std::runtime_error(fmt::format("{}: {}", LT_PROC_PATH, std::strerror(errno)));
}

Descriptor::~Descriptor() {
    close(fd_);
}

int Descriptor::query(const lt_query& query) const {
    return ioctl(fd_, LT_IOC_QUERY, &query) < 0 ? errno : 0;
}

oracle::Snapshot Descriptor::records() const {
    std::vector<std::byte> bytes(1 << 17);
    std::size_t have = 0;
    for (uint64_t total = bytes.size(); have < total;) {
        const ssize_t got =
            pread(fd_, bytes.data() + have, bytes.size() - have, static_cast<off_t>(have));
        if (got < 0) throw std::runtime_error(fmt::format("pread: {}", std::strerror(errno)));
        if (got == 0) break;
        have += static_cast<std::size_t>(got);
        if (have >= sizeof(lt_header)) {
            lt_header header;
            std::memcpy(&header, bytes.data(), sizeof(header));
            total = header.total_bytes;
            if (bytes.size() < total) bytes.resize(total);
        }
    }
    bytes.resize(have);
    return oracle::Snapshot(std::move(bytes));
}

lt_query plain_query() {
    lt_query query{};
    query.size = sizeof(query);
    query.view = LT_VIEW_RECORDS;
    query.limit = LT_MAX_LIMIT;
    query.uid = LT_UID_ANY;
    return query;
}

namespace {

std::string read_all(int fd, std::size_t part, off_t from = 0) {
    std::string text;
    std::vector<char> buffer(part);
    ssize_t got;
    while ((got = pread(fd, buffer.data(), part, from + static_cast<off_t>(text.size()))) > 0)
        text.append(buffer.data(), static_cast<std::size_t>(got));
    if (got < 0) throw std::runtime_error(fmt::format("pread: {}", std::strerror(errno)));
    return text;
}

using Key = std::function<uint64_t(const lt_task_rec&)>;

void check_sorts(Checks& checks, const Descriptor& descriptor) {
    const std::array<std::pair<lt_sort, Key>, 5> keys{
        {{LT_SORT_BLOCKED, [](const lt_task_rec& t) { return t.blocked_ns; }},
         {LT_SORT_ONGOING, [](const lt_task_rec& t) { return t.ongoing_ns; }},
         {LT_SORT_MAX, [](const lt_task_rec& t) { return t.max_ns; }},
         {LT_SORT_SLEEPS, [](const lt_task_rec& t) { return t.sleeps; }},
         {LT_SORT_RUNQ, [](const lt_task_rec& t) { return t.runq_ns; }}}};
    for (const auto& [sort, key] : keys) {
        lt_query query = plain_query();
        query.sort = sort;
        checks.expect(descriptor.query(query) == 0, "sort {}", static_cast<int>(sort));
        const auto all = descriptor.records();
        for (uint32_t i = 1; i < all.count(LT_SEC_TASKS); ++i)
            checks.expect(key(all.task(i - 1)) >= key(all.task(i)), "sort {}: {} before {}",
                          static_cast<int>(sort), key(all.task(i - 1)), key(all.task(i)));
        // The first few are the first of all, not some
        query.limit = 5;
        checks.expect(descriptor.query(query) == 0, "limit 5");
        const auto few = descriptor.records();
        checks.expect(few.count(LT_SEC_TASKS) == 5 && few.header().tasks_matched > 5,
                      "sort {}, limit 5: {} of {}", static_cast<int>(sort), few.count(LT_SEC_TASKS),
                      few.header().tasks_matched);
        for (uint32_t i = 0; i < few.count(LT_SEC_TASKS); ++i)
            checks.expect(key(few.task(i)) >= key(all.task(4)), "sort {}, limit 5: {} is below {}",
                          static_cast<int>(sort), key(few.task(i)), key(all.task(4)));
    }
}

struct Filter {
    const char* what;
    std::function<void(lt_query&)> set;
    std::function<bool(const lt_task_rec&)> passes;
};

void check_filters(Checks& checks, const Descriptor& descriptor) {
    static std::array<uint32_t, 3> pids{1, 2, static_cast<uint32_t>(getpid())};
    const std::vector<Filter> filters{
        {"no kernel threads", [](lt_query& q) { q.flags = LT_Q_NO_KTHREADS; },
         [](const lt_task_rec& t) { return !(t.flags & LT_T_KTHREAD); }},
        {"no exited tasks", [](lt_query& q) { q.flags = LT_Q_NO_EXITED; },
         [](const lt_task_rec& t) { return !(t.flags & LT_T_EXITED) && t.kind == LT_KIND_TASK; }},
        {"sleepers only", [](lt_query& q) { q.flags = LT_Q_ASLEEP; },
         [](const lt_task_rec& t) { return (t.flags & LT_T_ASLEEP) != 0; }},
        {"at least 1 ms", [](lt_query& q) { q.min_blocked_ns = 1000000; },
         [](const lt_task_rec& t) { return t.blocked_ns >= 1000000; }},
        {"of uid 65534", [](lt_query& q) { q.uid = 65534; },
         [](const lt_task_rec& t) { return t.uid == 65534; }},
        {"of three pids",
         [](lt_query& q) {
             q.n_pids = pids.size();
             q.pids = reinterpret_cast<uintptr_t>(pids.data());
         },
         [](const lt_task_rec& t) {
             return std::count(pids.begin(), pids.end(), t.pid) +
                        std::count(pids.begin(), pids.end(), t.tgid) >
                    0;
         }},
    };
    for (const Filter& filter : filters) {
        lt_query query = plain_query();
        checks.expect(descriptor.query(query) == 0, "all");
        const auto all = descriptor.records();
        filter.set(query);
        checks.expect(descriptor.query(query) == 0, "{}", filter.what);
        const auto some = descriptor.records();
        for (uint32_t i = 0; i < some.count(LT_SEC_TASKS); ++i)
            checks.expect(filter.passes(some.task(i)), "{}: {} is there", filter.what,
                          oracle::name_of(some.task(i)));
        uint32_t expected = 0;
        for (uint32_t i = 0; i < all.count(LT_SEC_TASKS); ++i)
            expected += filter.passes(all.task(i));
        const auto got = some.count(LT_SEC_TASKS);
        fmt::print("{}: {} of {} tasks\n", filter.what, got, all.count(LT_SEC_TASKS));
        // The two snapshots are some moments apart
        checks.expect(got + 4 >= expected && got <= expected + 4, "{}: {} tasks, {} expected",
                      filter.what, got, expected);
    }
}

/// The worst comes first; a sleeper's ongoing sleep is in one of two. Whether there are two.
bool check_ongoing(Checks& checks, const oracle::Snapshot& snapshot, const lt_task_rec& task) {
    uint64_t ongoing_ns = 0, worst_ns = 0;
    for (uint32_t i = 0; i < task.n_entries; ++i) {
        const lt_entry_rec& entry = snapshot.entry(task.first_entry + i);
        if (i == 0) worst_ns = entry.blocked_ns;
        ongoing_ns += entry.ongoing_ns;
        checks.expect(entry.blocked_ns <= worst_ns, "{}: the worst is not the first",
                      oracle::name_of(task));
        checks.expect(i == 0 || (entry.flags & LT_E_ONGOING), "{}: a second that is not ongoing",
                      oracle::name_of(task));
    }
    checks.expect(task.n_entries <= 2 && ongoing_ns == task.ongoing_ns,
                  "{}: {} entries with {} ns ongoing of {}", oracle::name_of(task), task.n_entries,
                  ongoing_ns, task.ongoing_ns);
    return task.n_entries == 2;
}

/// Sleeps for a second in one trace and for a third of one in another, by turns: asleep in the
/// second it is in another than its worst, however long a query takes.
pid_t begin_two_sleeps() {
    const pid_t child = fork();
    if (child != 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        sleep(1);
        poll(nullptr, 0, 333);
    }
}

void check_worst_and_ongoing(Checks& checks, const Descriptor& descriptor) {
    lt_query query = plain_query();
    query.traces = LT_TRACES_WORST_AND_ONGOING;
    const pid_t child = begin_two_sleeps();
    unsigned looks = 0, both = 0;
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (both == 0 && std::chrono::steady_clock::now() < end) {
        usleep(250'000);
        looks++;
        checks.expect(descriptor.query(query) == 0, "the worst and the ongoing");
        const auto snapshot = descriptor.records();
        for (uint32_t i = 0; i < snapshot.count(LT_SEC_TASKS); ++i)
            both += check_ongoing(checks, snapshot, snapshot.task(i));
    }
    fmt::print("{} tasks asleep in another trace than their worst, at look {}\n", both, looks);
    checks.expect(both > 0, "no task was");
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
}

void check_traces(Checks& checks, const Descriptor& descriptor) {
    lt_query query = plain_query();
    for (const lt_traces traces : {LT_TRACES_NONE, LT_TRACES_WORST, LT_TRACES_ALL}) {
        query.traces = traces;
        checks.expect(descriptor.query(query) == 0, "traces {}", static_cast<int>(traces));
        const auto snapshot = descriptor.records();
        for (uint32_t i = 0; i < snapshot.count(LT_SEC_TASKS); ++i) {
            const lt_task_rec& task = snapshot.task(i);
            const uint32_t expected = traces == LT_TRACES_NONE  ? 0
                                      : traces == LT_TRACES_ALL ? task.traces_total
                                                                : std::min(task.traces_total, 1U);
            checks.expect(task.n_entries == expected, "traces {}: {} has {} of {}",
                          static_cast<int>(traces), oracle::name_of(task), task.n_entries,
                          task.traces_total);
        }
        if (traces == LT_TRACES_NONE)
            checks.expect(snapshot.count(LT_SEC_ENTRIES) == 0 && snapshot.count(LT_SEC_TRACES) == 0,
                          "traces without being asked");
    }
}

}  // namespace

void queries(Checks& checks) {
    const Descriptor descriptor(O_RDONLY);
    check_sorts(checks, descriptor);
    check_filters(checks, descriptor);
    check_traces(checks, descriptor);
    check_worst_and_ongoing(checks, descriptor);
}

void views(Checks& checks) {
    const Descriptor text(O_RDONLY), records(O_RDONLY);
    checks.expect(records.query(plain_query()) == 0, "a good query is refused");

    // One snapshot, however it is read, until offset 0 is read again
    const std::string whole = read_all(text.fd(), 1 << 20);
    checks.expect(whole.starts_with("# lattop 1 "), "the text begins with '{}'",
                  whole.substr(0, 20));
    checks.expect(whole.ends_with('\n'), "the text does not end with its last line");
    checks.expect(read_all(text.fd(), 777, 1) == whole.substr(1),
                  "the text is another when it is read on in small parts");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    checks.expect(read_all(text.fd(), 4096, 5) == whole.substr(5), "the text has moved by itself");
    checks.expect(read_all(text.fd(), 1 << 20) != whole, "a read from offset 0 is not fresh");

    // read() with its own position sees the same file
    std::string sequential;
    std::array<char, 999> part{};
    const Descriptor other(O_RDONLY);
    for (ssize_t got; (got = read(other.fd(), part.data(), part.size())) > 0;)
        sequential.append(part.data(), static_cast<std::size_t>(got));
    checks.expect(sequential.starts_with("# lattop 1 ") && sequential.ends_with('\n') &&
                      sequential.size() > whole.size() / 2,
                  "read() gives {} bytes", sequential.size());

    const uint64_t first = records.records().header().time_ns;
    const uint64_t second = records.records().header().time_ns;
    checks.expect(second > first, "two snapshots of one moment: {} {}", first, second);

    // The record view in small parts is the same snapshot too
    std::array<std::byte, 512> head{};
    checks.expect(pread(records.fd(), head.data(), head.size(), 0) == ssize_t{head.size()},
                  "a short read");
    const std::string rest = read_all(records.fd(), 4096, head.size());
    std::vector<std::byte> joined(head.begin(), head.end());
    for (const char c : rest)
        joined.push_back(static_cast<std::byte>(c));
    checks.expect(oracle::Snapshot(std::move(joined)).count(LT_SEC_TASKS) > 0, "no tasks");
}

}  // namespace poke
