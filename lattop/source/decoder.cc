// SPDX-License-Identifier: GPL-2.0-or-later
//
// See decoder.h. Each step reads one section; what one record says about
// another is checked as soon as both are known.
#include "lattop/source/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_map>

#include "lattop/source/cursor.h"

namespace lattop {
namespace {

constexpr const char* kSectionName[LT_SEC_NR] = {"tasks",  "entries", "traces",
                                                 "frames", "ksyms",   "strings"};

/// Of the first release; what came later is 0 in its snapshots, and in recordings of them.
constexpr std::size_t kLeastHeader = offsetof(lt_header, wakers);

lt_header read_header(std::span<const std::byte> bytes) {
    lt_header header{};
    if (bytes.size() < sizeof(header.magic))
        throw FormatError(fmt::format("{} bytes hold no header", bytes.size()));
    std::memcpy(&header.magic, bytes.data(), sizeof(header.magic));
    if (header.magic != LT_MAGIC)
        throw FormatError(fmt::format("it begins with {:#010x}, not with lattop's {:#010x}",
                                      header.magic, LT_MAGIC));
    if (bytes.size() < offsetof(lt_header, header_bytes))
        throw FormatError(fmt::format("{} bytes hold no header", bytes.size()));
    std::memcpy(&header.version, bytes.data() + offsetof(lt_header, version),
                sizeof(header.version));
    if (header.version != LT_VERSION)
        throw NotUsableError(
            fmt::format("the module speaks version {} of the record view, this lattop version {}",
                        header.version, static_cast<int>(LT_VERSION)),
            "install module and lattop of the same release, then: rmmod lattop; modprobe lattop");
    if (bytes.size() < offsetof(lt_header, section_nr))
        throw FormatError(fmt::format("{} bytes hold no header", bytes.size()));
    std::memcpy(&header.header_bytes, bytes.data() + offsetof(lt_header, header_bytes),
                sizeof(header.header_bytes));
    const std::size_t size = std::min<std::size_t>(header.header_bytes, sizeof(header));
    if (bytes.size() < std::max(size, kLeastHeader))
        throw FormatError(fmt::format("{} bytes, the header alone has {}", bytes.size(),
                                      std::max(size, kLeastHeader)));
    std::memcpy(&header, bytes.data(), size);
    if (size < kLeastHeader || header.section_nr < LT_SEC_NR)
        throw FormatError(fmt::format("its header has {} bytes and {} sections, {} and {} needed",
                                      header.header_bytes, header.section_nr, kLeastHeader,
                                      static_cast<int>(LT_SEC_NR)));
    if (header.total_bytes < header.header_bytes)
        throw FormatError(fmt::format("total_bytes {} is less than its header's {}",
                                      header.total_bytes, header.header_bytes));
    return header;
}

/// Sections that stand in each other would be several times what the bytes hold, once decoded. One
/// that is larger than all of them is refused by its name, where it is opened.
void check_sections(const lt_header& header) {
    std::uint64_t all = header.header_bytes;
    const auto add = [&](std::uint64_t bytes) {
        if (bytes <= header.total_bytes) all += bytes;
    };
    for (int which = 0; which < LT_SEC_NR; ++which)
        if (which != LT_SEC_STRINGS)
            add(std::uint64_t{header.section[which].count} * header.section[which].record_bytes);
    add(header.section[LT_SEC_STRINGS].count);
    for (const lt_section& section : {header.wakers, header.users})
        add(std::uint64_t{section.count} * section.record_bytes);
    if (all > header.total_bytes)
        throw FormatError(fmt::format("its header and sections have {} bytes together, of {}", all,
                                      header.total_bytes));
}

std::span<const std::byte> section_bytes(std::span<const std::byte> bytes,
                                         const lt_section& section, const char* name) {
    if (section.offset > bytes.size())
        throw FormatError(
            fmt::format("{} begin at {} of {} bytes", name, section.offset, bytes.size()));
    return bytes.subspan(section.offset);
}

template <typename Record>
RecordCursor<Record> open_section(std::span<const std::byte> bytes, const lt_header& header,
                                  lt_sec which) {
    const lt_section& section = header.section[which];
    const char* name = kSectionName[which];
    return {section_bytes(bytes, section, name), name, section.count, section.record_bytes};
}

template <std::size_t N>
std::string fixed_string(const char (&chars)[N]) {
    return {chars, strnlen(chars, N)};
}

Header decode_header(const lt_header& raw) {
    Header header;
    header.time_ns = raw.time_ns;
    header.since_ns = raw.since_ns;
    header.hook = fixed_string(raw.hook);
    header.release = fixed_string(raw.release);
    header.tasks_total = raw.tasks_total;
    header.tasks_matched = raw.tasks_matched;
    std::copy(std::begin(raw.limit), std::end(raw.limit), header.limit.begin());
    std::copy(std::begin(raw.used), std::end(raw.used), header.used.begin());
    header.memory_bytes = raw.memory_bytes;
    header.hooks_ns = raw.hooks_ns;
    header.user_share = raw.user_share;
    std::copy(std::begin(raw.share), std::end(raw.share), header.share.begin());
    std::copy(std::begin(raw.lost), std::end(raw.lost), header.lost.begin());
    return header;
}

std::vector<char> decode_strings(std::span<const std::byte> bytes, const lt_header& header) {
    const lt_section& section = header.section[LT_SEC_STRINGS];
    const auto from = section_bytes(bytes, section, "strings");
    if (section.count > from.size())
        throw FormatError(
            fmt::format("strings: {} bytes do not fit in {}", section.count, from.size()));
    std::vector<char> strings(section.count);
    if (!strings.empty()) std::memcpy(strings.data(), from.data(), strings.size());
    if (!strings.empty() && strings.back() != '\0')
        throw FormatError("strings: the last one does not end");
    return strings;
}

/// With their NULs, of any kernel: KSYM_NAME_LEN and MODULE_NAME_LEN.
constexpr std::size_t kFunctionName = 512;
constexpr std::size_t kModuleName = 56;
/// PATH_MAX of the cgroup itself, and "/.." for each of the 2,047 that the reader's may be deep.
constexpr std::size_t kCgroupPath = 3 * std::size_t{4096};

/// A string that has less than `most` bytes. Looks at no more of them than that: records that
/// name one string are as many as the bytes hold.
template <typename Record>
std::string_view string_at(const std::vector<char>& strings, std::uint32_t offset, std::size_t most,
                           const RecordCursor<Record>& cursor) {
    if (offset >= strings.size())
        throw FormatError(
            fmt::format("{}: string {} of {} bytes", cursor.where(), offset, strings.size()));
    // Only whole ones are names: so all of them together are as long as the bytes hold
    if (offset != 0 && strings[offset - 1] != '\0')
        throw FormatError(
            fmt::format("{}: string {} begins within another", cursor.where(), offset));
    const char* const text = strings.data() + offset;
    const std::size_t size = strnlen(text, most);
    if (size == most)
        throw FormatError(
            fmt::format("{}: string {} has {} bytes or more", cursor.where(), offset, most));
    return {text, size};
}

/// The paths of cgroups, each kept once, however many tasks name it.
class Paths {
public:
    explicit Paths(const std::vector<char>& strings) : strings_(strings) {}

