// SPDX-License-Identifier: GPL-2.0-or-later
// lattop-poke race: tasks become what user a must not see, again and again, while user a reads all
// the time. An attempt is one read against them. What they did before the change and behind it can
// be told apart by a name or by where their program lies, so one look says whether something
// leaked. All the time they wake a task of a's: who did is said of it, and is as secret as they
// are.
//
//   credentials  a process of a stops and begins to be dumpable; while it certainly is not, it must
//                not be shown
//   drop         root's secret process takes a's ids, by which it is not dumpable; it becomes
//                public before it is, and then is named for whom it woke before, too
//   setuid-exec  a's public program becomes a secret one by an exec that is setuid root
//   exit         a's process stops being dumpable, sleeps on as "secret-sleeper", or only on its
//                way out, and ends
//   pid-reuse    a's public process and root's secret one have the same pid by turns
//   history      root's secret program becomes a's public one: what it did before stays hidden,
//                but for its name, which is shown until it sleeps again, and is everyone's in
//                /proc
//   history-of-capable, history-of-another   the same, where it was hidden by nothing but that it
//                had privileges, or was another's
//   descriptor   root takes snapshots by a descriptor from which a reads on, and texts by another
#include <fcntl.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <map>
#include <string_view>

#include "poke.h"
#include "poke_people.h"
#include "race_reader.h"

