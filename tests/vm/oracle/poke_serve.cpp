// SPDX-License-Identifier: GPL-2.0-or-later
// The processes of lattop-poke matrix: see poke_channel.h.
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <set>
#include <sstream>

#include "poke.h"
#include "poke_channel.h"
#include "poke_people.h"

namespace poke {
namespace {

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
    return std::as_bytes(std::span(&value, 1));
}

std::string own_program(const char* name) {
    std::array<char, 4096> path{};
    const ssize_t n = readlink("/proc/self/exe", path.data(), path.size() - 1);
    need(n > 0, "/proc/self/exe");
    const std::string self(path.data(), static_cast<std::size_t>(n));
    return self.substr(0, self.rfind('/') + 1) + name;
}

using Named = std::set<std::pair<uint32_t, std::string>>;

bool is_sleeper(const std::string& name) {
    return name.starts_with("i-");
}

/// pid and name of the sleepers in the text view.
Named in_text(int fd) {
    std::string text;
    std::vector<char> buffer(1 << 16);
    off_t at = 0;
    for (ssize_t n; (n = pread(fd, buffer.data(), buffer.size(), at)) > 0; at += n)
        text.append(buffer.data(), static_cast<std::size_t>(n));
    Named named;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || line[0] < '0' || line[0] > '9') continue;
        const std::string name = line.substr(line.rfind(' ') + 1);
        if (is_sleeper(name)) named.emplace(std::stoul(line), name);
    }
    return named;
}

std::vector<std::byte> read_for(int fd) {
    Reading reading{};
    std::vector<Seen> seen;
    Named named;
    lt_query query = plain_query();
    const Descriptor descriptor = Descriptor::of(dup(fd));
    try {
        reading.error = descriptor.query(query);
        const auto snapshot = descriptor.records();
        const uint32_t n = snapshot.count(LT_SEC_TASKS);
        for (uint32_t i = 0; i < n; ++i) {
            const lt_task_rec& task = snapshot.task(i);
            Seen one{task.start_ns, task.pid, task.tgid, task.kind, task.flags, task.uid, {}};
            std::memcpy(one.comm, task.comm, sizeof(one.comm));
            if (is_sleeper(one.name())) named.emplace(one.pid, one.name());
            seen.push_back(one);
        }
        reading.matched_is_shown = snapshot.header().tasks_matched == n;
        query.view = LT_VIEW_TEXT;
        need(descriptor.query(query) == 0, "the text view");
        reading.same_as_text = in_text(descriptor.fd()) == named;
    } catch (const std::exception&) {
        reading.error = EIO;
    }
    std::vector<std::byte> answer(sizeof(reading) + seen.size() * sizeof(Seen));
    std::memcpy(answer.data(), &reading, sizeof(reading));
    if (!seen.empty())
        std::memcpy(answer.data() + sizeof(reading), seen.data(), seen.size() * sizeof(Seen));
    return answer;
}

/// Who woke the waiters from their reads, in all that may be seen of them.
std::vector<std::byte> read_wakers_for(int fd) {
    lt_query query = plain_query();
    query.traces = LT_TRACES_ALL;
    const Descriptor descriptor = Descriptor::of(dup(fd));
    need(descriptor.query(query) == 0, "query");
    const auto snapshot = descriptor.records();
    std::vector<std::byte> answer;
    for (uint32_t i = 0; i < snapshot.count(LT_SEC_TASKS); ++i) {
        const lt_task_rec& task = snapshot.task(i);
        if (std::memcmp(task.comm, "s-", 2) != 0) continue;
        for (uint32_t e = task.first_entry; e < task.first_entry + task.n_entries; ++e) {
            const lt_entry_rec& entry = snapshot.entry(e);
            if (entry.trace == LT_TRACE_OTHER || snapshot.trace(entry.trace).syscall != SYS_read)
                continue;
            for (uint32_t w = 0; w < entry.n_wakers; ++w) {
                SeenWaker seen{{}, snapshot.waker(entry.first_waker + w)};
                std::memcpy(seen.waiter, task.comm, sizeof(seen.waiter));
                const auto bytes = bytes_of(seen);
                answer.insert(answer.end(), bytes.begin(), bytes.end());
            }
        }
    }
    // An answer of no bytes would be an end
    answer.push_back({});
    return answer;
}

/// errno of reading some bytes there.
int32_t read_at(int fd, off_t at) {
    std::array<char, 64> bytes{};
    return pread(fd, bytes.data(), bytes.size(), at) < 0 ? errno : 0;
}

bool perfmon_capable() {
    return has_capability(CAP_PERFMON) || has_capability(CAP_SYS_ADMIN);
}

/// What PTRACE_MODE_READ_FSCREDS says: 0 or EACCES. A link of the task is read by that alone. So is
/// its maps until 6.14; from then on whoever may use perf opens it, too. EPROTO: neither of these.
int read_errno(uint32_t pid) {
    std::array<char, PATH_MAX> target{};
    const int link =
        readlink(fmt::format("/proc/{}/cwd", pid).c_str(), target.data(), target.size()) < 0 ? errno
                                                                                             : 0;
    const int fd = open(fmt::format("/proc/{}/maps", pid).c_str(), O_RDONLY | O_CLOEXEC);
    const int maps = fd < 0 ? errno : 0;
    if (fd >= 0) close(fd);
    return maps == link || (maps == 0 && perfmon_capable()) ? link : EPROTO;
}

