// SPDX-License-Identifier: GPL-2.0-or-later
//
// See system_call_filter.h. The lists are what strace shows of the daemon at
// work, and what its libc may do instead: an older one, a newer one, or when it
// ends for a fault. tests/vm/cases/daemon-least-privilege runs all of it.
#include "lattop/system_call_filter.h"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <span>

#include "module/uapi/lattop.h"

namespace lattop {
namespace {

using Filter = std::unique_ptr<void, decltype(&::seccomp_release)>;

// Whatever their arguments are:

/// writev is how glibc says why it aborts.
constexpr std::array kOnOpenFiles = {SCMP_SYS(read),       SCMP_SYS(pread64), SCMP_SYS(write),
                                     SCMP_SYS(writev),     SCMP_SYS(close),   SCMP_SYS(fstat),
                                     SCMP_SYS(newfstatat), SCMP_SYS(eventfd2)};
constexpr std::array kOfMemory = {SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap),
                                  SCMP_SYS(madvise)};
/// restart_syscall comes behind SIGSTOP and SIGCONT.
constexpr std::array kThatWait = {SCMP_SYS(poll), SCMP_SYS(futex), SCMP_SYS(rt_sigtimedwait),
                                  SCMP_SYS(restart_syscall), SCMP_SYS(clock_gettime)};
constexpr std::array kOfThreads = {
    SCMP_SYS(set_robust_list), SCMP_SYS(rseq),         SCMP_SYS(gettid),
    SCMP_SYS(getpid),          SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),    SCMP_SYS(exit),         SCMP_SYS(exit_group)};

/// Only where an argument, of those numbered from 0, has `value` in the bits of `mask`.
struct Narrowed {
    int call;
    unsigned argument;
    scmp_datum_t mask;
    scmp_datum_t value;
};

constexpr scmp_datum_t kAll = ~scmp_datum_t{0};
/// O_TMPFILE without O_DIRECTORY, which it has in it.
constexpr scmp_datum_t kTmpfile = O_TMPFILE & ~O_DIRECTORY;
constexpr scmp_datum_t kNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                     CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

/// For messages with files, and to end where a file takes too long. The last three are how libdw
/// finds the file that a debug file leads on to. Not for libunwind's pipe2 and mincore: it looks by
/// them for how to read this process's memory, which no walk does.
constexpr std::array kOfReaders = {SCMP_SYS(recvmsg), SCMP_SYS(sendmsg),  SCMP_SYS(setitimer),
                                   SCMP_SYS(lseek),   SCMP_SYS(readlink), SCMP_SYS(getcwd),
                                   SCMP_SYS(lstat)};

constexpr auto kNarrowed = std::to_array<Narrowed>({
    // to read; openat2 hides its flags in memory, where no filter sees them
    {SCMP_SYS(openat), 2, O_ACCMODE | O_CREAT | O_TRUNC | kTmpfile, O_RDONLY},
    // no code that was not there at the start
    {SCMP_SYS(mmap), 2, PROT_EXEC, 0},
    {SCMP_SYS(mprotect), 2, PROT_EXEC, 0},
});

constexpr auto kNarrowedOfDaemons = std::to_array<Narrowed>({
    // a thread, no process
    {SCMP_SYS(clone), 0, CLONE_THREAD | kNamespaces, CLONE_THREAD},
    {SCMP_SYS(ioctl), 1, kAll, LT_IOC_QUERY},
    {SCMP_SYS(ioctl), 1, kAll, LT_IOC_MISSES},
    {SCMP_SYS(ioctl), 1, kAll, LT_IOC_TEACH},
});

/// 0 or a negative errno, as libseccomp has it.
int add_rules(scmp_filter_ctx filter, FilterFor whom) {
    int error = 0;
    const auto add = [&](std::uint32_t action, int call, std::span<const scmp_arg_cmp> conditions) {
        if (error == 0)
            error = ::seccomp_rule_add_array(
                filter, action, call, static_cast<unsigned>(conditions.size()), conditions.data());
    };
    using Calls = std::span<const int>;
    for (const Calls calls :
         {Calls(kOnOpenFiles), Calls(kOfMemory), Calls(kThatWait), Calls(kOfThreads)})
        for (const int call : calls)
            add(SCMP_ACT_ALLOW, call, {});
    const auto add_narrowed = [&](std::span<const Narrowed> rules) {
        for (const Narrowed& rule : rules)
            add(SCMP_ACT_ALLOW, rule.call,
                std::array{scmp_arg_cmp{rule.argument, SCMP_CMP_MASKED_EQ, rule.mask, rule.value}});
    };
    add_narrowed(kNarrowed);
    if (whom == FilterFor::Daemon) add_narrowed(kNarrowedOfDaemons);
    if (whom == FilterFor::ImageReader)
        for (const int call : kOfReaders)
            add(SCMP_ACT_ALLOW, call, {});
    // abort(3), to end as what it is
    const auto own = static_cast<scmp_datum_t>(::getpid());
    add(SCMP_ACT_ALLOW, SCMP_SYS(tgkill), std::array{scmp_arg_cmp{0, SCMP_CMP_EQ, own, 0}});
    // Its flags, too, are in memory. libc goes on with clone where there is no clone3.
    add(SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), {});
    return error;
}

}  // namespace

int filter_system_calls(FilterFor whom) {
    const Filter filter(::seccomp_init(SCMP_ACT_ERRNO(EPERM)), ::seccomp_release);
    if (filter == nullptr) return ENOMEM;
    // Threads there are get it as well. Calls of other ABIs end the process.
    int error = ::seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_TSYNC, 1);
    if (error == 0)
        error = ::seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (error == 0) error = add_rules(filter.get(), whom);
    if (error == 0) error = ::seccomp_load(filter.get());
    return -error;
}

}  // namespace lattop
