// SPDX-License-Identifier: GPL-2.0-or-later
//
// What `lattop daemon` gives up is tried: by the thread that gave it up, by one
// that it starts then, and by one that was there before. Each attempt is harmless
// and is made before, too: what was refused then (EPERM) shows nothing.
// Run by ctest and by the guest case daemon-least-privilege. Needs CAP_SYS_PTRACE.
// lattop-refused: a line an attempt; exits 1 if one went through, 77 where it may not try.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <thread>

#include "lattop/least_privilege.h"
#include "lattop/source/error.h"
#include "module/uapi/lattop.h"
#include "unwind/unique_fd.h"

namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr const char* kNowhere = "/lattop-refused/nowhere";

pid_t victim = -1;  // a child that sleeps

/// The result of a system call that opens something, which is closed again.
long closed(long fd) {
    if (fd >= 0) ::close(static_cast<int>(fd));
    return fd;
}

long open_for(int flags) {
    return closed(::syscall(SYS_openat, AT_FDCWD, "/dev/null", flags, 0600));
}

long open_by_openat2() {
    open_how how{};
    how.flags = O_RDONLY;
    return closed(::syscall(SYS_openat2, AT_FDCWD, "/dev/null", &how, sizeof(how)));
}

long new_socket(int family) {
    return closed(::socket(family, SOCK_STREAM, 0));
}

long run(long call) {
    std::array<char*, 1> none{};
    return call == SYS_execve
               ? ::syscall(SYS_execve, kNowhere, none.data(), none.data())
               : ::syscall(SYS_execveat, AT_FDCWD, kNowhere, none.data(), none.data(), 0);
}

/// fork(2) as the kernel has it: libc's would go on in the child.
long new_process() {
    const long child = ::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
    if (child == 0) ::_exit(0);
    if (child > 0) ::waitpid(static_cast<pid_t>(child), nullptr, 0);
    return child;
}

long attach() {
    if (::ptrace(PTRACE_SEIZE, victim, nullptr, nullptr) != 0) return -1;
    ::ptrace(PTRACE_INTERRUPT, victim, nullptr, nullptr);
    ::waitpid(victim, nullptr, __WALL);
    return ::ptrace(PTRACE_DETACH, victim, nullptr, nullptr);
}

long write_memory() {
    char byte = 0;
    iovec local{&byte, 0};
    iovec remote{&byte, 0};
    return ::process_vm_writev(victim, &local, 1, &remote, 1, 0);
}

