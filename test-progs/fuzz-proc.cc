// SPDX-License-Identifier: GPL-2.0-or-later
//
// Uses /proc/lattop in every wrong way there is, and in right ways besides: processes of root, of
// a user and of root in a container that share descriptors, several threads each, with one that
// changes the memory which the others' arguments lie in, interrupts them, and forks children that
// are killed within a call. Says which errors it met; fails for one that is not in the manual
// (fuzz_calls.cc), for anything that worked for who may not, and where a call never worked.
// fuzz-proc SECONDS SEED [keep]: the same seed is the same choices in each thread; with "keep"
// figures are not reset or filtered.
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <thread>
#include <vector>

#include "fuzz_calls.h"

namespace {

using fuzz::Call;
using fuzz::Caller;
using fuzz::Desk;
using fuzz::Memory;
using fuzz::Random;
using fuzz::Tally;

constexpr uid_t user = 30001;
constexpr unsigned callers = 3;

void need(bool done, const char* what) {
    if (done) return;
    std::perror(what);
    std::exit(1);
}

void nap(long us) {
    const timespec some{us / 1000000, us % 1000000 * 1000};
    nanosleep(&some, nullptr);
}

void become_user() {
    need(setgroups(0, nullptr) == 0 && setresgid(user, user, user) == 0 &&
             setresuid(user, user, user) == 0,
         "another user");
}

/// All capabilities, of a user namespace that is not the first.
void become_contained() {
    need(unshare(CLONE_NEWUSER) == 0, "unshare");
}

struct Role {
    const char* name;
    void (*become)();
    bool trusted;
};

constexpr Role roles[] = {
    {"root", [] {}, true}, {"user", become_user, false}, {"contained", become_contained, false}};

/// On a stack of its own, whose frames the lessons are about.
void sleep_on(Desk& desk) {
    desk.sleeper = static_cast<uint32_t>(syscall(SYS_gettid));
    for (;;)
        nap(2000);
}

/// A child that makes calls until it is killed within one.
void lose_child(Desk& desk, const Memory& memory, Random& random) {
    const pid_t child = fork();
    need(child >= 0, "fork");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (Caller caller(desk, memory, random.next(), callers);;)
            caller.call();
    }
    nap(static_cast<long>(random.below(20000)));
    kill(child, SIGKILL);
    while (waitpid(child, nullptr, 0) < 0)
        need(errno == EINTR, "waitpid");
}

void disturb(Desk& desk, std::deque<Memory>& memories, std::vector<std::thread>& threads,
             timespec until) {
    Random random(desk.seed ^ 0xd15);
    timespec now{};
    do {
        memories[random.below(memories.size())].disturb(random);
        if (random.one_in(16))
            pthread_kill(threads[random.below(callers)].native_handle(), SIGUSR1);
        if (random.one_in(512)) lose_child(desk, memories.back(), random);
        nap(static_cast<long>(random.below(500)));
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec < until.tv_sec && !desk.failed());
}

/// All that one process does; ends it.
[[noreturn]] void storm(Desk& desk, const Role& role, timespec until) {
    role.become();
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // with other credentials it would be forgotten
    desk.role = role.name;
    desk.trusted = role.trusted;
    desk.code = fuzz::own_code();
    for (std::size_t i = desk.slots.size() / 2; i < desk.slots.size(); ++i)
        desk.slots[i] = open(LT_PROC_PATH, (role.trusted ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    std::thread([&desk] { sleep_on(desk); }).detach();
    std::deque<Memory> memories(callers + 1);  // the last for children
    std::vector<std::thread> threads;
    std::atomic<bool> stop{false};
    for (unsigned i = 0; i < callers; ++i)
        threads.emplace_back([&, i] {
            Caller caller(desk, memories[i],
                          desk.seed * 64 + static_cast<uint64_t>(&role - roles) * 8 + i, i);
            while (!stop)
                caller.call();
        });
    disturb(desk, memories, threads, until);
    stop = true;
    for (std::thread& thread : threads)
        thread.join();
    _exit(0);
}

/// In the first process: descriptors that root has opened for all, to read and to write.
void furnish(Desk& desk) {
    for (std::size_t i = 0; i < desk.slots.size(); ++i)
        desk.slots[i] = i < desk.slots.size() / 2
                            ? open(LT_PROC_PATH, (i % 2 ? O_RDONLY : O_RDWR) | O_CLOEXEC)
                            : -1;
    need(desk.slots[0] >= 0, LT_PROC_PATH);
    desk.events = {eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC),
                   open("/dev/null", O_RDWR | O_CLOEXEC)};
    need(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, desk.sockets.data()) == 0, "socketpair");
}

/// False where a call that may work was made often, and never did: then nothing was tried.
bool print(const Tally& tally, bool keep_figures) {
    uint64_t all = 0;
    bool whole = true;
    for (std::size_t i = 0; i < fuzz::n_calls; ++i) {
        const auto call = static_cast<Call>(i);
        const bool works = call != Call::unknown_ioctl && call != Call::mmap &&
                           call != Call::sendfile &&
                           !(keep_figures && (call == Call::write || call == Call::pwrite));
        uint64_t made = 0;
        std::printf("%-14s", fuzz::name_of(call));
        for (std::size_t error = 0; error < fuzz::n_errors; ++error) {
            const uint64_t n = tally.ended[i][error];
            made += n;
            if (n != 0)
                std::printf(" %s=%llu",
                            error != 0 ? strerrorname_np(static_cast<int>(error)) : "done",
                            static_cast<unsigned long long>(n));
        }
        std::putchar('\n');
        if (works && made > 500 && tally.ended[i][0] == 0) {
            std::printf("FAIL %s never worked\n", fuzz::name_of(call));
            whole = false;
        }
        all += made;
    }
    std::printf("%llu calls, %llu findings\n", static_cast<unsigned long long>(all),
                static_cast<unsigned long long>(tally.findings));
    return whole;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    Desk desk;
    desk.seed = std::strtoull(argv[2], nullptr, 0);
    desk.keep_figures = argc > 3 && !std::strcmp(argv[3], "keep");
    std::printf("fuzz-proc %s %llu%s\n", argv[1], static_cast<unsigned long long>(desk.seed),
                desk.keep_figures ? " keep" : "");
    std::fflush(stdout);
    void* const shared =
        mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    need(shared != MAP_FAILED, "mmap");
    desk.tally = new (shared) Tally{};
    struct sigaction interrupt {};
    interrupt.sa_handler = [](int) {};  // without SA_RESTART: calls end with EINTR
    sigaction(SIGUSR1, &interrupt, nullptr);
    furnish(desk);
    timespec until{};
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += std::atol(argv[1]);
    for (const Role& role : roles) {
        const pid_t pid = fork();
        need(pid >= 0, "fork");
        if (pid == 0) storm(desk, role, until);
    }
    bool failed = false;
    for (std::size_t i = 0; i < std::size(roles); ++i) {
        int status = 0;
        need(wait(&status) > 0, "wait");
        if (status != 0)
            std::printf("FAIL a process ended with %#x\n", static_cast<unsigned>(status));
        std::fflush(stdout);  // this one may be ended at any moment
        failed |= status != 0;
    }
    failed |= !print(*desk.tally, desk.keep_figures);
    return failed || desk.failed() ? 1 : 0;
}
