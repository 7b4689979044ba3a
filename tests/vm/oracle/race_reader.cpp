// SPDX-License-Identifier: GPL-2.0-or-later
// See race_reader.h.
#include "race_reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "poke.h"
#include "poke_people.h"

namespace poke {
namespace {

/// Where test-progs/CMakeLists.txt puts secret-sleeper.
constexpr uint64_t text_begin = 0x5ec00000, text_end = 0x5f000000;

lt_query query_for(const Sought& sought, lt_view view) {
    lt_query query = plain_query();
    query.view = view;
    query.uid = sought.uid;
    query.traces = LT_TRACES_ALL;
    query.flags = LT_Q_NO_KTHREADS;
    return query;
}

/// A snapshot's bytes, in a buffer that is used again: a race is no test of the allocator.
class FastReader {
public:
    explicit FastReader(const Sought& sought) : descriptor_(O_RDONLY) {
        need(descriptor_.query(query_for(sought, LT_VIEW_RECORDS)) == 0, "query");
    }

    void take() {
        for (;;) {
            const ssize_t n = pread(descriptor_.fd(), bytes_.data(), bytes_.size(), 0);
            need(n >= static_cast<ssize_t>(sizeof(lt_header)), "pread");
            if (header().total_bytes <= static_cast<uint64_t>(n)) return;
            bytes_.resize(header().total_bytes * 2);
        }
    }

    [[nodiscard]] const lt_header& header() const { return *at<lt_header>(0); }

    template <typename T>
    [[nodiscard]] const T& record(lt_sec section, uint64_t i) const {
        const lt_section& where = header().section[section];
        return *at<T>(where.offset + i * where.record_bytes);
    }

    [[nodiscard]] uint32_t tasks() const { return header().section[LT_SEC_TASKS].count; }

    [[nodiscard]] const lt_waker_rec& waker(uint64_t i) const {
        return *at<lt_waker_rec>(header().wakers.offset + i * header().wakers.record_bytes);
    }

    /// As a task, or as who woke one.
    [[nodiscard]] bool shows(uint32_t pid) const {
        for (uint32_t i = 0; i < tasks(); ++i)
            if (record<lt_task_rec>(LT_SEC_TASKS, i).pid == pid) return true;
        for (uint32_t i = 0; i < header().wakers.count; ++i)
            if (waker(i).pid == pid || waker(i).tgid == pid) return true;
        return false;
    }

private:
    template <typename T>
    [[nodiscard]] const T* at(uint64_t offset) const {
        return reinterpret_cast<const T*>(bytes_.data() + offset);
    }

    Descriptor descriptor_;
    std::vector<std::byte> bytes_ = std::vector<std::byte>(1 << 20);
};

template <typename Record>
std::string_view name_of(const Record& of) {
    return {of.comm, strnlen(of.comm, sizeof(of.comm))};
}

/// The frames of a trace: none may be secret. How many there are.
template <typename Describe>
uint32_t inspect_trace(const FastReader& snapshot, uint32_t index, Describe&& where) {
    if (index == LT_TRACE_OTHER) return 0;
    const auto& trace = snapshot.record<lt_trace_rec>(LT_SEC_TRACES, index);
    for (uint32_t i = 0; i < trace.nr_user; ++i) {
        const uint64_t pc = snapshot.record<uint64_t>(
            LT_SEC_FRAMES, uint64_t{trace.first_frame} + trace.nr_kernel + i);
        if (pc >= text_begin && pc < text_end)
            leak(fmt::format("frame {:#x} of the secret program, in {}", pc, where()));
    }
    return trace.nr_user;
}

/// Who woke somebody, and what he himself had waited in.
void inspect_waker(const FastReader& snapshot, const lt_waker_rec& by, const Sought& sought) {
    const auto who = [&] {
        return fmt::format("{} {} (exec {}, kind {}), who woke", by.pid, name_of(by), by.exec_id,
                           by.kind);
    };
    const uint32_t frames =
        inspect_trace(snapshot, by.trace, who) + inspect_trace(snapshot, by.waited_trace, who);
    if (sought.wakers_tell && name_of(by) == secret) leak(who());
    if (by.kind == LT_WAKER_HIDDEN) {
        ++shared().hidden_wakers;
        if (by.pid || by.tgid || by.start_ns || by.exec_id || !name_of(by).empty() || by.waited_ns)
            leak(who() + ", and is hidden");
    }
    if (name_of(by) != public_name) return;
    ++shared().named_wakers;
    shared().waker_frames += frames;
}

void inspect_entry(const FastReader& snapshot, const lt_task_rec& task, const lt_entry_rec& entry,
                   const Sought& sought) {
    const uint32_t frames = inspect_trace(snapshot, entry.trace, [&] {
        return fmt::format("{} {} (exec {}, entry's {})", task.pid, name_of(task), task.exec_id,
                           entry.exec_id);
    });
    if (name_of(task) == public_name) shared().public_frames += frames;
    for (uint32_t i = 0; i < entry.n_wakers; ++i)
        inspect_waker(snapshot, snapshot.waker(uint64_t{entry.first_waker} + i), sought);
}

void inspect(const FastReader& snapshot, const Sought& sought) {
    for (uint32_t i = 0; i < snapshot.tasks(); ++i) {
        const auto& task = snapshot.record<lt_task_rec>(LT_SEC_TASKS, i);
        if (name_of(task) == secret)
            leak(fmt::format("{} {} of user {}, flags {:#x}", task.pid, secret, task.uid,
                             task.flags));
        if (name_of(task) == public_name) ++shared().sights;
        for (uint32_t j = 0; j < task.n_entries; ++j)
            inspect_entry(
                snapshot, task,
                snapshot.record<lt_entry_rec>(LT_SEC_ENTRIES, uint64_t{task.first_entry} + j),
                sought);
    }
}

/// The same in the text view, which says of a frame in which file it lies.
class TextReader {
public:
    explicit TextReader(const Sought& sought) : sought_(sought), descriptor_(O_RDONLY) {
        need(descriptor_.query(query_for(sought, LT_VIEW_TEXT)) == 0, "query");
    }

