// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace oracle {
namespace {

std::size_t read_at(int fd, std::span<std::byte> into, std::size_t offset) {
    const ssize_t got = pread(fd, into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0)
        throw SnapshotError(
            fmt::format("pread of {} bytes at {}: {}", into.size(), offset, std::strerror(errno)));
    return static_cast<std::size_t>(got);
}

}  // namespace

void Snapshot::check_section(lt_sec section, std::size_t least_bytes) const {
    const lt_section& where = header().section[section];
    const uint64_t end = where.offset + uint64_t{where.count} * where.record_bytes;
    if (where.record_bytes < least_bytes || where.offset % 8 || end > bytes_.size() ||
        end < where.offset)
        throw SnapshotError(
            fmt::format("section {}: {} records of {} bytes at {} in a snapshot of {} bytes",
                        static_cast<int>(section), where.count, where.record_bytes, where.offset,
                        bytes_.size()));
}

Snapshot::Snapshot(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {
    if (bytes_.size() < sizeof(lt_header)) throw SnapshotError("shorter than its header");
    const lt_header& head = header();
    if (head.magic != LT_MAGIC || head.version != LT_VERSION || head.section_nr < LT_SEC_NR ||
        head.header_bytes < sizeof(lt_header) || head.total_bytes != bytes_.size())
        throw SnapshotError(fmt::format("header: magic {:#x} version {} sections {} bytes {} of {}",
                                        head.magic, head.version, head.section_nr,
                                        head.header_bytes, head.total_bytes));
    check_section(LT_SEC_TASKS, sizeof(lt_task_rec));
    check_section(LT_SEC_ENTRIES, sizeof(lt_entry_rec));
    check_section(LT_SEC_TRACES, sizeof(lt_trace_rec));
    check_section(LT_SEC_FRAMES, sizeof(uint64_t));
    check_section(LT_SEC_KSYMS, sizeof(lt_ksym_rec));
    check_section(LT_SEC_STRINGS, 1);
    const lt_section& strings = head.section[LT_SEC_STRINGS];
    if (strings.count == 0 || *at<char>(strings.offset) != 0 ||
        *at<char>(strings.offset + strings.count - 1) != 0)
        throw SnapshotError("the strings do not begin and end with NUL");
}

std::string_view Snapshot::string(uint32_t offset) const {
    if (offset >= count(LT_SEC_STRINGS))
        throw SnapshotError(fmt::format("string {} of {}", offset, count(LT_SEC_STRINGS)));
    return at<char>(header().section[LT_SEC_STRINGS].offset + offset);
}

const lt_waker_rec& Snapshot::waker(uint32_t i) const {
    const lt_section& where = header().wakers;
    const uint64_t begin = where.offset + uint64_t{i} * where.record_bytes;
    if (i >= where.count || where.record_bytes < sizeof(lt_waker_rec) || where.offset % 8 ||
        begin + sizeof(lt_waker_rec) > bytes_.size())
        throw SnapshotError(fmt::format("waker {} of {}", i, where.count));
    return *at<lt_waker_rec>(begin);
}

std::vector<std::string_view> Snapshot::kernel_frames(const lt_trace_rec& trace) const {
    std::vector<std::string_view> names;
    for (uint32_t i = 0; i < trace.nr_kernel; ++i) {
        const auto frame = record<uint64_t>(LT_SEC_FRAMES, trace.first_frame + i);
        const auto symbol = static_cast<uint32_t>(frame >> 32);
        if (symbol >= count(LT_SEC_KSYMS))
            throw SnapshotError(fmt::format("ksym {} of {}", symbol, count(LT_SEC_KSYMS)));
        names.push_back(string(record<lt_ksym_rec>(LT_SEC_KSYMS, symbol).name));
    }
    return names;
}

std::vector<uint64_t> Snapshot::user_frames(const lt_trace_rec& trace) const {
    std::vector<uint64_t> frames;
    for (uint32_t i = 0; i < trace.nr_user; ++i)
        frames.push_back(record<uint64_t>(LT_SEC_FRAMES, trace.first_frame + trace.nr_kernel + i));
    return frames;
}

LattopFile::LattopFile(lt_traces traces) : fd_(open(LT_PROC_PATH, O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) throw SnapshotError(fmt::format("{}: {}", LT_PROC_PATH, std::strerror(errno)));
    lt_query query{};
    query.size = sizeof(query);
    query.view = LT_VIEW_RECORDS;
    query.sort = LT_SORT_BLOCKED;
    query.limit = LT_MAX_LIMIT;
    query.traces = traces;
    query.uid = LT_UID_ANY;
    if (ioctl(fd_, LT_IOC_QUERY, &query) < 0)
        throw SnapshotError(fmt::format("LT_IOC_QUERY: {}", std::strerror(errno)));
}

LattopFile::~LattopFile() {
    close(fd_);
}

Snapshot LattopFile::read() {
    std::vector<std::byte> bytes(last_bytes_);
    std::size_t got = read_at(fd_, bytes, 0);
    if (got < sizeof(lt_header)) throw SnapshotError(fmt::format("pread gave {} bytes", got));
    lt_header head;
    std::memcpy(&head, bytes.data(), sizeof(head));
    if (head.total_bytes > (uint64_t{1} << 32)) throw SnapshotError("a snapshot of over 4 GB");
    bytes.resize(head.total_bytes);
    // What did not fit lies behind it in the same snapshot
    while (got < bytes.size()) {
        const std::size_t more = read_at(fd_, std::span(bytes).subspan(got), got);
        if (more == 0)
            throw SnapshotError(fmt::format("ends after {} of {} bytes", got, bytes.size()));
        got += more;
    }
    last_bytes_ = std::max(last_bytes_, bytes.size() + bytes.size() / 4);
    return Snapshot(std::move(bytes));
}

std::string name_of(const lt_task_rec& task) {
    const char* end = static_cast<const char*>(std::memchr(task.comm, 0, sizeof(task.comm)));
    const auto length = end ? static_cast<std::size_t>(end - task.comm) : sizeof(task.comm);
    return fmt::format("{} {}", task.pid, std::string_view(task.comm, length));
}

}  // namespace oracle
