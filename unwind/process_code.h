// SPDX-License-Identifier: GPL-2.0-or-later
//
// One process's code and memory, held open for unwinding: which mapping a pc
// lies in, the row for it, words of its stack. Called by the resolver, by
// `lattop stack` and by tests. Not for two threads at once.
//
// The descriptor of /proc/PID/mem belongs to the address space it was opened
// on: after an execve(2) it reads nothing, so rows are never built from the
// memory of another program.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "unwind/bounded_cache.h"
#include "unwind/cfi_rows.h"
#include "unwind/payer.h"
#include "unwind/process_files.h"
#include "unwind/row_step.h"

namespace lattop {

/// A file as it was when it was opened. Not its build id: that is what the file
/// says of itself, and a forged one would teach its rows to other processes.
struct CodeFileId {
    std::uint64_t device = 0, inode = 0, bytes = 0;
    std::int64_t modified_ns = 0, changed_ns = 0;
    bool operator==(const CodeFileId&) const = default;
};

struct HashCodeFileId {
    std::size_t operator()(const CodeFileId& id) const;
};

/// A file by the names that /proc/PID/maps has for it, which another may get
/// when it is gone.
struct MapsFileId {
    std::uint64_t device = 0, inode = 0;
    bool operator==(const MapsFileId&) const = default;
};

struct HashMapsFileId {
    std::size_t operator()(const MapsFileId& id) const;
};

/// The rows of all files, whoever maps them. Least recently used files go when
/// they hold more than the budget together, or are too many, or, as others come, were not used for
/// an hour. None is kept open.
class CodeFiles {
public:
    using Clock = std::chrono::steady_clock;

    /// `most_files`: held at a time, fewer where they are large. `held`: is told how
    /// many bytes are, where it is not null; lives longer. `idle`: how long one is kept unused.
    explicit CodeFiles(std::size_t budget_bytes, std::size_t most_files = SIZE_MAX,
                       std::atomic<std::size_t>* held = nullptr,
                       Clock::duration idle = std::chrono::hours(1));

    /// A part of the budget from now on, or all of it again. No file is kept then that is
    /// larger than that part by itself.
    void set_budget(std::size_t bytes) { files_.set_budget(bytes); }
    [[nodiscard]] std::size_t most_of_a_file() const {
        return files_.budget() < budget_ ? files_.budget() : SIZE_MAX;
    }

    using File = std::shared_ptr<CfiRows>;
    File find(const CodeFileId& id);
    File find(const CodeFileId& id, const Mapping& mapping);
    File keep(const CodeFileId& id, const Mapping& mapping, File file);

    /// Reads a file and keeps it; nullptr where that takes more than most_of_a_file(). What is
    /// about to be read counts as held.
    File read(const CodeFileId& id, const Mapping& mapping, UniqueFd fd);
    [[nodiscard]] std::size_t size() const { return files_.size(); }

    /// Whether a file that maps call like this was kept or found: to ask a process
    /// for each of its files costs more than all else about a short-lived one.
    [[nodiscard]] bool may_have(const Mapping& mapping) const;

private:
    struct Held {
        File file;
        Clock::time_point used;
    };

    [[nodiscard]] std::size_t cost_of(const CfiRows& file) const;

    std::size_t budget_;      // all of it
    std::size_t least_cost_;  // of a file
    Clock::duration idle_;
    BoundedCache<CodeFileId, Held, HashCodeFileId> files_;
    BoundedCache<MapsFileId, std::monostate, HashMapsFileId> names_;
};

/// A row at its place in a process.
struct PlacedRow {
    BuiltRow built;        ///< row.pc is the address in the process
    lt_row_range range;    ///< the executable mapping
    bool guessed = false;  ///< by frame pointer, or what the code does: nothing describes it
};

class ProcessCode {
public:
    /// The process of task `pid` that started at `start_ns` (CLOCK_BOOTTIME);
    /// nothing where it is gone or may not be read.
    static std::optional<ProcessCode> open(const std::string& proc, std::uint32_t pid,
                                           std::uint64_t start_ns, CodeFiles& files);

    /// The same in two steps: whose it is is known behind find(), which does not wait for the
    /// process's memory as look_in() may. False as open() gives nothing.
    static std::optional<ProcessCode> find(const std::string& proc, std::uint32_t pid,
                                           std::uint64_t start_ns, CodeFiles& files);
    bool look_in();

