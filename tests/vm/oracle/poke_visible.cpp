// SPDX-License-Identifier: GPL-2.0-or-later
// lattop-poke visible: a reader sees the tasks that it could ptrace for reading. The kernel's own
// answer is the oracle: readlink of /proc/PID/task/TID/cwd asks the same question
// (PTRACE_MODE_READ_FSCREDS), and answers EACCES for no. To make it hard, there are processes that
// have the reader's uid but are out of its reach all the same.
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernel.h"
#include "poke.h"
#include "poke_people.h"

namespace poke {
namespace {

struct Ids {
    uid_t uid;
    gid_t gid;
};

void become(Ids ids, uid_t saved) {
    need(setgroups(0, nullptr) == 0, "setgroups");
    need(setresgid(ids.gid, ids.gid, ids.gid) == 0, "setresgid");
    need(setresuid(ids.uid, ids.uid, saved) == 0, "setresuid");
}

void keep_one_capability(Ids ids) {
    need(prctl(PR_SET_KEEPCAPS, 1) == 0, "PR_SET_KEEPCAPS");
    become(ids, ids.uid);
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> data{};
    data[0].permitted = 1U << CAP_NET_RAW;
    need(syscall(SYS_capset, &header, data.data()) == 0, "capset");
}

struct Other {
    const char* name;
    void (*become)(Ids);
};

constexpr std::array kinds{
    Other{"same ids", [](Ids ids) { become(ids, ids.uid), set_dumpable(true); }},
    Other{"same ids, not dumpable", [](Ids ids) { become(ids, ids.uid); }},
    Other{"another group",
          [](Ids ids) {
              become({ids.uid, ids.gid + 1}, ids.uid), set_dumpable(true);
          }},
    Other{"another user",
          [](Ids ids) {
              become({ids.uid - 1, ids.gid}, ids.uid - 1), set_dumpable(true);
          }},
    Other{"root's saved uid", [](Ids ids) { become(ids, 0), set_dumpable(true); }},
    Other{"a capability more", [](Ids ids) { keep_one_capability(ids), set_dumpable(true); }},
    Other{"a user namespace of its own",
          [](Ids ids) {
              become(ids, ids.uid);
              unshare(CLONE_NEWUSER);  // where users may not, it is one more of the same ids
              set_dumpable(true);
          }},
    Other{"root", [](Ids) {}},
};

/// Processes of every kind, asleep.
class Population {
public:
    explicit Population(Ids ids) {
        for (const Other& kind : kinds) {
            std::array<int, 2> ready{};
            need(pipe(ready.data()) == 0, "pipe");
            const pid_t pid = fork();
            need(pid >= 0, "fork");
            if (pid == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                kind.become(ids);
                close(ready[1]);
                close(ready[0]);
                for (;;)
                    pause();
            }
            close(ready[1]);
            char byte;
            need(read(ready[0], &byte, 1) == 0, "a child");
            close(ready[0]);
            names_[static_cast<uint32_t>(pid)] = kind.name;
        }
        usleep(100'000);
    }
    Population(const Population&) = delete;
    Population& operator=(const Population&) = delete;
    ~Population() {
        for (const auto& [pid, name] : names_)
            kill(static_cast<pid_t>(pid), SIGKILL);
        while (wait(nullptr) > 0)
            continue;
    }
    [[nodiscard]] std::string name(uint32_t pid) const {
        const auto found = names_.find(pid);
        return found == names_.end() ? "" : fmt::format(" ({})", found->second);
    }
    [[nodiscard]] bool has(uint32_t pid) const { return names_.contains(pid); }

private:
    std::map<uint32_t, std::string> names_;
};

enum class Allowed { yes, no, gone };

Allowed kernel_allows(uint32_t tgid, uint32_t tid) {
    std::array<char, 256> path{};
    const std::string link = fmt::format("/proc/{}/task/{}/cwd", tgid, tid);
    if (readlink(link.c_str(), path.data(), path.size()) >= 0) return Allowed::yes;
    return errno == EACCES ? Allowed::no : Allowed::gone;
}

std::set<uint32_t> shown(const Descriptor& descriptor) {
    std::set<uint32_t> pids;
    const auto snapshot = descriptor.records();
    for (uint32_t i = 0; i < snapshot.count(LT_SEC_TASKS); ++i)
        if (snapshot.task(i).kind == LT_KIND_TASK && !(snapshot.task(i).flags & LT_T_EXITED))
            pids.insert(snapshot.task(i).pid);
    return pids;
}

/// What the descriptor shows this process is what the kernel would.
void compare(Checks& checks, const char* what, const Descriptor& descriptor,
             const Population& population) {
    const auto before = shown(descriptor);
    std::map<uint32_t, Allowed> answers;
    for (const auto& [tgid, tid] : oracle::all_tasks())
        answers[tid] = kernel_allows(tgid, tid);
    const auto behind = shown(descriptor);
    uint32_t seen = 0, hidden = 0;
    for (const auto& [tid, answer] : answers) {
        // Tasks of others that come and go meanwhile, or have not slept yet, are no proof
        if (before.contains(tid) != behind.contains(tid) || answer == Allowed::gone) continue;
        const bool is_shown = before.contains(tid);
        if (answer == Allowed::yes && !is_shown && !population.has(tid)) continue;
        (is_shown ? seen : hidden) += 1;
        checks.expect(is_shown == (answer == Allowed::yes), "{}: {}{} is {}, the kernel says {}",
                      what, tid, population.name(tid), is_shown ? "shown" : "not shown",
                      answer == Allowed::yes ? "yes" : "no");
    }
    for (const uint32_t pid : before)
        checks.expect(answers.contains(pid) || !behind.contains(pid), "{}: {} is not in /proc",
                      what, pid);
    fmt::print("{}: {} shown, {} hidden\n", what, seen, hidden);
    checks.expect(seen >= 1 && hidden >= 20, "{}: {} shown and {} hidden are no test", what, seen,
                  hidden);
}

/// Runs in a process of its own, which gives its privileges up.
bool as_user(Ids ids, const Population& population) {
    Checks checks;
    const Descriptor of_root(O_RDONLY);
    need(of_root.query(plain_query()) == 0, "query");
    checks.expect(of_root.records().count(LT_SEC_TASKS) > 30, "root sees few tasks");
    become(ids, ids.uid);
    set_dumpable(true);
    const Descriptor own(O_RDONLY);
    need(own.query(plain_query()) == 0, "query");
    compare(checks, "own descriptor", own, population);
    compare(checks, "root's descriptor", of_root, population);
    const int writable = open(LT_PROC_PATH, O_WRONLY);
    checks.expect(
        writable < 0 ? errno == EACCES : write(writable, "reset", 5) < 0 && errno == EPERM,
        "may reset: {}", std::strerror(errno));
    return checks.conclude();
}

/// A descriptor opened by the user shows root no more than the user may see.
void users_descriptor(Checks& checks, Ids ids) {
    need(setegid(ids.gid) == 0 && seteuid(ids.uid) == 0, "seteuid");
    const Descriptor of_user(O_RDONLY);
    need(seteuid(0) == 0 && setegid(0) == 0, "seteuid back");
    need(of_user.query(plain_query()) == 0, "query");
    const auto seen = shown(of_user);
    checks.expect(!seen.contains(1) && !seen.contains(2),
                  "root sees root's tasks by a descriptor that a user opened ({} tasks)",
                  seen.size());
}

}  // namespace

void visible(Checks& checks, unsigned long uid, unsigned long gid) {
    const Ids ids{static_cast<uid_t>(uid), static_cast<gid_t>(gid)};
    const Population population(ids);
    users_descriptor(checks, ids);
    std::fflush(stdout);
    const pid_t pid = fork();
    need(pid >= 0, "fork");
    if (pid == 0) {
        bool good = false;
        try {
            good = as_user(ids, population);
        } catch (const std::exception& error) {
            fmt::print("FAIL {}\n", error.what());
        }
        std::fflush(stdout);
        _exit(good ? 0 : 1);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    checks.expect(status == 0, "the user's own view (above), status {:#x}", status);
}

}  // namespace poke
