// SPDX-License-Identifier: GPL-2.0-or-later
// See fuzz_calls.h.
#include "fuzz_calls.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace fuzz {
namespace {

/// EBADF stands for all: another thread may have closed it. So does ENOMEM.
bool may_fail_with(Call call, int error, bool trusted) {
    const auto any_of = [error](std::initializer_list<int> errors) {
        return std::ranges::find(errors, error) != errors.end();
    };
    if (any_of({EBADF, ENOMEM})) return true;
    switch (call) {
        case Call::query: return any_of({EINVAL, E2BIG, EFAULT, EINTR});
        case Call::teach:
            return trusted ? any_of({EPERM, EINVAL, E2BIG, EFAULT, ESRCH, ESTALE, ENOSPC, EAGAIN,
                                     EOPNOTSUPP, EINTR})
                           : error == EPERM;
        case Call::misses:
            return trusted ? any_of({EPERM, EINVAL, E2BIG, EFAULT, EINTR}) : error == EPERM;
        case Call::registers:
            return trusted ? any_of({EPERM, EINVAL, E2BIG, EFAULT, ESRCH, EAGAIN, EOPNOTSUPP})
                           : error == EPERM;
        case Call::unknown_ioctl: return error == ENOTTY;
        case Call::read:
        case Call::pread:
        case Call::readv: return any_of({EACCES, EFAULT, EINVAL, EINTR});
        case Call::write:
        case Call::pwrite:
            return any_of({EINVAL, EPERM, EFAULT}) ||
                   (trusted && any_of({ENOENT, ENOTDIR, ESRCH, E2BIG, EINTR}));
        case Call::lseek: return any_of({EINVAL, ENXIO, EOVERFLOW});
        case Call::mmap: return any_of({EIO, ENODEV, EACCES, EINVAL, EPERM, EOVERFLOW});
        case Call::sendfile: return any_of({EINVAL, EOVERFLOW});
        case Call::fcntl: return any_of({EINVAL, EPERM});
        case Call::open: return any_of({EACCES, EEXIST, EINVAL, ENOTDIR, EMFILE, EPERM, EINTR});
        case Call::dup: return any_of({EMFILE, EBUSY});
        case Call::pass: return any_of({EAGAIN, EMFILE, EINTR, ETOOMANYREFS});
        case Call::close: return error == EINTR;
        case Call::poll: return error == EINTR;
        default: return any_of({EACCES, EINTR});
    }
}

bool may_work(Call call, bool trusted) {
    switch (call) {
        case Call::teach:
        case Call::misses:
        case Call::registers:
        case Call::write:
        case Call::pwrite: return trusted;
        case Call::unknown_ioctl:
        case Call::mmap: return false;
        default: return true;
    }
}

Call choose(Random& random) {
    static constexpr std::array<uint64_t, n_calls> shares{
#define FUZZ_SHARE(name, share) share,
        FUZZ_CALLS(FUZZ_SHARE)
#undef FUZZ_SHARE
    };
    static constexpr uint64_t all = [] {
        uint64_t sum = 0;
        for (const uint64_t share : shares)
            sum += share;
        return sum;
    }();
    uint64_t at = random.below(all);
    std::size_t i = 0;
    for (; at >= shares[i]; ++i)
        at -= shares[i];
    return static_cast<Call>(i);
}

}  // namespace

const char* name_of(Call call) {
    static constexpr std::array names{
#define FUZZ_NAME(name, share) #name,
        FUZZ_CALLS(FUZZ_NAME)
#undef FUZZ_NAME
    };
    return names[static_cast<std::size_t>(call)];
}

void Caller::finding(Call call, const char* what, long value) {
    if (desk_.tally->findings.fetch_add(1) >= 10) return;
    std::printf("FAIL seed %llu, %s thread %u, call %llu: %s %s %ld%s%s\n",
                static_cast<unsigned long long>(desk_.seed), desk_.role, number_,
                static_cast<unsigned long long>(calls_), name_of(call), what, value,
                value < 0 ? ": " : "", value < 0 ? std::strerror(static_cast<int>(-value)) : "");
    std::fflush(stdout);
}

void Caller::judge(Call call, long result, int error) {
    const int ended = result < 0 ? error : 0;
    ++desk_.tally->ended[static_cast<std::size_t>(call)]
                        [std::min<std::size_t>(static_cast<std::size_t>(ended), n_errors - 1)];
    if (result >= 0 && !may_work(call, desk_.trusted)) finding(call, "worked, with", result);
    if (result < 0 && !may_fail_with(call, error, desk_.trusted))
        finding(call, "failed with", -error);
}