    /// The row for a frame; nothing where its pc is in no executable mapping.
    /// May read the maps again, see allow_refresh(). `frame` says more than its
    /// pc only for code without call-frame information: whether bp looks like a
    /// frame pointer there.
    std::optional<PlacedRow> row_at(const lt_uframe& frame);

    /// Looks again whose process it is: what it asks for from now on is noted as that
    /// user's. Until then as nobody's.
    void note_user();
    [[nodiscard]] Payer payer() const { return payer_; }

    /// Rows that were built before for files it maps, as CfiRows::known_rows() has them; at
    /// most `max`, those asked for most.
    [[nodiscard]] std::vector<PlacedRow> known_rows(std::size_t max);

    /// The file of the mapping that holds `pc`, and the mapping; for the live
    /// unwinder. nullptr where there is none.
    struct CodeAt {
        const Mapping* mapping = nullptr;
        CodeFiles::File file;
    };
    CodeAt code_at(std::uint64_t pc);

    /// Maps that do not hold a pc are read again at most once until the next
    /// call of this, and files that CodeFiles let go of kMaxReloads times.
    void allow_refresh() {
        may_refresh_ = true;
        reloads_ = 0;
    }
    static constexpr unsigned kMaxReloads = 16;

    /// About how much memory it holds, without files.
    [[nodiscard]] std::size_t bytes() const;

    /// Forgets what was read of its memory, and what that took: it may have changed.
    void forget_memory();

    /// The page of its memory at `address`, a multiple of kPageBytes; empty where it is not there.
    /// Holds until something else is read.
    std::span<const std::uint8_t> page_at(std::uint64_t address);
    static constexpr std::size_t kPageBytes = 4096;

    /// A word of its memory; false where it is not there.
    bool read_word(std::uint64_t address, std::uint64_t& word);

    /// Whether the task and the address space it was opened on still exist. Both
    /// are asked: a pid may be used again, and vfork(2) shares address spaces.
    [[nodiscard]] bool alive() const;

    [[nodiscard]] const ProcessFiles& proc_files() const { return proc_files_; }
    [[nodiscard]] const std::vector<Mapping>& maps() const { return maps_; }

private:
    struct Page {
        std::uint64_t address = 1;  ///< no page has this
        bool there = false;
        std::array<char, kPageBytes> bytes;
    };
    /// What is known about the file of a mapping. Not the file: CodeFiles could not let go of it.
    struct Known {
        bool tried = false;
        bool wanting = false;  ///< and may be tried again, as Opened says
        std::optional<CodeFileId> file;
    };

    struct Name {
        std::uint32_t pid = 0;
        std::uint64_t start_ns = 0;
    };

    ProcessCode(Name name, ProcessFiles proc_files, CodeFiles& files)
        : name_(std::move(name)), proc_files_(std::move(proc_files)), files_(&files) {}

    bool read_maps();
    [[nodiscard]] bool read_memory(std::uint64_t address, std::span<char> bytes) const;
    const Mapping* cover(std::uint64_t address);
    struct Opened {
        CodeFiles::File file;
        bool wanting = false;  ///< none, for want of descriptors or memory
        std::optional<CodeFileId> id{};
    };
    Opened file_of(const Mapping& mapping);
    enum class Load { IfKnown, Always };
    Opened open_file(const Mapping& mapping, Load load);
    Opened open_vdso(const Mapping& mapping, Load load);
    BuiltRow without_cfi(const lt_uframe& frame);
    bool has_frame_pointer(const lt_uframe& frame);
    bool follows_call(std::uint64_t address);
    [[nodiscard]] bool is_signal_return(std::uint64_t address) const;

    Name name_;
    CodeUser user_ = kNoUser;
    Payer payer_ = kNoPayer;
    ProcessFiles proc_files_;
    UniqueFd memory_;
    CodeFiles* files_;
    std::vector<Mapping> maps_;
    std::vector<Known> known_;  // one for each mapping
    bool may_refresh_ = false;
    unsigned reloads_ = 0;
    std::vector<Page> pages_;
    std::size_t next_page_ = 0;
};

/// lt_read_word for a ProcessCode.
int read_process_word(void* process_code, __u64 address, __u64* word);

}  // namespace lattop
