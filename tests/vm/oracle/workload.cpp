// SPDX-License-Identifier: GPL-2.0-or-later
#include "workload.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <set>
#include <stdexcept>
#include <thread>

#include "kernel.h"

namespace oracle {
namespace {

using namespace std::chrono_literals;

std::set<uint32_t> mine() {
    auto all = descendants(static_cast<uint32_t>(getpid()));
    all.erase(static_cast<uint32_t>(getpid()));
    return all;
}

bool has_stopped(uint32_t pid) {
    const char state = process_state(pid);
    return state == 'T' || state == 'Z' || state == 'X' || state == 0;
}

}  // namespace

Workload::Workload(const std::vector<std::string>& command) {
    if (command.empty()) throw std::invalid_argument("no command");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    std::vector<char*> arguments;
    for (const std::string& word : command)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error(fmt::format("fork: {}", std::strerror(errno)));
    if (pid_ == 0) {
        setsid();
        execvp(arguments[0], arguments.data());
        fmt::print(stderr, "{}: {}\n", command[0], std::strerror(errno));
        _exit(127);
    }
}

Workload::~Workload() {
    thaw();
    for (const int number : {SIGTERM, SIGKILL}) {
        for (int i = 0; i < 100; ++i) {
            running();
            if (mine().empty()) return;
            if (i == 0) signal_all(number);
            std::this_thread::sleep_for(30ms);
        }
    }
}

bool Workload::running() {
    int status = 0;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        if (pid == pid_) status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return status_ < 0;
}

void Workload::signal_all(int number) {
    for (const uint32_t pid : mine())
        kill(static_cast<pid_t>(pid), number);
}

void Workload::freeze() {
    // A process that is just being born may escape the first rounds
    for (int calm_rounds = 0, rounds = 0; calm_rounds < 2; ++rounds) {
        const auto all = mine();
        const bool stopped = std::all_of(all.begin(), all.end(), has_stopped);
        calm_rounds = stopped ? calm_rounds + 1 : 0;
        if (!stopped) signal_all(SIGSTOP);
        if (rounds > 1000) throw std::runtime_error("the workload does not stop");
        std::this_thread::sleep_for(10ms);
    }
}

void Workload::thaw() {
    signal_all(SIGCONT);
}

}  // namespace oracle
