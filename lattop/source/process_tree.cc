// SPDX-License-Identifier: GPL-2.0-or-later
//
// See process_tree.h, perf_event_open(2).
#include "lattop/source/process_tree.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "lattop/source/error.h"
#include "unwind/unique_fd.h"

namespace lattop {
namespace {

/// A power of two, as the kernel asks.
constexpr std::size_t kDataPages = 32;

/// A task's start is stamped when it is nearly made, the record of its fork
/// when it is: by any measure less than this apart, and no pid comes around
/// again so soon.
constexpr std::uint64_t kApartNs = 1'000'000'000;

struct ForkRecord {
    std::uint32_t pid, ppid;
    std::uint32_t tid, ptid;
    std::uint64_t time_ns;
};

struct LostRecord {
    std::uint64_t id;
    std::uint64_t lost;
};

template <typename Record>
Record read_record(std::span<const std::byte> record) {
    Record result{};
    if (record.size() < sizeof(perf_event_header) + sizeof(result))
        throw FormatError("a record of perf_event_open is too short");
    std::memcpy(&result, record.data() + sizeof(perf_event_header), sizeof(result));
    return result;
}

int open_event(pid_t root, int cpu) {
    perf_event_attr attributes{};
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.size = sizeof(attributes);
    attributes.config = PERF_COUNT_SW_DUMMY;
    attributes.inherit = 1;
    attributes.task = 1;  // forks and exits
    attributes.exclude_kernel = 1;
    attributes.use_clockid = 1;
    attributes.clockid = CLOCK_BOOTTIME;  // as the module stamps starts
    return static_cast<int>(
        ::syscall(SYS_perf_event_open, &attributes, root, cpu, -1, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

void TreeMembers::take(std::span<const std::byte> records) {
    while (!records.empty()) {
        perf_event_header header{};
        if (records.size() < sizeof(header))
            throw FormatError("a record of perf_event_open is too short");
        std::memcpy(&header, records.data(), sizeof(header));
        if (header.size < sizeof(header) || header.size > records.size())
            throw FormatError("a record of perf_event_open has no sensible size");
        const auto record = records.first(header.size);
        if (header.type == PERF_RECORD_FORK) {
            const auto fork = read_record<ForkRecord>(record);
            forked_.emplace(fork.tid, fork.time_ns);
            ++forks_;
            if (fork.pid == fork.tid) processes_.push_back(fork.pid);
        } else if (header.type == PERF_RECORD_LOST) {
            lost_ += read_record<LostRecord>(record).lost;
        }
        records = records.subspan(header.size);
    }
}

bool TreeMembers::contains(const Task& task) const {
    if (task.kind != LT_KIND_TASK) return false;
    if (task.pid == root_) return true;  // not reaped while it is watched
    const auto [from, to] = forked_.equal_range(task.pid);
    return std::any_of(from, to, [&](const auto& fork) {
        const std::uint64_t at = fork.second;
        return at > task.start_ns ? at - task.start_ns < kApartNs : task.start_ns - at < kApartNs;
    });
}

struct ProcessTree::Ring {
    UniqueFd fd;
    std::size_t page = 0;
    std::byte* base = nullptr;
    std::vector<std::byte> taken{};

    Ring(pid_t root, int cpu) : fd(open_event(root, cpu)) {
        if (!fd) return;
        page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
        void* mapped = ::mmap(nullptr, (1 + kDataPages) * page, PROT_READ | PROT_WRITE, MAP_SHARED,
                              fd.get(), 0);
        if (mapped == MAP_FAILED)
            fd.reset();
        else
            base = static_cast<std::byte*>(mapped);
    }
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;
    ~Ring() {
        if (base != nullptr) ::munmap(base, (1 + kDataPages) * page);
    }

    /// What the kernel wrote since the last call, in one piece.
    std::span<const std::byte> take() {
        auto* control = reinterpret_cast<perf_event_mmap_page*>(base);
        const std::uint64_t head =
            std::atomic_ref(control->data_head).load(std::memory_order_acquire);
        const std::uint64_t tail = control->data_tail;
        const std::size_t size = kDataPages * page;
        taken.resize(head - tail);
        const std::size_t at = tail % size;
        const std::size_t first = std::min<std::size_t>(taken.size(), size - at);
        if (!taken.empty()) {
            std::memcpy(taken.data(), base + page + at, first);
            std::memcpy(taken.data() + first, base + page, taken.size() - first);
        }
        std::atomic_ref(control->data_tail).store(head, std::memory_order_release);
        return taken;
    }
};

ProcessTree::ProcessTree(pid_t root) : members_(static_cast<std::uint32_t>(root)) {
    const auto cpus = static_cast<int>(::sysconf(_SC_NPROCESSORS_CONF));
    int error = 0;
    for (int cpu = 0; cpu < cpus; ++cpu) {
        auto ring = std::make_unique<Ring>(root, cpu);
        if (ring->base != nullptr)
            rings_.push_back(std::move(ring));
        else if (errno != ENODEV)  // a CPU that is offline
            error = errno;
    }
    if (error == 0 && !rings_.empty()) return;
    throw Error(fmt::format("cannot follow the command's children: perf_event_open: {}",
                            std::strerror(error == 0 ? ENODEV : error)),
                "run as root; or let users: sysctl kernel.perf_event_paranoid=2");
}

ProcessTree::~ProcessTree() = default;

void ProcessTree::update() {
    for (const auto& ring : rings_)
        members_.take(ring->take());
}

}  // namespace lattop
