// SPDX-License-Identifier: GPL-2.0-or-later
//
// See resolver_door.h.
#include "lattop/resolver_door.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "lattop/source/error.h"
#include "lattop/source/proc_source.h"

namespace lattop {
namespace {

[[noreturn]] void throw_misses_error(const std::string& path, int error) {
    switch (error) {
        case EPERM:
            throw NotUsableError("only root may teach the module (CAP_SYS_PTRACE)", "try as root");
        case ENOTTY:
        case EINVAL:
        case E2BIG:
            throw NotUsableError(fmt::format("the module behind {} knows no learned rows, or other "
                                             "ones",
                                             path),
                                 "install module and lattop of the same release, then: rmmod "
                                 "lattop; modprobe lattop");
        case ENOMEM:
        case EAGAIN:
            throw PassingError(fmt::format("{} gave no misses: {}", path, std::strerror(error)));
        default: throw Error(fmt::format("{} gave no misses: {}", path, std::strerror(error)));
    }
}

/// Whether an ongoing sleep stands under a user stack that rows could complete.
bool wants_rows(const Trace& trace) {
    constexpr std::uint32_t kNothingToDo = LT_TR_COMPLETE | LT_TR_NO_USER | LT_TR_COMPAT;
    constexpr std::uint32_t kUnfinished = LT_TR_MISS | LT_TR_SEEDED | LT_TR_FP;
    return (trace.flags & kNothingToDo) == 0 && (trace.flags & kUnfinished) != 0;
}

}  // namespace

ProcResolverDoor::ProcResolverDoor(std::string path)
    : path_(std::move(path)), ready_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!ready_) throw Error(fmt::format("eventfd: {}", std::strerror(errno)));
    open();
}

void ProcResolverDoor::open() {
    // What is wrong with the file itself is said by who reads snapshots from it.
    ProcSource check(path_);
    fd_ = UniqueFd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd_) throw Error(fmt::format("cannot open {}: {}", path_, std::strerror(errno)));
    lt_misses query{};
    query.size = sizeof(query);
    query.event_fd = ready_.get();
    if (::ioctl(fd_.get(), LT_IOC_MISSES, &query) != 0) throw_misses_error(path_, errno);
}

bool ProcResolverDoor::reopen() {
    try {
        open();
    } catch (const NoModuleError&) {
        return false;
    } catch (const PassingError&) {
        return false;
    }
    return true;
}

std::vector<lt_miss> ProcResolverDoor::take() {
    eventfd_t ignored = 0;
    ::eventfd_read(ready_.get(), &ignored);
    std::vector<lt_miss> misses(LT_MAX_MISSES);
    lt_misses query{};
    query.size = sizeof(query);
    query.n = LT_MAX_MISSES;
    query.misses = reinterpret_cast<std::uintptr_t>(misses.data());
    query.event_fd = ready_.get();
    if (::ioctl(fd_.get(), LT_IOC_MISSES, &query) != 0) {
        if (errno == EINTR) return {};
        // It knew the call when this became a resolver.
        if (errno == ENOTTY)
            throw NoModuleError("lattop's kernel module was unloaded", "load it again");
        throw_misses_error(path_, errno);
    }
    misses.resize(query.n);
    return misses;
}

std::vector<lt_miss> ProcResolverDoor::sleepers() {
    Query query;
    query.limit = LT_MAX_LIMIT;
    query.traces = LT_TRACES_ALL;
    query.flags = LT_Q_ASLEEP | LT_Q_NO_KTHREADS | LT_Q_NO_EXITED;
    const Snapshot snapshot = ProcSource(path_).take(query, Moment::Next);
    std::vector<lt_miss> sleepers;
    for (const Task& task : snapshot.tasks) {
        for (const Entry& entry : snapshot.entries_of(task)) {
            if (!entry.asleep() || entry.exec_id != task.exec_id) continue;
            const Trace* trace = snapshot.trace_of(entry);
            if (trace == nullptr || !wants_rows(*trace)) continue;
            const auto frames = snapshot.user_frames(*trace);
            if (frames.empty()) continue;
            lt_miss miss{};
            miss.pid = task.pid;
            miss.tgid = task.tgid;
            miss.start_ns = task.start_ns;
            miss.exec_id = task.exec_id;
            miss.flags = LT_ROW_EXACT;
            miss.pc = frames.front();
            sleepers.push_back(miss);
        }
    }
    return sleepers;
}

int ProcResolverDoor::teach(const lt_miss& miss, std::span<const lt_row> rows,
                            std::span<const lt_row_range> ranges) {
    lt_teach lesson{};
    lesson.size = sizeof(lesson);
    lesson.pid = miss.pid;
    lesson.start_ns = miss.start_ns;
    lesson.exec_id = miss.exec_id;
    lesson.n_rows = static_cast<__u32>(rows.size());
    lesson.rows = reinterpret_cast<std::uintptr_t>(rows.data());
    lesson.n_ranges = static_cast<__u32>(ranges.size());
    lesson.ranges = reinterpret_cast<std::uintptr_t>(ranges.data());
    return ::ioctl(fd_.get(), LT_IOC_TEACH, &lesson) == 0 ? 0 : errno;
}

}  // namespace lattop
