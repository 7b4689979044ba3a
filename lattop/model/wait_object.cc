// SPDX-License-Identifier: GPL-2.0-or-later
//
// See wait_object.h.
#include "lattop/model/wait_object.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "lattop/model/proc_text.h"
#include "lattop/model/socket_ends.h"
#include "unwind/pread_all.h"
#include "unwind/unique_fd.h"

namespace lattop {
namespace {

constexpr std::size_t kArguments = 6;
/// So many descriptors of a poll or an epoll are named.
constexpr std::size_t kNamed = 3;
/// An epoll of a process that may have more is not listed: it would be held up meanwhile.
constexpr std::uint64_t kMostListed = 4096;
/// A line of an epoll's fdinfo has a hundred bytes.
constexpr std::size_t kMostFdinfo = kMostListed * 128;
/// Of another pid namespace so many threads are looked through for a holder.
constexpr int kMostThreads = 1024;
/// The value of a lock word of glibc's that somebody waits for (its
/// lowlevellock.h). Not all locks with that value are mutexes, so the other words
/// of one are looked at too: glibc's struct_mutex.h for x86-64.
constexpr std::uint32_t kLockedWithWaiters = 2;
enum MutexWord : std::size_t { kLock, kCount, kOwner, kUsers, kKind, kMutexWords };
/// Normal, recursive, error-checking, adaptive; robust ones have higher bits.
constexpr std::uint32_t kKindBits = 0x7f;
constexpr std::uint32_t kMostKind = 3;
/// A stack below that belongs to a 32-bit program, whose calls have other numbers.
constexpr std::uint64_t kCompatEnd = std::uint64_t{1} << 32;

/// A sleeping thread and the system call it is in.
struct Sleeper {
    const std::string& proc;
    std::uint32_t pid;
    std::uint32_t tid;
    long number = -1;
    std::array<std::uint64_t, kArguments> argument{};