long executable_pages() {
    void* pages =
        ::mmap(nullptr, kPageBytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? -1 : ::munmap(pages, kPageBytes);
}

long pages_made_executable() {
    void* pages = ::mmap(nullptr, kPageBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const int result = ::mprotect(pages, kPageBytes, PROT_READ | PROT_EXEC);
    const int error = errno;
    ::munmap(pages, kPageBytes);
    errno = error;
    return result;
}

struct Attempt {
    const char* name;
    long (*make)();
};

constexpr auto kAttempts = std::to_array<Attempt>({
    {"execve", [] { return run(SYS_execve); }},
    {"execveat", [] { return run(SYS_execveat); }},
    {"fork", new_process},
    {"open for writing", [] { return open_for(O_WRONLY); }},
    {"open for reading and writing", [] { return open_for(O_RDWR); }},
    {"open, creating", [] { return open_for(O_RDONLY | O_CREAT); }},
    {"open, truncating", [] { return open_for(O_RDONLY | O_TRUNC); }},
    {"open with access mode 3", [] { return open_for(O_ACCMODE); }},
    {"openat2", open_by_openat2},
    {"open, the old call", [] { return closed(::syscall(SYS_open, "/dev/null", O_RDONLY)); }},
    {"creat", [] { return closed(::syscall(SYS_creat, kNowhere, 0600)); }},
    {"rename", [] { return ::syscall(SYS_rename, kNowhere, kNowhere); }},
    {"unlink", [] { return ::syscall(SYS_unlink, kNowhere); }},
    {"link", [] { return ::syscall(SYS_link, kNowhere, kNowhere); }},
    {"chmod", [] { return ::syscall(SYS_chmod, kNowhere, 0777); }},
    {"memfd_create", [] { return closed(::syscall(SYS_memfd_create, "refused", 0)); }},
    {"socket, AF_UNIX", [] { return new_socket(AF_UNIX); }},
    {"socket, AF_INET", [] { return new_socket(AF_INET); }},
    {"socket, AF_NETLINK", [] { return new_socket(AF_NETLINK); }},
    {"sendmsg", [] { return ::syscall(SYS_sendmsg, -1, nullptr, 0); }},
    {"ptrace, attaching", attach},
    {"process_vm_writev", write_memory},
    {"kill", [] { return ::syscall(SYS_kill, victim, 0); }},
    {"tgkill of another process", [] { return ::syscall(SYS_tgkill, victim, victim, 0); }},
    {"pidfd_open", [] { return closed(::syscall(SYS_pidfd_open, victim, 0)); }},
    {"mount", [] { return ::syscall(SYS_mount, kNowhere, kNowhere, "tmpfs", 0, nullptr); }},
    {"umount2", [] { return ::syscall(SYS_umount2, kNowhere, 0); }},
    {"chroot", [] { return ::syscall(SYS_chroot, kNowhere); }},
    {"unshare", [] { return ::syscall(SYS_unshare, 0); }},
    {"setns", [] { return ::syscall(SYS_setns, -1, 0); }},
    {"setuid", [] { return ::syscall(SYS_setuid, ::getuid()); }},
    {"capset", [] { return ::syscall(SYS_capset, nullptr, nullptr); }},
    {"prctl", [] { return ::syscall(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0); }},
    {"seccomp", [] { return ::syscall(SYS_seccomp, -1, 0, nullptr); }},
    {"init_module", [] { return ::syscall(SYS_init_module, nullptr, 0, kNowhere); }},
    {"finit_module", [] { return ::syscall(SYS_finit_module, -1, kNowhere, 0); }},
    {"bpf", [] { return ::syscall(SYS_bpf, -1, nullptr, 0); }},
    {"perf_event_open", [] { return ::syscall(SYS_perf_event_open, nullptr, 0, -1, -1, 0); }},
    {"io_uring_setup", [] { return ::syscall(SYS_io_uring_setup, 0, nullptr); }},
    {"fcntl, dup", [] { return closed(::syscall(SYS_fcntl, 1, F_DUPFD, 0)); }},
    {"ioctl of a terminal", [] { return ::syscall(SYS_ioctl, -1, TIOCSTI, nullptr); }},
    {"LT_IOC_REGS", [] { return ::syscall(SYS_ioctl, -1, LT_IOC_REGS, nullptr); }},
    {"mmap of code", executable_pages},
    {"mprotect to code", pages_made_executable},
});

/// Which of them were refused by nothing before.
using Possible = std::array<bool, kAttempts.size()>;

/// The errno of an attempt; 0 for one that went through.
int try_it(const Attempt& attempt) {
    errno = 0;
    return attempt.make() < 0 ? errno : 0;
}

/// Before, in a process of its own: some of it is for good.
void try_before(Possible& possible) {
    const pid_t child = ::fork();
    if (child == 0) {
        for (std::size_t i = 0; i < kAttempts.size(); ++i)
            possible.at(i) = try_it(kAttempts.at(i)) != EPERM;
        ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
}

/// Tries all of it; how many were not refused.
int try_all(const char* who) {
    int wrong = 0;
    for (const Attempt& attempt : kAttempts) {
        const int error = try_it(attempt);
        if (error != EPERM) ++wrong;
        fmt::print("{}{}: {}: {}\n", error == EPERM ? "" : "WRONG ", who, attempt.name,
                   error == 0 ? "done" : std::strerror(error));
    }
    return wrong;
}

void start_victim() {
    victim = ::fork();
    if (victim != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        ::pause();
}

/// What is needed still works.
bool reads() {
    const lattop::UniqueFd fd(::openat(AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC));
    std::array<char, kPageBytes> text{};
    const ssize_t n = ::read(fd.get(), text.data(), text.size());
    const std::string status(text.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
    for (const char* name : {"\nCap", "\nNoNewPrivs", "\nSeccomp:"})
        for (auto at = status.find(name); at != std::string::npos; at = status.find(name, at + 1))
            fmt::print("{}\n", status.substr(at + 1, status.find('\n', at + 1) - at - 1));
    return n > 0;
}

}  // namespace

int main() {
    start_victim();
    void* shared = ::mmap(nullptr, sizeof(Possible), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    std::array<int, 2> go{};
    if (shared == MAP_FAILED || ::pipe(go.data()) != 0) return 1;
    auto& possible = *new (shared) Possible{};
    try_before(possible);
    int wrong_before = 0;
    std::thread before([&] {
        char byte = 0;
        if (::read(go[0], &byte, 1) == 1) wrong_before = try_all("thread before");
    });
    try {
        fmt::print("{}", lattop::keep_least_privilege());
    } catch (const lattop::NotUsableError& error) {
        fmt::print("{}\n", error.what());
        std::fflush(stdout);
        ::_exit(77);
    }
    int wrong = try_all("itself");
    int wrong_after = 0;
    std::thread([&] { wrong_after = try_all("thread after"); }).join();
    if (::write(go[1], "", 1) != 1) return 1;
    before.join();
    if (!reads()) ++wrong;
    wrong += wrong_before + wrong_after;
    fmt::print("{} attempts, {} of them refused by nothing before, by three threads: {} wrong\n",
               kAttempts.size(), std::ranges::count(possible, true), wrong);
    return wrong == 0 ? 0 : 1;
}
