// SPDX-License-Identifier: GPL-2.0-or-later
// See race_targets.h.
#include "race_targets.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <string_view>
#include <vector>

#include "poke_people.h"
#include "race_process.h"
#include "race_reader.h"

namespace poke {
namespace {

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

template <typename Child>
void for_each_life(uint64_t attempts, Child&& child) {
    for (; goes_on(attempts); ++shared().changes) {
        const pid_t pid = fork_process();
        if (pid == 0) {
            child();
            _exit(0);
        }
        end(pid, "one life");
    }
}

void run(const std::vector<std::string>& words) {
    std::vector<char*> arguments;
    for (const std::string& word : words)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(9);
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

/// `who` as test-progs/marked-sleeper.c has it.
void become_public_from(const std::string& who, uint64_t attempts, const std::string& folder) {
    stay_in_exec(1);  // the first of a machine makes it patch its code, and wait
    for_each_life(attempts, [&] {
        stay_in_exec(200);
        run({folder + "/secret-sleeper", "3", who, folder + "/public-sleeper", "4"});
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

}  // namespace

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

void exec_setuid(uint64_t attempts, const std::string& folder) {
    become_mortal_a();
    for_each_life(attempts, [&] {
        run({folder + "/public-sleeper", "3", "-", folder + "/setuid/secret-sleeper", "3"});
    });
}

void exec_unreadable(uint64_t attempts, const std::string& folder) {
    become_root_of_container();
    for_each_life(attempts, [&] {
        run({folder + "/public-sleeper", "3", "-", folder + "/unreadable/secret-sleeper", "3"});
    });
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

void become_public(uint64_t attempts, const std::string& folder) {
    become_public_from(std::to_string(user_a), attempts, folder);
}

void become_public_from_capable(uint64_t attempts, const std::string& folder) {
    become_public_from(fmt::format("{},capable", user_a), attempts, folder);
}

void become_public_from_another(uint64_t attempts, const std::string& folder) {
    become_public_from(fmt::format("{},{}", user_a, user_b), attempts, folder);
}

void join_and_become_public(uint64_t attempts, const std::string& folder) {
    enter_container_pids();
    become_public_from(container_file("user"), attempts, folder);
}

void join_and_become_public_from_owner(uint64_t attempts, const std::string& folder) {
    enter_container_pids();
    become_public_from(fmt::format("{},{}", user_a, container_file("user")), attempts, folder);
}

void become_public_and_a(uint64_t attempts, const std::string& folder) {
    for_each_life(attempts, [&] {
        run({folder + "/secret-sleeper", "3", fmt::format("{}:{}", user_a, user_b),
             folder + "/public-sleeper", "0", fmt::format("={}", user_a)});
    });
}

void become_public_and_join(uint64_t attempts, const std::string& folder) {
    const std::string a_shown = fmt::format("{0},{0}", user_a);
    enter_container_pids();
    for_each_life(attempts, [&] {
        run({folder + "/secret-sleeper", "3", a_shown, folder + "/public-sleeper", "3",
             '+' + container_file("user")});
    });
}

}  // namespace poke