    [[nodiscard]] std::string folder() const {
        return fmt::format("{}/{}/task/{}/", proc, pid, tid);
    }
    [[nodiscard]] int fd(std::size_t i) const { return static_cast<int>(argument.at(i)); }
};

/// "NUMBER ARG0 ... ARG5 SP PC" (proc(5)).
bool parse_call(const std::string& text, Sleeper& sleeper) {
    constexpr std::string_view kHex = " 0x";
    const char* const end = text.data() + text.size();
    auto result = std::from_chars(text.data(), end, sleeper.number);
    const auto next = [&](std::uint64_t& word) {
        if (result.ec != std::errc{} || !std::string_view(result.ptr, end).starts_with(kHex))
            return false;
        result = std::from_chars(result.ptr + kHex.size(), end, word, 16);
        return result.ec == std::errc{};
    };
    std::uint64_t sp = 0;
    return std::ranges::all_of(sleeper.argument, next) && next(sp) && sleeper.number >= 0 &&
           sp >= kCompatEnd;
}

/// What a descriptor is: a path, or the kernel's name of what has none.
std::string link_of(const Sleeper& sleeper, int fd) {
    std::error_code gone;
    return std::filesystem::read_symlink(fmt::format("{}fd/{}", sleeper.folder(), fd), gone)
        .string();
}

/// `held`: the sleeper's system call holds it, so that its socket may be asked.
std::string describe_fd(const Sleeper& sleeper, int fd, bool held = true) {
    std::string what = link_of(sleeper, fd);
    if (what.empty()) return fmt::format("fd {}", fd);
    if (held && what.starts_with("socket:"))
        if (std::string ends = socket_ends(sleeper.pid, fd, what); !ends.empty())
            what = std::move(ends);
    return fmt::format("fd {}: {}", fd, what);
}

std::string describe_two(const Sleeper& sleeper, int one, int other) {
    return describe_fd(sleeper, one) + ", " + describe_fd(sleeper, other);
}

/// `total` of them; `fds` are the first.
std::string describe_fds(const Sleeper& sleeper, const std::vector<int>& fds, std::size_t total,
                         bool held) {
    std::string text = fmt::format("{} descriptor{}", total, total == 1 ? "" : "s");
    for (std::size_t i = 0; i < std::min(fds.size(), kNamed); ++i)
        text += (i == 0 ? ": " : ", ") + describe_fd(sleeper, fds[i], held);
    return total > kNamed ? text + ", ..." : text;
}

/// Of a file of /proc the first so many bytes; from the kernel it has whole lines.
std::string read_beginning(const std::string& path, std::size_t most) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::string text(most, '\0');
    text.resize(pread_all(fd, std::as_writable_bytes(std::span(text)), 0));
    return text;
}

/// The numbers of lines "tfd: N" (proc(5), fdinfo), so many at most.
std::vector<int> targets_in(std::string_view info, std::size_t most) {
    std::vector<int> fds;
    while (!info.empty() && fds.size() < most) {
        const std::string_view line = info.substr(0, info.find('\n'));
        if (const auto target = number_behind(line, "tfd:"); target && line.starts_with("tfd:"))
            fds.push_back(static_cast<int>(*target));
        info.remove_prefix(std::min(line.size() + 1, info.size()));
    }
    return fds;
}

/// Those that an epoll descriptor watches; the call holds none of them. Its process's own table
/// says how many they are, unless another process has put descriptors into an epoll that both have.
/// The kernel then makes the text of all of them at the first read, with the epoll locked, which
/// cannot be bounded from here.
std::string describe_epoll(const Sleeper& sleeper, int fd) {
    const std::string text = fmt::format("epoll fd {}", fd);
    const auto most = number_behind(read_proc_text(sleeper.folder() + "status").text, "\nFDSize:");
    if (!most || *most > kMostListed) return text;
    const std::string info =
        read_beginning(fmt::format("{}fdinfo/{}", sleeper.folder(), fd), kMostFdinfo);
    std::vector<int> fds = targets_in(info, kMostListed + 1);
    const bool more = fds.size() > kMostListed || info.size() == kMostFdinfo;
    if (more && !fds.empty()) fds.pop_back();  // whose line may be cut
    return text + (more ? ", more than " : ", ") + describe_fds(sleeper, fds, fds.size(), false);
}

bool read_memory(const Sleeper& sleeper, std::uint64_t address, void* to, std::size_t size) {
    const UniqueFd memory(
        ::open(fmt::format("{}/{}/mem", sleeper.proc, sleeper.pid).c_str(), O_RDONLY | O_CLOEXEC));
    return memory && ::pread(memory.get(), to, size, static_cast<off_t>(address)) ==
                         static_cast<ssize_t>(size);
}

std::string describe_poll(const Sleeper& sleeper) {
    constexpr std::uint64_t kMostDescriptors = 1024;
    const auto count = std::min(sleeper.argument[1], kMostDescriptors);
    std::vector<pollfd> polled(count);
    if (count == 0 ||
        !read_memory(sleeper, sleeper.argument[0], polled.data(), polled.size() * sizeof(pollfd)))
        return "";
    std::vector<int> fds;
    for (const pollfd& one : polled)
        if (one.fd >= 0) fds.push_back(one.fd);
    return describe_fds(sleeper, fds,
                        count < sleeper.argument[1] ? sleeper.argument[1] : fds.size(), true);
}

/// The last number of the line NSpid: as what the thread knows itself.
std::optional<std::uint64_t> own_number(const std::string& folder) {
    const std::string status = read_proc_text(folder + "status").text;
    const std::size_t at = status.find("\nNSpid:");
    if (at == std::string::npos) return std::nullopt;
    const std::string line = status.substr(at + 1, status.find('\n', at + 1) - at - 1);
    return number_behind(line, std::string_view(line).substr(0, line.find_last_of("\t ") + 1));
}

bool in_our_namespace(const Sleeper& sleeper) {
    return own_number(sleeper.folder()) == sleeper.tid;
}

/// The thread of the sleeper's process that knows itself as `number`, in its
/// own pid namespace; "" where there is none.
std::string thread_folder(const Sleeper& sleeper, std::uint64_t number) {
    const std::string tasks = fmt::format("{}/{}/task/", sleeper.proc, sleeper.pid);
    std::string folder = fmt::format("{}{}/", tasks, number);
    if (in_our_namespace(sleeper)) return own_number(folder) == number ? folder : "";
    std::error_code gone;
    int left = kMostThreads;
    for (const auto& entry : std::filesystem::directory_iterator(tasks, gone)) {
        folder = entry.path().string() + "/";
        if (own_number(folder) == number) return folder;
        if (--left == 0) break;
    }
    return "";
}

/// "445 worker (S)"; "" for a number that is none of its threads'.
std::string describe_thread(const Sleeper& sleeper, std::uint64_t number) {
    const std::string folder = thread_folder(sleeper, number);
    if (folder.empty()) return "";
    constexpr std::string_view kState = "\nState:\t";
    const std::string status = read_proc_text(folder + "status").text;
    const auto pid = number_behind(status, "\nPid:");
    const std::size_t state = status.find(kState);
    if (!pid || state == std::string::npos) return "";
    const char letter = status.c_str()[state + kState.size()];
    if (letter < 'A' || letter > 'z') return "";
    return fmt::format("{} {} ({})", *pid, read_proc_line(folder + "comm"), letter);
}

std::string describe_futex(const Sleeper& sleeper, const NameAddress& name) {
    const std::uint64_t address = sleeper.argument[0];
    const int operation = static_cast<int>(sleeper.argument[1]) & FUTEX_CMD_MASK;
    std::array<std::uint32_t, kMutexWords> words{};
    std::uint64_t owner = 0;
    if (operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2) {
        if (read_memory(sleeper, address, words.data(), sizeof(words[kLock])))
            owner = words[kLock] & FUTEX_TID_MASK;
    } else if (operation == FUTEX_WAIT && sleeper.argument[2] == kLockedWithWaiters) {
        if (read_memory(sleeper, address, words.data(), sizeof(words)) &&
            words[kLock] == kLockedWithWaiters && words[kUsers] != 0 &&
            (words[kKind] & kKindBits) <= kMostKind)
            owner = words[kOwner];
    }
    const std::string holder = owner == 0 ? "" : describe_thread(sleeper, owner);
    std::string where = name ? name(address) : "";
    if (where.empty()) where = fmt::format("{:#x}", address);
    return holder.empty() ? "futex " + where : fmt::format("mutex {}, held by {}", where, holder);
}

/// `pid` as the sleeper knows it: a name only where lattop knows it by the same.
std::string describe_child(const Sleeper& sleeper, int pid) {
    if (pid == -1) return "any child";
    if (pid == 0) return "a child of its process group";
    if (pid < 0) return fmt::format("a child of process group {}", -std::int64_t{pid});
    const std::string text = fmt::format("child {}", pid);
    const std::string folder = fmt::format("{}/{}/", sleeper.proc, pid);
    const auto parent = number_behind(read_proc_text(folder + "status").text, "\nPPid:");
    if (parent != sleeper.pid || !in_our_namespace(sleeper)) return text;
    return text + " " + read_proc_line(folder + "comm");
}

}  // namespace