    std::shared_ptr<const std::string> at(std::uint32_t offset,
                                          const RecordCursor<lt_task_rec>& cursor) {
        if (offset == 0) return nullptr;
        std::shared_ptr<const std::string>& path = paths_[offset];
        if (path) return path;
        return path =
                   std::make_shared<std::string>(string_at(strings_, offset, kCgroupPath, cursor));
    }

private:
    const std::vector<char>& strings_;
    std::unordered_map<std::uint32_t, std::shared_ptr<const std::string>> paths_;
};

/// A kernel and its modules have some hundred thousand. They are short as records, and four times
/// as long here.
constexpr std::uint32_t kMaxKernelSymbols = 1U << 22;

std::vector<KernelSymbol> decode_ksyms(RecordCursor<lt_ksym_rec> cursor,
                                       const std::vector<char>& strings) {
    if (cursor.count() > kMaxKernelSymbols)
        throw FormatError(fmt::format("ksyms: {} functions of the kernel, {} at most",
                                      cursor.count(), kMaxKernelSymbols));
    std::vector<KernelSymbol> symbols;
    symbols.reserve(cursor.count());
    while (!cursor.done()) {
        const auto raw = cursor.next();
        symbols.push_back({string_at(strings, raw.name, kFunctionName, cursor),
                           string_at(strings, raw.module, kModuleName, cursor)});
    }
    return symbols;
}

std::vector<std::uint64_t> decode_frames(RecordCursor<std::uint64_t> cursor) {
    std::vector<std::uint64_t> frames;
    frames.reserve(cursor.count());
    while (!cursor.done())
        frames.push_back(cursor.next());
    return frames;
}

/// Of a stack; the module keeps 127 and 1,024 at most, whatever its parameters are.
constexpr std::uint32_t kMaxKernelFrames = 512;
constexpr std::uint32_t kMaxUserFrames = 4096;

std::vector<Trace> decode_traces(RecordCursor<lt_trace_rec> cursor,
                                 const std::vector<std::uint64_t>& frames, std::size_t n_ksyms) {
    std::vector<Trace> traces;
    traces.reserve(cursor.count());
    std::uint64_t all = 0;
    while (!cursor.done()) {
        const auto raw = cursor.next();
        // What looks for a stack's reason, or draws it, counts on stacks that end
        if (raw.nr_kernel > kMaxKernelFrames || raw.nr_user > kMaxUserFrames)
            throw FormatError(fmt::format("{}: {} kernel and {} user frames of one stack",
                                          cursor.where(), raw.nr_kernel, raw.nr_user));
        const std::uint64_t end = std::uint64_t{raw.first_frame} + raw.nr_kernel + raw.nr_user;
        if (end > frames.size())
            throw FormatError(
                fmt::format("{}: frames up to {} of {}", cursor.where(), end, frames.size()));
        // Each frame is of one trace, so that all of them together are as many as the bytes hold
        all += raw.nr_kernel + raw.nr_user;
        if (all > frames.size())
            throw FormatError(fmt::format("{}: more frames than there are: some are of two traces",
                                          cursor.where()));
        for (std::uint32_t i = 0; i < raw.nr_kernel; ++i) {
            const std::uint64_t ksym = frames[raw.first_frame + i] >> kKsymShift;
            if (ksym >= n_ksyms)
                throw FormatError(
                    fmt::format("{}: kernel function {} of {}", cursor.where(), ksym, n_ksyms));
        }
        traces.push_back(
            {raw.id, raw.first_frame, raw.nr_kernel, raw.nr_user, raw.syscall, raw.flags});
    }
    return traces;
}

template <typename Record>
void check_trace(const RecordCursor<Record>& cursor, std::uint32_t trace, std::size_t n_traces) {
    if (trace != LT_TRACE_OTHER && trace >= n_traces)
        throw FormatError(fmt::format("{}: trace {} of {}", cursor.where(), trace, n_traces));
}

std::vector<Waker> decode_wakers(RecordCursor<lt_waker_rec> cursor, std::size_t n_traces) {
    std::vector<Waker> wakers;
    wakers.reserve(cursor.count());
    while (!cursor.done()) {
        const auto raw = cursor.next();
        check_trace(cursor, raw.trace, n_traces);
        check_trace(cursor, raw.waited_trace, n_traces);
        wakers.push_back({raw.trace, raw.kind, raw.pid, raw.tgid, raw.start_ns, raw.exec_id,
                          fixed_string(raw.comm), raw.blocked_ns, raw.max_ns, raw.sleeps,
                          raw.waited_trace, raw.waited_ns});
    }
    return wakers;
}

std::vector<Entry> decode_entries(RecordCursor<lt_entry_rec> cursor, std::size_t n_traces,
                                  std::size_t n_wakers) {
    std::vector<Entry> entries;
    entries.reserve(cursor.count());
    std::uint64_t wakers_before = 0;
    while (!cursor.done()) {
        const auto raw = cursor.next();
        check_trace(cursor, raw.trace, n_traces);
        const std::uint64_t wakers_end = std::uint64_t{raw.first_waker} + raw.n_wakers;
        if (wakers_end > n_wakers)
            throw FormatError(
                fmt::format("{}: wakers up to {} of {}", cursor.where(), wakers_end, n_wakers));
        // Each waker is of one entry, so that all of them together are as many as the bytes hold
        if (raw.n_wakers != 0 && raw.first_waker < wakers_before)
            throw FormatError(fmt::format("{}: wakers from {} on, another entry has those up to {}",
                                          cursor.where(), raw.first_waker, wakers_before));
        if (raw.n_wakers != 0) wakers_before = wakers_end;
        Entry& entry = entries.emplace_back();
        entry.trace = raw.trace;
        entry.flags = raw.flags;
        entry.exec_id = raw.exec_id;
        entry.blocked_ns = raw.blocked_ns;
        entry.ongoing_ns = raw.ongoing_ns;
        entry.max_ns = raw.max_ns;
        entry.sleeps = raw.sleeps;
        std::copy(std::begin(raw.hist), std::end(raw.hist), entry.hist.begin());
        entry.first_waker = raw.first_waker;
        entry.n_wakers = raw.n_wakers;
    }
    return entries;
}

Task decode_task(const lt_task_rec& raw) {
    Task task;
    task.pid = raw.pid;
    task.tgid = raw.tgid;
    task.uid = raw.uid;
    task.kind = raw.kind;
    task.start_ns = raw.start_ns;
    task.comm = fixed_string(raw.comm);
    task.state = raw.state > ' ' && raw.state < 0x7f ? static_cast<char>(raw.state) : '?';
    task.flags = raw.flags;
    task.blocked_ns = raw.blocked_ns;
    task.ongoing_ns = raw.ongoing_ns;
    task.max_ns = raw.max_ns;
    task.sleeps = raw.sleeps;
    task.runq_ns = raw.runq_ns;
    task.runs = raw.runs;
    task.exec_id = raw.exec_id;
    task.first_entry = raw.first_entry;
    task.n_entries = raw.n_entries;
    task.traces_total = raw.traces_total;
    return task;
}

std::vector<UserHoldings> decode_users(RecordCursor<lt_user_rec> cursor) {
    std::vector<UserHoldings> users;
    users.reserve(cursor.count());
    while (!cursor.done()) {
        const auto raw = cursor.next();
        users.push_back({raw.uid, {}});
        std::copy(std::begin(raw.held), std::end(raw.held), users.back().held.begin());
    }
    return users;
}

std::vector<Task> decode_tasks(RecordCursor<lt_task_rec> cursor, std::size_t n_entries,
                               const std::vector<char>& strings) {
    std::vector<Task> tasks;
    Paths paths(strings);
    tasks.reserve(cursor.count());
    std::uint64_t all = 0;
    while (!cursor.done()) {
        const auto raw = cursor.next();
        const std::uint64_t end = std::uint64_t{raw.first_entry} + raw.n_entries;
        if (end > n_entries)
            throw FormatError(
                fmt::format("{}: entries up to {} of {}", cursor.where(), end, n_entries));
        // Each entry is of one task: as above
        all += raw.n_entries;
        if (all > n_entries)
            throw FormatError(fmt::format("{}: more entries than there are: some are of two tasks",
                                          cursor.where()));
        tasks.push_back(decode_task(raw));
        tasks.back().cgroup_path = paths.at(raw.cgroup, cursor);
    }
    return tasks;
}

}  // namespace

std::uint64_t total_bytes(std::span<const std::byte> bytes) {
    return read_header(bytes).total_bytes;
}

Snapshot decode(std::span<const std::byte> bytes) {
    const lt_header header = read_header(bytes);
    if (header.total_bytes > bytes.size())
        throw FormatError(
            fmt::format("{} of its {} bytes are there", bytes.size(), header.total_bytes));
    bytes = bytes.first(header.total_bytes);
    check_sections(header);

    Snapshot snapshot;
    snapshot.header = decode_header(header);
    snapshot.strings = decode_strings(bytes, header);
    if (header.filter >= snapshot.strings.size())
        throw FormatError(fmt::format("its filter is string {} of {} bytes", header.filter,
                                      snapshot.strings.size()));
    snapshot.header.filter = snapshot.strings.data() + header.filter;
    snapshot.ksyms =
        decode_ksyms(open_section<lt_ksym_rec>(bytes, header, LT_SEC_KSYMS), snapshot.strings);
    snapshot.frames = decode_frames(open_section<std::uint64_t>(bytes, header, LT_SEC_FRAMES));
    snapshot.traces = decode_traces(open_section<lt_trace_rec>(bytes, header, LT_SEC_TRACES),
                                    snapshot.frames, snapshot.ksyms.size());
    snapshot.wakers = decode_wakers({section_bytes(bytes, header.wakers, "wakers"), "wakers",
                                     header.wakers.count, header.wakers.record_bytes},
                                    snapshot.traces.size());
    snapshot.header.users = decode_users({section_bytes(bytes, header.users, "users"), "users",
                                          header.users.count, header.users.record_bytes});
    snapshot.entries = decode_entries(open_section<lt_entry_rec>(bytes, header, LT_SEC_ENTRIES),
                                      snapshot.traces.size(), snapshot.wakers.size());
    snapshot.tasks = decode_tasks(open_section<lt_task_rec>(bytes, header, LT_SEC_TASKS),
                                  snapshot.entries.size(), snapshot.strings);
    return snapshot;
}

}  // namespace lattop
