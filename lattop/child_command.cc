// SPDX-License-Identifier: GPL-2.0-or-later
//
// See child_command.h.
#include "lattop/child_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include "lattop/huge_pages.h"
#include "lattop/open_files.h"
#include "lattop/output.h"
#include "lattop/source/error.h"

namespace lattop {
namespace {

/// As sh has it; wait says 127 too where there is no such child.
constexpr int kNotFound = 127;
constexpr int kKilled = 128;

struct Pipe {
    UniqueFd in, out;
};

Pipe make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        throw Error(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

/// In the child: async-signal-safe calls only.
[[noreturn]] void run_child(char* const* argv, int go, int failed, const sigset_t& mask) {
    char byte = 0;
    if (::read(go, &byte, 1) != 1) ::_exit(kNotFound);  // lattop gave up
    ::signal(SIGPIPE, SIG_DFL);
    // What is ignored stays so (nohup); handlers are not for this process.
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction action {};
        if (::sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
            ::signal(number, SIG_DFL);
    }
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    restore_file_limit();
    restore_huge_pages();
    ::execvp(argv[0], argv);
    const int error = errno;
    static_cast<void>(::write(failed, &error, sizeof(error)) == 0);
    ::_exit(kNotFound);
}

}  // namespace

ChildCommand::ChildCommand(std::vector<std::string> command, const EndSignals& signals)
    : command_(std::move(command)) {
    std::vector<char*> argv;
    argv.reserve(command_.size() + 1);
    for (std::string& word : command_)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    Pipe go = make_pipe();
    Pipe failed = make_pipe();
    pid_ = ::fork();
    if (pid_ < 0) throw Error(fmt::format("cannot fork: {}", std::strerror(errno)));
    if (pid_ == 0) {
        ::close(go.out.get());  // else it would wait for itself
        run_child(argv.data(), go.in.get(), failed.out.get(), signals.before());
    }
    go_ = std::move(go.out);
    failed_ = std::move(failed.in);
}

ChildCommand::~ChildCommand() {
    if (pid_ <= 0 || status()) return;
    if (!go_) {
        if (!asked_) send(SIGTERM);
        return;
    }
    go_.reset();
    send(SIGTERM);
    if (ends_within(kGrace)) return;
    send(SIGKILL);
    ends_within(kGrace);  // not longer: in an uninterruptible sleep it stays
}

bool ChildCommand::ends_within(std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (!status()) {
        if (std::chrono::steady_clock::now() >= end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
}

void ChildCommand::release() {
    const char byte = 'g';
    int error = 0;
    if (::write(go_.get(), &byte, 1) != 1) error = errno;
    go_.reset();
    // Closed by a successful exec: then there is nothing to read.
    ssize_t n = 0;
    do {
        n = ::read(failed_.get(), &error, sizeof(error));
    } while (n < 0 && errno == EINTR);
    failed_.reset();
    if (error == 0) return;
    throw Error(fmt::format("cannot run {}: {}", command_.front(), std::strerror(error)));
}

std::optional<int> ChildCommand::status() {
    if (status_) return status_;
    int raw = 0;
    const pid_t ended = ::waitpid(pid_, &raw, WNOHANG);
    if (ended == pid_)
        status_ = WIFSIGNALED(raw) ? kKilled + WTERMSIG(raw) : WEXITSTATUS(raw);
    else if (ended < 0 && errno == ECHILD)
        status_ = kNotFound;  // somebody else has reaped it: the pid is not its any more
    return status_;
}

void ChildCommand::send(int signal) const {
    if (!status_) ::kill(pid_, signal);
}

void ChildCommand::pass_on(int signal, const EndSignals& signals) const {
    if (signal != SIGINT || !signals.from_terminal()) send(signal);
}

void ChildCommand::end(EndSignals& signals, std::chrono::milliseconds patience) {
    if (go_ || status()) return;
    asked_ = true;
    send(SIGTERM);
    const Clock::Time until = std::chrono::steady_clock::now() + patience;
    for (bool said = false, passed_on = false; !status();) {
        if (!said && std::chrono::steady_clock::now() >= until) {
            said = true;
            complain(
                fmt::format("{} (process {}) was sent SIGTERM and has not ended: waiting for it; "
                            "the next ^C or SIGTERM is for it, too, one more ends lattop alone",
                            command_.front(), pid_));
        }
        const int signal = signals.wait_until(said ? Clock::Time::max() : until);
        if (signal == 0 || signal == SIGCHLD) continue;
        if (passed_on) {
            complain(fmt::format("{} (process {}) goes on", command_.front(), pid_));
            return;
        }
        passed_on = true;
        pass_on(signal, signals);
    }
}

}  // namespace lattop
