// SPDX-License-Identifier: GPL-2.0-or-later
//
// What lattop makes of what it is started with: the real program, over a recording.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"
#include "tests/unit/support/disposition.h"
#include "tests/unit/support/recordings.h"
#include "unwind/unique_fd.h"

namespace lattop::test {
namespace {

/// lattop while its text waits for who reads it.
class RunningLattop {
public:
    RunningLattop() {
        const std::string recording = folder_.path() + "/recording";
        write_file(recording, sample_recording(kMoreThanAPipe));
        std::array<int, 2> ends{};
        REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
        output_ = UniqueFd(ends[0]);
        const UniqueFd its(ends[1]);
        posix_spawn_file_actions_t files;
        ::posix_spawn_file_actions_init(&files);
        ::posix_spawn_file_actions_adddup2(&files, its.get(), STDOUT_FILENO);
        std::vector<std::string> words{LATTOP_TEST_LATTOP, "-b", "-i", recording};
        std::vector<char*> argv;
        for (std::string& word : words)
            argv.push_back(word.data());
        argv.push_back(nullptr);
        const int error =
            ::posix_spawn(&pid_, LATTOP_TEST_LATTOP, &files, nullptr, argv.data(), environ);
        ::posix_spawn_file_actions_destroy(&files);
        REQUIRE(error == 0);
        char byte = 0;
        REQUIRE(::read(output_.get(), &byte, 1) == 1);
    }
    RunningLattop(const RunningLattop&) = delete;
    RunningLattop& operator=(const RunningLattop&) = delete;
    ~RunningLattop() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }

    [[nodiscard]] bool ignores(int signal) const {
        const std::string status = content_of("/proc/" + std::to_string(pid_) + "/status");
        const std::string name = "SigIgn:\t";
        const std::size_t at = status.find(name);
        REQUIRE(at != std::string::npos);
        const auto ignored = std::stoull(status.substr(at + name.size(), 16), nullptr, 16);
        return (ignored >> (signal - 1) & 1) != 0;
    }

private:
    static constexpr std::size_t kMoreThanAPipe = 200;  // snapshots

    TempFolder folder_;
    UniqueFd output_;
    pid_t pid_ = -1;
};

}  // namespace

TEST_CASE("children that end stay until lattop waits for them, also where SIGCHLD was ignored") {
    const Disposition ignored(SIGCHLD, SIG_IGN);
    const RunningLattop lattop;
    CHECK(lattop.ignores(SIGPIPE));
    CHECK(!lattop.ignores(SIGCHLD));
}

}  // namespace lattop::test
