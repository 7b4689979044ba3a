// SPDX-License-Identifier: GPL-2.0-or-later
//
// See image_process.h.
#include "unwind/image_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "unwind/remote_image.h"

namespace lattop {
namespace {

/// What a child is started with: /dev/null for the terminal's descriptors, the socket, and of
/// signals none blocked, ignored or sent by keys.
class SpawnPlan {
public:
    explicit SpawnPlan(int socket) {
        ::posix_spawn_file_actions_init(&files_);
        ::posix_spawn_file_actions_addopen(&files_, 0, "/dev/null", O_RDWR, 0);
        ::posix_spawn_file_actions_adddup2(&files_, 0, 1);
        ::posix_spawn_file_actions_adddup2(&files_, 0, 2);
        ::posix_spawn_file_actions_adddup2(&files_, socket, kImageSocket);
        sigset_t none;
        sigset_t all;
        ::sigemptyset(&none);
        ::sigfillset(&all);
        ::posix_spawnattr_init(&attributes_);
        ::posix_spawnattr_setsigmask(&attributes_, &none);
        ::posix_spawnattr_setsigdefault(&attributes_, &all);
        ::posix_spawnattr_setflags(
            &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
    }
    SpawnPlan(const SpawnPlan&) = delete;
    SpawnPlan& operator=(const SpawnPlan&) = delete;
    ~SpawnPlan() {
        ::posix_spawn_file_actions_destroy(&files_);
        ::posix_spawnattr_destroy(&attributes_);
    }

    /// -1 where it cannot be started.
    pid_t start(std::vector<std::string> command) const {
        std::vector<char*> argv;
        argv.reserve(command.size() + 1);
        for (std::string& word : command)
            argv.push_back(word.data());
        argv.push_back(nullptr);
        pid_t pid = -1;
        const int error =
            ::posix_spawn(&pid, argv.front(), &files_, &attributes_, argv.data(), environ);
        return error == 0 ? pid : -1;
    }

private:
    posix_spawn_file_actions_t files_{};
    posix_spawnattr_t attributes_{};
};

/// Sending and receiving fail then.
void limit_waits(int socket, std::chrono::milliseconds patience) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience);
    const timeval longest{.tv_sec = seconds.count(),
                          .tv_usec = std::chrono::microseconds(patience - seconds).count()};
    for (const int what : {SO_RCVTIMEO, SO_SNDTIMEO})
        ::setsockopt(socket, SOL_SOCKET, what, &longest, sizeof(longest));
}

std::vector<std::string>& kept_reader_command() {
    static std::vector<std::string> command;
    return command;
}

}  // namespace

const std::vector<std::string>& reader_command() {
    return kept_reader_command();
}

void set_reader_command(std::vector<std::string> command) {
    kept_reader_command() = std::move(command);
}

bool ImageProcess::start() {
    if (socket_) return true;
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return false;
    UniqueFd own(ends[0]);
    if (patience_.count() != 0) limit_waits(own.get(), patience_);
    const UniqueFd its(ends[1]);
    if (!own_memory_) share_.emplace();
    std::vector<std::string> command = command_;
    command.push_back(std::to_string(own_memory_ ? *own_memory_ : share_->memory()));
    pid_ = SpawnPlan(its.get()).start(std::move(command));
    if (pid_ < 0) {
        share_.reset();
        return false;
    }
    clock_->begin(pid_);
    socket_ = std::move(own);
    ++number_;
    return true;
}

bool ImageProcess::send(std::span<const std::uint8_t> message, int fd) {
    if (socket_ && send_message(socket_.get(), message, fd)) return true;
    end();
    return false;
}

std::optional<std::vector<std::uint8_t>> ImageProcess::receive() {
    if (socket_)
        if (auto message = receive_message(socket_.get())) return std::move(message->bytes);
    end();
    return std::nullopt;
}

std::optional<std::vector<std::uint8_t>> ImageProcess::ask(const ImageRequest& request, int fd) {
    if (!send(to_message(request), fd)) return std::nullopt;
    return receive();
}

void ImageProcess::tell(const ImageRequest& request) {
    send(to_message(request));
}

void ImageProcess::end() {
    if (!socket_) return;
    socket_.reset();
    ::kill(pid_, SIGKILL);
    siginfo_t info{};
    while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) < 0 &&
           errno == EINTR) {
    }
    clock_->end();
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
    share_.reset();
}

}  // namespace lattop