uint64_t Caller::offset() {
    return random_.one_in(2) ? 0 : random_.one_in(2) ? random_.below(1 << 20) : random_.edge();
}

std::size_t Caller::length() {
    return random_.one_in(8)   ? random_.edge()
           : random_.one_in(4) ? random_.below(512)
                               : random_.below(1 << 20);
}

long Caller::query(int fd) {
    lt_query query = make_query(random_, memory_);
    spoil(random_, query);
    return ioctl(fd, LT_IOC_QUERY, memory_.put(random_, query));
}

long Caller::teach(int fd) {
    lt_teach lesson = make_lesson(random_, memory_, pupil_, desk_.code);
    spoil(random_, lesson);
    return ioctl(fd, LT_IOC_TEACH, memory_.put(random_, lesson));
}

long Caller::misses(int fd) {
    lt_misses misses = make_misses(random_, memory_, desk_.events);
    std::array<lt_miss, LT_MAX_MISSES> taken{};
    const bool learns = random_.one_in(2);
    if (learns)
        misses.misses = reinterpret_cast<uintptr_t>(taken.data());
    else
        spoil(random_, misses);
    const long result = ioctl(fd, LT_IOC_MISSES, learns ? &misses : memory_.put(random_, misses));
    if (result == 0 && learns && misses.n > 0 && misses.n <= taken.size()) {
        const lt_miss& miss = taken[random_.below(misses.n)];
        pupil_ = {miss.pid, miss.exec_id, miss.start_ns, miss.pc};
    }
    return result;
}

long Caller::registers(int fd) {
    lt_regs registers = make_registers(random_, desk_.sleeper);
    const bool learns = random_.one_in(2);
    if (!learns) spoil(random_, registers);
    const long result =
        ioctl(fd, LT_IOC_REGS, learns ? &registers : memory_.put(random_, registers));
    if (result == 0 && learns)
        pupil_ = {registers.pid, registers.exec_id, registers.start_ns,
                  random_.one_in(2) ? registers.pc : 0};
    return result;
}

long Caller::write_command(int fd, bool at_offset) {
    const std::string text = desk_.trusted && desk_.keep_figures ? "" : make_command(random_);
    const std::byte* from = memory_.put(random_, std::as_bytes(std::span(text)));
    const std::size_t bytes = desk_.trusted && desk_.keep_figures ? 0
                              : random_.one_in(16)                ? length()
                                                                  : text.size();
    return at_offset ? pwrite(fd, from, bytes, static_cast<off_t>(offset()))
                     : write(fd, from, bytes);
}

long Caller::read_vector(int fd) {
    std::array<iovec, 5> parts{};
    for (iovec& part : parts)
        part = {memory_.any(random_, 4096), random_.one_in(4) ? length() : random_.below(4096)};
    const int n = random_.one_in(16) ? static_cast<int>(random_.edge32() % 4096) : 5;
    return random_.one_in(2)
               ? readv(fd, parts.data(), std::min(n, 5))
               : preadv(fd, parts.data(), std::min(n, 5), static_cast<off_t>(offset()));
}

long Caller::map(int fd) {
    void* const at = mmap(nullptr, 1 + length() % (1UL << 40), static_cast<int>(random_.below(8)),
                          random_.one_in(2) ? MAP_SHARED : MAP_PRIVATE, fd,
                          static_cast<off_t>(offset() & ~4095ULL));
    return at == MAP_FAILED ? -1 : 0;
}

/// Another descriptor in a slot; the one before is closed, whoever is within a call on it.
void Caller::replace(int fd) {
    const int old = slot().exchange(fd);
    if (old >= 0) close(old);
}

long Caller::open_one() {
    int flags = random_.pick({O_RDONLY, O_RDWR, O_WRONLY}) | O_CLOEXEC;
    if (random_.one_in(4))
        flags |=
            random_.pick({O_TRUNC, O_APPEND, O_NONBLOCK, O_DIRECT, O_DIRECTORY, O_NOATIME, O_SYNC,
                          O_CREAT, O_CREAT | O_EXCL, O_NOFOLLOW, O_ASYNC, O_PATH, O_ACCMODE});
    const int fd = open(LT_PROC_PATH, flags, 0);
    if (fd >= 0) replace(fd);
    return fd;
}

long Caller::close_one() {
    const int fd = slot().exchange(-1);
    return fd < 0 ? 0 : close(fd);
}

long Caller::dup_one(int fd) {
    const int other = dup(fd);
    if (other >= 0) replace(other);
    return other;
}