Uses use(int fd, uint32_t pid) {
    const auto error_of = [](long result) { return result < 0 ? errno : 0; };
    lt_misses misses{};
    lt_teach lesson{};
    lt_regs registers{};
    misses.size = sizeof(misses);
    misses.event_fd = -1;
    lesson.size = sizeof(lesson);
    registers.size = sizeof(registers);
    registers.pid = pid;
    Uses uses{};
    uses.misses = error_of(ioctl(fd, LT_IOC_MISSES, &misses));
    uses.teach = error_of(ioctl(fd, LT_IOC_TEACH, &lesson));
    uses.registers = error_of(ioctl(fd, LT_IOC_REGS, &registers));
    // Who may gets ENOENT, and nothing changes
    constexpr std::string_view command = "filter cgroup=/there/is/no/such";
    uses.write = error_of(write(fd, command.data(), command.size()));
    return uses;
}

void answer(const Channel& channel, const Request& request, int fd) {
    switch (request.verb) {
        case Verb::open: {
            const int opened = open(LT_PROC_PATH, static_cast<int>(request.number) | O_CLOEXEC);
            const int32_t error = opened < 0 ? errno : 0;
            channel.send(bytes_of(error), opened);
            if (opened >= 0) close(opened);
            break;
        }
        case Verb::may_read: {
            std::vector<int32_t> errors;
            for (uint32_t i = 0; i < request.n_pids; ++i)
                errors.push_back(read_errno(request.pids[i]));
            channel.send(std::as_bytes(std::span(errors)));
            break;
        }
        case Verb::read: channel.send(read_for(fd)); break;
        case Verb::read_wakers: channel.send(read_wakers_for(fd)); break;
        case Verb::begin_reading: channel.send(bytes_of(read_at(fd, 0))); break;
        case Verb::read_on: channel.send(bytes_of(read_at(fd, 64))); break;
        case Verb::use: channel.send(bytes_of(use(fd, request.pids[0]))); break;
        default: throw std::runtime_error("a reader was asked for what a host does");
    }
}

/// The child of a host that is to be this person. What it runs is told by `verb`.
pid_t be(const Person& person, const std::string& verb, const std::string& argument) {
    const pid_t pid = fork();
    need(pid >= 0, "fork");
    if (pid != 0) return pid;
    try {
        person.become();
        if (person.by_setuid) {
            const std::string program = own_program("setuid-poke");
            execl(program.c_str(), program.c_str(), verb.c_str(), argument.c_str(), nullptr);
            need(false, program);
        }
        if (verb == "sleep") sleep_as(argument);
        if (verb == "wake") wake_as(static_cast<uint32_t>(std::stoul(argument)));
        if (verb == "wait") wait_as(argument);
        _exit(serve(std::stoi(argument)));
    } catch (const std::exception& error) {
        fmt::print(stderr, "FAIL {}: {}\n", person.name, error.what());
    }
    _exit(1);
}

template <typename Do>
int loop(int fd, Do&& perform) {
    const Channel channel(fd);
    std::vector<std::byte> bytes;
    for (int passed = -1; channel.receive(bytes, passed);) {
        Request request;
        need(bytes.size() == sizeof(request), "a request");
        std::memcpy(&request, bytes.data(), sizeof(request));
        perform(channel, request, passed);
        if (passed >= 0) close(passed);
    }
    return 0;
}

}  // namespace

int serve(int fd) {
    return loop(fd, answer);
}

void sleep_as(const std::string& name) {
    prctl(PR_SET_NAME, name.c_str());
    for (;;)
        pause();
}

std::string waiter_name(uint32_t waker, uint32_t which) {
    return fmt::format("s-{}-{}", waker, which);
}

void wake_as(uint32_t who) {
    std::array<int, waiters_of_each> fds{};
    for (uint32_t i = 0; i < waiters_of_each; ++i) {
        const std::string path = own_program(("pipes/" + waiter_name(who, i)).c_str());
        fds[i] = open(path.c_str(), O_RDWR | O_CLOEXEC);
        need(fds[i] >= 0, path);
    }
    for (int times = 0; times < 10; ++times) {
        for (const int fd : fds)
            need(write(fd, "", 1) == 1, "a pipe");
        usleep(30'000);
    }
    sleep_as(fmt::format("i-{}", sleepers()[who].name));
}

void wait_as(const std::string& name) {
    const std::string path = own_program(("pipes/" + name).c_str());
    // Its own end for writing, too: it never ends
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
    need(fd >= 0, path);
    prctl(PR_SET_NAME, name.c_str());
    for (char byte = 0;;)
        need(read(fd, &byte, 1) == 1, path);
}

int host(int fd) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::vector<pid_t> asleep;
    return loop(fd, [&](const Channel& channel, const Request& request, int passed) {
        const int32_t done = 0;
        if (request.verb == Verb::spawn_reader) {
            need(fcntl(passed, F_SETFD, 0) == 0, "F_SETFD");
            be(readers()[request.number], "serve", std::to_string(passed));
        } else if (request.verb == Verb::spawn_sleeper) {
            const Person& person = sleepers()[request.number];
            asleep.push_back(be(person, "sleep", fmt::format("i-{}", person.name)));
        } else if (request.verb == Verb::spawn_waker) {
            asleep.push_back(
                be(sleepers()[request.number], "wake", std::to_string(request.number)));
        } else if (request.verb == Verb::spawn_waiter) {
            be(sleepers()[request.number], "wait", waiter_name(request.pids[0], request.pids[1]));
        } else {
            for (const pid_t pid : asleep)
                waitpid(pid, nullptr, 0);
        }
        channel.send(bytes_of(done));
    });
}

}  // namespace poke