    void take() {
        length_ = 0;
        for (;;) {
            const ssize_t n = pread(descriptor_.fd(), bytes_.data() + length_,
                                    bytes_.size() - length_, static_cast<off_t>(length_));
            need(n >= 0, "pread of the text");
            if (n == 0) return;
            length_ += static_cast<size_t>(n);
            if (length_ == bytes_.size()) bytes_.resize(length_ * 2);
        }
    }

    [[nodiscard]] bool shows(uint32_t pid) const {
        return text().find(fmt::format("\n{} ", pid)) != std::string_view::npos ||
               text().find(fmt::format(" pid={} tgid=", pid)) != std::string_view::npos;
    }

    void inspect() const {
        for (std::string_view rest = text(); !rest.empty();) {
            const size_t end = rest.find('\n');
            need(end != std::string_view::npos, "the text's last line has an end");
            inspect_line(rest.substr(0, end));
            rest.remove_prefix(end + 1);
        }
    }

private:
    [[nodiscard]] std::string_view text() const { return {bytes_.data(), length_}; }

    void inspect_line(std::string_view line) const {
        const bool of_a_waker = line.starts_with("\twoken ");
        const bool of_a_frame = line.starts_with('\t') && !of_a_waker;
        const bool tells = !of_a_waker || sought_.wakers_tell;
        if (tells && line.find(secret) != std::string_view::npos)
            leak(fmt::format("the text says: {}", line));
        if (line.find(public_name) == std::string_view::npos) return;
        if (of_a_frame) ++shared().public_files;
        if (of_a_waker) ++shared().named_wakers;
    }

    Sought sought_;
    Descriptor descriptor_;
    size_t length_ = 0;
    std::vector<char> bytes_ = std::vector<char>(1 << 20);
};

}  // namespace

Shared& shared() {
    static auto* const memory = static_cast<Shared*>(
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    return *memory;
}

void leak(const std::string& what) {
    if (shared().leaks.fetch_add(1) >= 5) return;
    fmt::print("LEAK {}\n", what);
    std::fflush(stdout);
}

void read_all_the_time(const Sought& sought, const std::function<void()>& then) {
    FastReader records(sought);
    TextReader text(sought);
    then();
    shared().ready = true;
    while (!shared().stop) {
        const bool as_text = shared().reads % one_text_in == 0;
        const uint64_t before = shared().state;
        as_text ? text.take() : records.take();
        const uint64_t behind = shared().state;
        if (as_text) {
            ++shared().texts;
            text.inspect();
        } else {
            inspect(records, sought);
        }
        if (before != behind) ++shared().over;
        if (before == behind && before % 2 == 1) {
            ++shared().hidden;
            const uint32_t target = shared().target;
            if (as_text ? text.shows(target) : records.shows(target))
                leak(fmt::format("{} while it was not dumpable", target));
        }
        ++shared().reads;
    }
}

}  // namespace poke
