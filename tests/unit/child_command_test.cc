// SPDX-License-Identifier: GPL-2.0-or-later
//
// How a command that was let go ends, or goes on.
#include "lattop/child_command.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <csignal>

#include "tests/unit/support/catch.h"
#include "tests/unit/support/disposition.h"
#include "tests/unit/support/errors_of.h"

namespace lattop::test {
namespace {

using namespace std::chrono_literals;

/// A script that runs until SIGTERM ends it. `on_term`: what it does at the n-th one.
struct Script {
    explicit Script(const std::string& on_term)
        : command({"sh", "-c",
                   "n=0; trap 'n=$((n + 1)); " + on_term +
                       "' TERM; kill -INT $PPID; while :; do sleep 0.01; done"},
                  signals) {
        command.release();
        // Its traps are set
        REQUIRE(signals.wait_until(std::chrono::steady_clock::now() + 60s) == SIGINT);
    }

    /// Without ChildCommand, which may have nothing to do with it any more.
    int end_of() const {
        int status = 0;
        REQUIRE(::waitpid(command.pid(), &status, 0) == command.pid());
        return status;
    }

    Disposition interrupt{SIGINT, SIG_DFL};
    Disposition terminate{SIGTERM, SIG_DFL};
    EndSignals signals;
    ChildCommand command;
};

}  // namespace

TEST_CASE("a command is waited for when it is asked to end, and what comes meanwhile passed on") {
    Script script("case $n in 1) kill -TERM $PPID;; 2) exit 7;; esac");
    const std::string said = errors_of([&] { script.command.end(script.signals, 0ms); });
    CHECK(script.command.status() == 7);
    CHECK(said ==
          fmt::format("lattop: sh (process {}) was sent SIGTERM and has not ended: waiting for it; "
                      "the next ^C or SIGTERM is for it, too, one more ends lattop alone\n",
                      script.command.pid()));
}

TEST_CASE("a command that ends when it is asked to is nothing to speak of") {
    Script script("exit 7");
    CHECK(errors_of([&] { script.command.end(script.signals, 1h); }).empty());
    CHECK(script.command.status() == 7);
    CHECK(errors_of([&] { script.command.end(script.signals, 0ms); }).empty());
}

TEST_CASE("who asks lattop twice more to end leaves the command to itself") {
    Script script("case $n in 1|2) kill -TERM $PPID;; 3) exit 9;; esac");
    const std::string said = errors_of([&] { script.command.end(script.signals, 1h); });
    CHECK(said == fmt::format("lattop: sh (process {}) goes on\n", script.command.pid()));
    CHECK(!script.command.status());
    ::kill(script.command.pid(), SIGTERM);
    const int status = script.end_of();
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 9));
}

TEST_CASE("a command whose recorder fails is asked to end, and not killed") {
    pid_t pid = -1;
    {
        Script script("exit 7");
        pid = script.command.pid();
    }
    int status = 0;
    REQUIRE(::waitpid(pid, &status, 0) == pid);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 7));
}

}  // namespace lattop::test