/// Sends one, and takes what another process sent.
long Caller::pass_one(int fd) {
    char byte = 0;
    iovec part{&byte, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &fd, sizeof(int));
    if (random_.one_in(2)) return sendmsg(desk_.sockets[0], &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    message.msg_controllen = control.size();
    const ssize_t got = recvmsg(desk_.sockets[1], &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    const cmsghdr* const came = got >= 0 ? CMSG_FIRSTHDR(&message) : nullptr;
    if (came != nullptr && came->cmsg_type == SCM_RIGHTS) {
        int other = -1;
        std::memcpy(&other, CMSG_DATA(came), sizeof(int));
        replace(other);
    }
    return got;
}

/// A descriptor that nobody else has, used as it should be: what it yields must be right.
long Caller::take_snapshot() {
    const int fd = open(LT_PROC_PATH, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fd;
    lt_query query{};
    query.size = sizeof(query);
    query.view = LT_VIEW_RECORDS;
    query.traces = LT_TRACES_ALL;
    query.limit = static_cast<uint32_t>(1 + random_.below(200));
    query.uid = LT_UID_ANY;
    long result = ioctl(fd, LT_IOC_QUERY, &query);
    auto* const header = reinterpret_cast<lt_header*>(memory_.scratch());
    if (result == 0) result = pread(fd, header, Memory::scratch_bytes, 0);
    const int error = errno;
    close(fd);
    errno = error;
    if (result < 0) return result;
    const lt_section& tasks = header->section[LT_SEC_TASKS];
    const lt_section& entries = header->section[LT_SEC_ENTRIES];
    if (header->magic != LT_MAGIC || tasks.count > query.limit)
        finding(Call::snapshot, "is none, of bytes", result);
    if (header->total_bytes > static_cast<uint64_t>(result)) return result;  // it does not fit
    for (uint32_t i = 0; i < tasks.count; ++i) {
        const auto* const task =
            reinterpret_cast<const lt_task_rec*>(memory_.scratch() + tasks.offset) + i;
        const auto* const entry =
            reinterpret_cast<const lt_entry_rec*>(memory_.scratch() + entries.offset) +
            task->first_entry;
        uint64_t blocked_ns = 0, sleeps = 0;
        for (uint32_t j = 0; j < task->n_entries; ++j) {
            blocked_ns += entry[j].blocked_ns;
            sleeps += entry[j].sleeps;
        }
        if (task->kind != LT_KIND_OTHER &&
            (blocked_ns != task->blocked_ns || sleeps != task->sleeps))
            finding(Call::snapshot, "has traces that do not add up, of pid", task->pid);
    }
    return result;
}

void Caller::make(Call call, int fd) {
    long result = 0;
    errno = 0;
    switch (call) {
        case Call::query: result = query(fd); break;
        case Call::teach: result = teach(fd); break;
        case Call::misses: result = misses(fd); break;
        case Call::registers: result = registers(fd); break;
        case Call::unknown_ioctl:
            // Of lattop's type: some others the kernel itself knows, for every file
            result = ioctl(
                fd, 1UL << 16 | ('L' << 8) | random_.below(256) | (random_.edge32() & ~0xffffU),
                memory_.any(random_, 64));
            break;
        case Call::read: result = read(fd, memory_.any(random_, 4096), length()); break;
        case Call::pread:
            result = pread(fd, memory_.any(random_, 4096), length(), static_cast<off_t>(offset()));
            break;
        case Call::readv: result = read_vector(fd); break;
        case Call::write: result = write_command(fd, false); break;
        case Call::pwrite: result = write_command(fd, true); break;
        case Call::lseek:
            result = lseek(fd, static_cast<off_t>(offset()), static_cast<int>(random_.below(6)));
            break;
        case Call::poll: {
            pollfd one{fd, static_cast<short>(random_.next()), 0};
            result = poll(&one, 1, 0);
            break;
        }
        case Call::mmap: result = map(fd); break;
        case Call::sendfile: {
            auto at = static_cast<off_t>(offset());
            result = sendfile(slot(), fd, &at, length());
            break;
        }
        case Call::fcntl:
            result = fcntl(fd, F_SETFL,
                           random_.pick({0, O_APPEND, O_NONBLOCK, O_ASYNC, O_DIRECT, O_NOATIME}));
            break;
        case Call::open: result = open_one(); break;
        case Call::close: result = close_one(); break;
        case Call::dup: result = dup_one(fd); break;
        case Call::pass: result = pass_one(fd); break;
        case Call::snapshot: result = take_snapshot(); break;
        case Call::count: break;
    }
    judge(call, result, errno);
}

void Caller::call() {
    ++calls_;
    const Call call = choose(random_);
    int fd = slot();
    for (int tries = 0; fd < 0 && tries < 8; ++tries)
        fd = slot();
    make(call, fd);
}

}  // namespace fuzz