namespace poke {
namespace {

/// Whatever reads from its other end is woken by whom runs now; also in
/// test-progs/marked-sleeper.c.
constexpr int wake_fd = 100;

void wake() {
    need(write(wake_fd, "", 1) == 1 || errno == EAGAIN, "write to who waits");
}

void nap(int times) {
    const timespec some{0, 50'000};
    while (times-- > 0) {
        wake();
        nanosleep(&some, nullptr);
    }
}

/// A nap may be over before it could begin, on a busy machine.
void certainly_sleep() {
    wake();
    rusage before{}, now{};
    getrusage(RUSAGE_THREAD, &before);
    for (now = before; now.ru_nvcsw == before.ru_nvcsw; getrusage(RUSAGE_THREAD, &now))
        usleep(200);
}

struct Race {
    void (*targets)(uint64_t, const std::string&);
    Sought sought;
};

/// A child that does this, and ends with it.
pid_t begin(const std::function<void()>& what) {
    const pid_t pid = fork();
    need(pid >= 0, "fork");
    if (pid != 0) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
        what();
        _exit(0);
    } catch (const std::exception& error) {
        fmt::print("FAIL {}\n", error.what());
        std::fflush(stdout);
    }
    _exit(1);
}

void end(pid_t pid, const char* what) {
    int status = 0;
    need(waitpid(pid, &status, 0) == pid, "waitpid");
    if (status != 0) throw std::runtime_error(fmt::format("{} ended with {:#x}", what, status));
}

void become_mortal_a() {
    become_user(user_a);
    set_dumpable(true);
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // with other credentials it is forgotten
}

void set_name(std::string_view name) {
    prctl(PR_SET_NAME, name.data());
}

/// Goes on when the reader has read once more.
void let_read(int times) {
    const uint64_t until = shared().reads + static_cast<uint64_t>(times);
    nap(1);  // it is accounted as it is now
    while (shared().reads < until && !shared().stop)
        sched_yield();
}

/// How many reads may go to one change.
constexpr uint64_t reads_a_change = 50;

/// As many reads as are wanted, and changes enough to race with.
bool goes_on(uint64_t attempts) {
    return shared().reads < attempts || shared().changes * reads_a_change < attempts;
}

/// From here to end_to_be_hidden() this process certainly is hidden.
void begin_to_be_hidden() {
    shared().target = static_cast<uint32_t>(getpid());
    ++shared().state;
}

void end_to_be_hidden() {
    ++shared().state;
}

void change_credentials(uint64_t attempts, const std::string&) {
    become_mortal_a();
    set_name(public_name);
    for (; goes_on(attempts); ++shared().changes) {
        let_read(1);
        set_dumpable(false);
        begin_to_be_hidden();
        let_read(2);
        end_to_be_hidden();
        set_dumpable(true);
    }
}

template <typename Child>
void for_each_life(uint64_t attempts, Child&& child) {
    for (; goes_on(attempts); ++shared().changes) {
        const pid_t pid = fork();
        need(pid >= 0, "fork");
        if (pid == 0) {
            child();
            _exit(0);
        }
        end(pid, "one life");
    }
}

/// The kernel makes it not dumpable before it has a's ids: who sees the ids sees that, too.
void drop_privileges(uint64_t attempts, const std::string&) {
    for_each_life(attempts, [] {
        begin_to_be_hidden();
        set_dumpable(true);
        set_name(secret);
        certainly_sleep();
        become_user(user_a);
        let_read(1);
        set_name(public_name);
        certainly_sleep();  // until then its record has the other name
        end_to_be_hidden();
        set_dumpable(true);
        let_read(1);
    });
}

void run(const std::vector<std::string>& words) {
    std::vector<char*> arguments;
    for (const std::string& word : words)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(9);
}

void exec_setuid(uint64_t attempts, const std::string& folder) {
    become_mortal_a();
    for_each_life(attempts, [&] {
        run({folder + "/public-sleeper", "3", "-", folder + "/setuid/secret-sleeper", "3"});
    });
}

/// An exec walks over its process's perf events once its new memory is dumpable, before it counts
/// as another program: many of them make that moment long.
void stay_in_exec(unsigned events) {
    perf_event_attr dummy{};
    dummy.type = PERF_TYPE_SOFTWARE;
    dummy.size = sizeof(dummy);
    dummy.config = PERF_COUNT_SW_DUMMY;
    dummy.disabled = true;
    while (events-- > 0)
        need(syscall(SYS_perf_event_open, &dummy, 0, -1, -1, 0) >= 0, "perf_event_open");
}

void become_public_from(const std::string& who, uint64_t attempts, const std::string& folder) {
    stay_in_exec(1);  // the first of a machine makes it patch its code, and wait
    for_each_life(attempts, [&] {
        stay_in_exec(200);
        run({folder + "/secret-sleeper", "3", who, folder + "/public-sleeper", "4"});
    });
}

void become_public(uint64_t attempts, const std::string& folder) {
    become_public_from(std::to_string(user_a), attempts, folder);
}

void become_public_from_capable(uint64_t attempts, const std::string& folder) {
    become_public_from(fmt::format("{},capable", user_a), attempts, folder);
}

void become_public_from_another(uint64_t attempts, const std::string& folder) {
    become_public_from(fmt::format("{},{}", user_a, user_b), attempts, folder);
}

void exit_hidden(uint64_t attempts, const std::string&) {
    become_mortal_a();
    for_each_life(attempts, [] {
        // Closed on the way out, behind the memory, which waits for the file system's server
        need(open("/proc/self/exe", O_RDONLY) >= 0, "open");
        set_name(public_name);
        nap(2);
        let_read(1);
        set_dumpable(false);
        set_name(secret);
        if (shared().changes % 2 == 0) nap(2);
    });
}

/// A child with this pid, or any for 0.
pid_t fork_as(pid_t pid) {
    clone_args args{};
    args.exit_signal = SIGCHLD;
    if (pid != 0) {
        args.set_tid = reinterpret_cast<uintptr_t>(&pid);
        args.set_tid_size = 1;
    }
    return static_cast<pid_t>(syscall(SYS_clone3, &args, sizeof(args)));
}

void reuse_pid(uint64_t attempts, const std::string&) {
    set_dumpable(true);
    pid_t last = 0;
    for (uint64_t i = 0; goes_on(attempts); ++i) {
        pid_t pid = fork_as(last);
        if (pid < 0 && errno == EEXIST) pid = fork_as(0);
        need(pid >= 0, "clone3 with set_tid");
        if (pid == 0) {
            if (i % 2 == 0) become_mortal_a();
            set_name(i % 2 == 0 ? public_name : secret);
            nap(3);
            _exit(0);
        }
        last = pid;
        end(pid, "one life");
        ++shared().changes;
    }
}

/// Tasks of a's whom others wake, one after the other: there is an end to who woke one.
void wait_all_the_time(int fd) {
    constexpr int times_each = 6;
    become_mortal_a();
    for (;;) {
        const pid_t pid = fork();
        need(pid >= 0, "fork");
        if (pid != 0) {
            end(pid, "who is woken");
            continue;
        }
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        set_name("woken");
        std::array<char, 4096> bytes{};
        for (int i = 0; i < times_each; ++i)
            need(read(fd, bytes.data(), bytes.size()) > 0, "read from who wakes");
        _exit(0);
    }
}

pid_t begin_to_wait() {
    std::array<int, 2> ends{};
    need(pipe2(ends.data(), O_CLOEXEC) == 0 && dup2(ends[1], wake_fd) == wake_fd &&
             fcntl(wake_fd, F_SETFL, O_NONBLOCK) == 0,
         "pipe");
    const pid_t pid = begin([&] { wait_all_the_time(ends[0]); });
    close(ends[0]);
    close(ends[1]);
    return pid;
}

/// Nothing is left of an earlier race: whom the secret name woke before a drop may be told.
void forget_earlier_races() {
    const Descriptor descriptor(O_RDWR);
    need(write(descriptor.fd(), "reset", 5) == 5, "reset");
}

void race_for(Checks& checks, uint64_t attempts, const std::string& folder, const Race& kind) {
    forget_earlier_races();
    const pid_t woken = begin_to_wait();
    const pid_t reader = begin([&] {
        become_mortal_a();
        read_all_the_time(kind.sought);
    });
    while (!shared().ready && waitpid(reader, nullptr, WNOHANG) == 0)
        usleep(10'000);
    const pid_t target = begin([&] { kind.targets(attempts, folder); });
    end(target, "the targets");
    shared().stop = true;
    end(reader, "the reader");
    need(kill(woken, SIGKILL) == 0 && waitpid(woken, nullptr, 0) == woken, "who waits has ended");
    const Shared& s = shared();
    fmt::print(
        "{} attempts on {} changes ({} of them over a change, {} on what is hidden; {} as "
        "text), {} sights of what may be seen, {} frames of it, {} with their file; who "
        "woke: {} times named, {} frames, {} times hidden; {} leaks\n",
        s.reads.load(), s.changes.load(), s.over.load(), s.hidden.load(), s.texts.load(),
        s.sights.load(), s.public_frames.load(), s.public_files.load(), s.named_wakers.load(),
        s.waker_frames.load(), s.hidden_wakers.load(), s.leaks.load());
    checks.expect(s.leaks == 0, "{} leaks", s.leaks.load());
    checks.expect(s.reads >= attempts && s.changes * reads_a_change >= attempts,
                  "{} reads on {} changes are too few to race with", s.reads.load(),
                  s.changes.load());
    checks.expect(s.sights > s.changes / 4, "what may be seen was seen {} times only",
                  s.sights.load());
    checks.expect(
        s.named_wakers > s.changes / 4 && s.waker_frames > 0 && s.hidden_wakers > s.changes / 4,
        "who woke was named {} times, with {} frames, and hidden {} times only",
        s.named_wakers.load(), s.waker_frames.load(), s.hidden_wakers.load());
}

lt_query small_query(lt_view view) {
    lt_query query = plain_query();
    query.view = view;
    query.traces = LT_TRACES_ALL;
    query.limit = 8;  // small snapshots are more of them
    return query;
}

/// Root takes snapshots by two descriptors, one in each view, and a what is behind their first
/// bytes.
void race_for_descriptor(Checks& checks, uint64_t attempts) {
    const Descriptor records(O_RDONLY), text(O_RDONLY);
    need(records.query(small_query(LT_VIEW_RECORDS)) == 0, "query");
    need(text.query(small_query(LT_VIEW_TEXT)) == 0, "query");
    const pid_t other = begin([&] {
        become_mortal_a();
        std::array<char, 4096> bytes{};
        shared().ready = true;
        while (!shared().stop) {
            const bool as_text = shared().reads % one_text_in == 0;
            const ssize_t n =
                pread((as_text ? text : records).fd(), bytes.data(), bytes.size(), 64);
            if (n > 0)
                leak(fmt::format("{} bytes of a {} that root took", n,
                                 as_text ? "text" : "snapshot"));
            if (n < 0 && errno == EACCES) ++shared().hidden;
            if (n == 0) continue;  // there is no snapshot at this moment
            ++shared().reads;
            if (as_text) ++shared().texts;
        }
    });
    while (!shared().ready)
        usleep(10'000);
    std::vector<std::byte> bytes(sizeof(lt_header));
    uint64_t taken = 0;
    for (; shared().reads < attempts || taken < 5; ++taken)
        for (const Descriptor* descriptor : {&records, &text})
            need(pread(descriptor->fd(), bytes.data(), bytes.size(), 0) ==
                     static_cast<ssize_t>(bytes.size()),
                 "root's pread");
    shared().stop = true;
    end(other, "a's reader");
    const Shared& s = shared();
    fmt::print(
        "{} attempts ({} as text) on {} snapshots of each view, {} of them refused; {} "
        "leaks\n",
        s.reads.load(), s.texts.load(), taken, s.hidden.load(), s.leaks.load());
    checks.expect(s.leaks == 0, "{} leaks", s.leaks.load());
    checks.expect(taken >= 5 && s.texts > 0, "{} snapshots are too few to race with", taken);
}

}  // namespace

void race(Checks& checks, const std::string& kind, uint64_t attempts, const std::string& folder) {
    static const std::map<std::string, Race> kinds{
        {"credentials", {change_credentials, {user_a, true, true}}},
        {"drop", {drop_privileges, {LT_UID_ANY, true, false}}},
        {"setuid-exec", {exec_setuid, {user_a, true, true}}},
        {"exit", {exit_hidden, {user_a, true, true}}},
        {"pid-reuse", {reuse_pid, {LT_UID_ANY, true, true}}},
        {"history", {become_public, {LT_UID_ANY, false, true}}},
        {"history-of-capable", {become_public_from_capable, {LT_UID_ANY, false, true}}},
        {"history-of-another", {become_public_from_another, {LT_UID_ANY, false, true}}}};
    std::fflush(stdout);
    need(&shared() != MAP_FAILED, "mmap");
    if (kind == "descriptor") return race_for_descriptor(checks, attempts);
    const auto found = kinds.find(kind);
    if (found == kinds.end()) throw std::runtime_error("there is no race of the name " + kind);
    race_for(checks, attempts, folder, found->second);
}

}  // namespace poke
