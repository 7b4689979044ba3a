// SPDX-License-Identifier: GPL-2.0-or-later
// See race_process.h.
#include "race_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <stdexcept>

#include "poke_people.h"
#include "race_reader.h"

namespace poke {
namespace {

/// With other credentials it is forgotten.
void be_mortal() {
    set_dumpable(true);
    need(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0, "PR_SET_PDEATHSIG");
}

void join(const std::string& type, int flag) {
    const int fd = open(container_file(type).c_str(), O_RDONLY | O_CLOEXEC);
    need(fd >= 0 && setns(fd, flag) == 0, container_file(type));
    close(fd);
}

}  // namespace

pid_t fork_process() {
    const pid_t pid = fork();
    need(pid >= 0, "fork");
    return pid;
}

pid_t begin(const std::function<void()>& what) {
    const pid_t pid = fork_process();
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

void end_by_kill(pid_t pid) {
    need(kill(pid, SIGKILL) == 0 && waitpid(pid, nullptr, 0) == pid, "who was killed has ended");
}

void become_mortal_a() {
    become_user(user_a);
    be_mortal();
}

pid_t begin_container() {
    shared().container = 0;
    const pid_t keeper = begin([] {
        enter_container_of_a();
        be_mortal();
        const pid_t first = fork_process();
        if (first == 0) {
            be_mortal();
            for (;;)
                pause();
        }
        shared().container = first;
        end(first, "the container's first process");
    });
    while (shared().container == 0 && waitpid(keeper, nullptr, WNOHANG) == 0)
        usleep(10'000);
    return keeper;
}

std::string container_file(const std::string& type) {
    return fmt::format("/proc/{}/ns/{}", shared().container.load(), type);
}

void enter_container_pids() {
    join("pid", CLONE_NEWPID);
}

void become_root_of_container() {
    enter_container_pids();
    join("user", CLONE_NEWUSER);
    become_user(0);
    be_mortal();
    const pid_t inside = fork_process();
    if (inside != 0) {
        end(inside, "a process of the container");
        _exit(0);
    }
    be_mortal();
}

}  // namespace poke
