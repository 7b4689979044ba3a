// SPDX-License-Identifier: GPL-2.0-or-later
// lattop-poke race: tasks become what user a must not see, again and again, while he reads all the
// time. An attempt is one read against them. What they did before the change and behind it can
// be told apart by a name or by where their program lies, so one look says whether something
// leaked. All the time they wake a task of a's: who did is said of it, and is as secret as they
// are.
//
//   credentials  a process of a stops and begins to be dumpable; while it certainly is not, it must
//                not be shown
//   drop         root's secret process takes a's ids, by which it is not dumpable; it becomes
//                public before it is, and then is named for whom it woke before, too
//   setuid-exec  a's public program becomes a secret one by an exec that is setuid root
//   credentials-by-setuid, setuid-exec-by-setuid   the same, read by root through what a opened, as
//                a setuid program does
//   unreadable-exec   a program in a container of a's becomes a secret one by an exec of what the
//                container's root may run and not read; he is the one who reads
//   exit         a's process stops being dumpable, sleeps on as "secret-sleeper", or only on its
//                way out, and ends
//   pid-reuse    a's public process and root's secret one have the same pid by turns
//   history      root's secret program becomes a's public one: what it did before stays hidden, and
//                its name
//   history-of-capable, history-of-another   the same, where it was hidden by nothing but that it
//                had privileges, or was another's
//   history-of-another-behind   the same, where it becomes a's in every way behind the exec
//   history-in-container   the same of a program of the machine's root among the container's pids,
//                which joins the container by its user namespace and then an exec
//   history-of-owner   the same of a program of a's outside, which may join without privileges
//   history-of-joiner   a's secret program outside becomes a public one, and that joins
//   descriptor   root takes snapshots by a descriptor from which a reads on, and texts by another
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <map>
#include <stdexcept>
#include <vector>

#include "poke.h"
#include "poke_people.h"
#include "race_process.h"
#include "race_reader.h"
#include "race_targets.h"

namespace poke {
namespace {

/// Who reads, and whose the tasks are that are woken.
enum class Watcher { a, by_setuid, in_container };

struct Race {
    void (*targets)(uint64_t, const std::string&);
    Sought sought;
    Watcher reader = Watcher::a;
};

/// What can be woken belongs to a, or to root of a's container.
void become_owner(Watcher reader) {
    reader == Watcher::in_container ? become_root_of_container() : become_mortal_a();
}

void read_as(const Race& kind) {
    if (kind.reader != Watcher::by_setuid) {
        become_owner(kind.reader);
        read_all_the_time(kind.sought, [] {});
        return;
    }
    need(setgroups(0, nullptr) == 0 && setresgid(user_a, user_a, user_a) == 0 &&
             setresuid(user_a, user_a, 0) == 0,
         "a's ids");
    read_all_the_time(kind.sought, [] {
        need(setresuid(user_a, 0, 0) == 0, "root's ids");
        need(has_capability(CAP_SYS_PTRACE), "CAP_SYS_PTRACE");
    });
}

/// Tasks whom others wake, one after the other: there is an end to who woke one.
void wait_all_the_time(int fd, Watcher reader) {
    constexpr int times_each = 6;
    become_owner(reader);
    for (;;) {
        const pid_t pid = fork_process();
        if (pid != 0) {
            end(pid, "who is woken");
            continue;
        }
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "woken");
        std::array<char, 4096> bytes{};
        for (int i = 0; i < times_each; ++i)
            need(read(fd, bytes.data(), bytes.size()) > 0, "read from who wakes");
        _exit(0);
    }
}

pid_t begin_to_wait(Watcher reader) {
    std::array<int, 2> ends{};
    need(pipe2(ends.data(), O_CLOEXEC) == 0 && dup2(ends[1], wake_fd) == wake_fd &&
             fcntl(wake_fd, F_SETFL, O_NONBLOCK) == 0,
         "pipe");
    const pid_t pid = begin([&] { wait_all_the_time(ends[0], reader); });
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
    const pid_t container = begin_container();
    const pid_t woken = begin_to_wait(kind.reader);
    const pid_t reader = begin([&] { read_as(kind); });
    while (!shared().ready && waitpid(reader, nullptr, WNOHANG) == 0)
        usleep(10'000);
    const pid_t target = begin([&] { kind.targets(attempts, folder); });
    end(target, "the targets");
    shared().stop = true;
    end(reader, "the reader");
    end_by_kill(woken);
    end_by_kill(container);
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
        {"credentials", {change_credentials, {user_a, true}}},
        {"drop", {drop_privileges, {LT_UID_ANY, false}}},
        {"credentials-by-setuid", {change_credentials, {user_a, true}, Watcher::by_setuid}},
        {"setuid-exec", {exec_setuid, {user_a, true}}},
        {"setuid-exec-by-setuid", {exec_setuid, {user_a, true}, Watcher::by_setuid}},
        {"unreadable-exec", {exec_unreadable, {LT_UID_ANY, true}, Watcher::in_container}},
        {"exit", {exit_hidden, {user_a, true}}},
        {"pid-reuse", {reuse_pid, {LT_UID_ANY, true}}},
        {"history", {become_public, {LT_UID_ANY, true}}},
        {"history-of-capable", {become_public_from_capable, {LT_UID_ANY, true}}},
        {"history-of-another", {become_public_from_another, {LT_UID_ANY, true}}},
        {"history-of-another-behind", {become_public_and_a, {LT_UID_ANY, true}}},
        {"history-in-container",
         {join_and_become_public, {LT_UID_ANY, true}, Watcher::in_container}},
        {"history-of-owner",
         {join_and_become_public_from_owner, {LT_UID_ANY, true}, Watcher::in_container}},
        {"history-of-joiner", {become_public_and_join, {LT_UID_ANY, true}, Watcher::in_container}}};
    std::fflush(stdout);
    need(&shared() != MAP_FAILED, "mmap");
    if (kind == "descriptor") return race_for_descriptor(checks, attempts);
    const auto found = kinds.find(kind);
    if (found == kinds.end()) throw std::runtime_error("there is no race of the name " + kind);
    race_for(checks, attempts, folder, found->second);
}

}  // namespace poke