std::string wait_object(const std::string& proc, std::uint32_t pid, std::uint32_t tid,
                        const std::string& call, const NameAddress& name) {
    Sleeper sleeper{proc, pid, tid};
    if (!parse_call(call, sleeper)) return "";
    switch (sleeper.number) {
        case SYS_read:
        case SYS_write:
        case SYS_readv:
        case SYS_writev:
        case SYS_pread64:
        case SYS_pwrite64:
        case SYS_preadv:
        case SYS_pwritev:
        case SYS_preadv2:
        case SYS_pwritev2:
        case SYS_recvfrom:
        case SYS_recvmsg:
        case SYS_recvmmsg:
        case SYS_sendto:
        case SYS_sendmsg:
        case SYS_sendmmsg:
        case SYS_accept:
        case SYS_accept4:
        case SYS_connect:
        case SYS_fsync:
        case SYS_fdatasync:
        case SYS_sync_file_range:
        case SYS_syncfs:
        case SYS_fallocate:
        case SYS_ftruncate:
        case SYS_flock:
        case SYS_fcntl:
        case SYS_ioctl:
        case SYS_getdents64:
        case SYS_io_uring_enter: return describe_fd(sleeper, sleeper.fd(0));
        case SYS_sendfile: return describe_two(sleeper, sleeper.fd(0), sleeper.fd(1));
        case SYS_splice: return describe_two(sleeper, sleeper.fd(0), sleeper.fd(2));
        case SYS_epoll_wait:
        case SYS_epoll_pwait:
        case SYS_epoll_pwait2: return describe_epoll(sleeper, sleeper.fd(0));
        case SYS_poll:
        case SYS_ppoll: return describe_poll(sleeper);
        case SYS_futex: return describe_futex(sleeper, name);
        case SYS_wait4: return describe_child(sleeper, static_cast<int>(sleeper.argument[0]));
        default: return "";
    }
}

}  // namespace lattop
