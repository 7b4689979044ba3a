// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>

#include "lattop/source/error.h"
#include "lattop/source/proc_source.h"
#include "lattop/source/read_at.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"
#include "tests/unit/support/sample.h"

namespace lattop::test {
namespace {

void append(const std::string& path, const std::vector<std::byte>& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::app)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

/// What making a ProcSource of `path` says.
NotUsableError refusal(const std::string& path) {
    try {
        const ProcSource source(path);
    } catch (const NotUsableError& error) {
        return error;
    }
    throw std::logic_error(path + " was accepted");
}

/// From now on pread(2) of this process fails with `error`.
void make_reads_fail(std::uint32_t error) {
    std::array<sock_filter, 4> program = {{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_pread64, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    }};
    const sock_fprog filter{program.size(), program.data()};
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

/// What read_at throws where pread fails with `error`: 'p' a PassingError, 'q' for
/// a quota, 'e' another Error, '-' nothing. In a process of its own.
char thrown_at(int error) {
    const pid_t pid = ::fork();
    if (pid == 0) {
        make_reads_fail(static_cast<std::uint32_t>(error));
        char thrown = '-';
        std::array<std::byte, 1> into{};
        try {
            read_at(STDIN_FILENO, 0, into, "file");
        } catch (const PassingError&) {
            thrown = 'p';
        } catch (const SnapshotQuotaError&) {
            thrown = 'q';
        } catch (const Error&) {
            thrown = 'e';
        }
        ::_exit(thrown);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? static_cast<char>(WEXITSTATUS(status)) : '?';
}

}  // namespace

TEST_CASE("what a read fails by tells whether another may succeed") {
    CHECK(thrown_at(ENOMEM) == 'p');
    CHECK(thrown_at(EAGAIN) == 'p');
    CHECK(thrown_at(EDQUOT) == 'q');
    for (const int error : {EACCES, ENODEV, EIO, ENOTTY})
        CHECK(thrown_at(error) == 'e');
}

TEST_CASE("a module that is not loaded: what to do") {
    const NotUsableError error = refusal("/nonexistent/lattop");
    CHECK_THAT(error.what(), has_text("not loaded"));
    CHECK_THAT(error.hint(), has_text("make load") && has_text("modprobe lattop"));
    CHECK(error.code() == ExitCode::NotUsable);
}

TEST_CASE("a file that is not lattop's is told from one that is") {
    CHECK_THAT(refusal("/dev/null").what(), has_text("not lattop's"));
    const TempFolder folder;
    const std::string path = folder.path() + "/file";
    append(path, sample_machine(1).bytes());
    CHECK_THAT(refusal(path).what(), has_text("not lattop's"));
}

TEST_CASE("a file that this user may not read says so") {
    if (::geteuid() == 0) return;  // root may read everything
    const TempFolder folder;
    const std::string path = folder.path() + "/file";
    append(path, {});
    ::chmod(path.c_str(), 0);
    CHECK_THAT(refusal(path).hint(), has_text("root"));
}

}  // namespace lattop::test
