// SPDX-License-Identifier: GPL-2.0-or-later
//
// Addresses of live tasks to names. Called for each user stack that has none
// yet, from threads beside the commands (files may be slow to read), and by `lattop stack`.
// Not for use by two threads at once.
//
// What costs is remembered: each file's symbols once, whoever maps it; each
// process's maps until an address lies outside them; the functions that its JIT
// tells of. All of it is bounded, by one policy (bounded_cache.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "unwind/bounded_cache.h"
#include "unwind/debug_fetch.h"
#include "unwind/frame.h"
#include "unwind/perf_map.h"
#include "unwind/process_files.h"
#include "unwind/program_image.h"
#include "unwind/remote_image.h"

namespace lattop {

/// A task and the program it runs.
struct TaskRef {
    std::uint32_t pid = 0;
    std::uint32_t tgid = 0;
    std::uint64_t start_ns = 0;  ///< CLOCK_BOOTTIME
    std::uint32_t exec_id = 0;   ///< another value is another program
};

struct Naming {
    enum class Result {
        Named,    ///< as far as its files have names: asking again gives the same
        Partly,   ///< some file or mapping was not there: worth asking again
        Waiting,  ///< debug files are being fetched: asking again gives more
        Gone,     ///< the task has ended: nothing more to learn
    };
    Result result = Result::Gone;
    UserStack stack;
    /// Where a server of debug files could not be asked: when it is, next.
    std::optional<DebugFetch::Clock::time_point> retry_at{};
};

struct SymbolizerLimits {
    std::size_t image_bytes =
        std::size_t{512} << 20;  ///< symbols of all files together; a reader may have room for less
    std::size_t maps_bytes = std::size_t{128} << 20;      ///< maps of all processes together
    std::size_t perf_map_bytes = std::size_t{128} << 20;  ///< of all JITs together
};

/// Where debug information is looked for that programs do not carry.
struct DebugSources {
    std::string folder = "/usr/lib/debug";
    std::shared_ptr<DebugFetch> fetch{};  ///< nullptr: no server is asked
};

class Symbolizer {
public:
    explicit Symbolizer(DebugSources debug = {}, std::string proc = "/proc",
                        SymbolizerLimits limits = {},
                        std::shared_ptr<ImageSource> source = program_images());

    /// Names a stack, innermost frame first. The innermost address is looked
    /// up as it is, the others, return addresses, by the byte before them.
    /// `round` counts refreshes: maps that did not hold an address are read
    /// again at most once in each.
    Naming name(const TaskRef& task, std::span<const std::uint64_t> addresses, std::uint64_t round);

    /// The variable at an address, of a file that the task's process maps code of:
    /// "queue_lock+0x8"; "" for none.
    std::string variable(const TaskRef& task, std::uint64_t address, std::uint64_t round);

    /// What the maps that it remembers take; at most SymbolizerLimits, or one process's. Those of
    /// processes that no refresh asked for any more are forgotten in time.
    [[nodiscard]] std::size_t maps_bytes() const { return processes_.cost(); }

private:
    /// Which file, and which state of it.
    struct ImageId {
        std::uint64_t device = 0, inode = 0, bytes = 0;
        std::int64_t modified_ns = 0, changed_ns = 0;
        bool operator==(const ImageId&) const = default;
    };
    struct ProcessId {
        std::uint32_t tgid = 0, exec_id = 0;
        std::uint64_t start_ticks = 0;
        bool operator==(const ProcessId&) const = default;
    };
    struct HashId {
        std::size_t operator()(const ImageId& id) const;
        std::size_t operator()(const ProcessId& id) const;
    };
    /// What is known about the file behind a mapping.
    struct File {
        std::optional<ImageId> image;  ///< once it was opened
        std::uint64_t tried_round = 0;
        bool tried = false;
    };
    struct Process {
        std::vector<Mapping> maps;
        std::vector<File> files;  ///< one for each mapping
        std::string program;
        std::uint64_t read_round = 0;
        std::uint64_t used_round = 0;
        ProcessId id;
        [[nodiscard]] std::size_t bytes() const;
    };
    struct Jit {
        PerfMap map;
        std::uint64_t read_round = 0;
        std::uint64_t used_round = 0;
    };

    bool read_maps(Process& process, const ProcessFiles& files, std::uint64_t round);
    void forget_idle(std::uint64_t round);
    Process* find_process(const TaskRef& task, const ProcessFiles& files, std::uint64_t round);
    void name_address(Process& process, const ProcessFiles& files, std::uint64_t address,
                      std::uint64_t round, Naming& naming);
    std::string variable_in(Process& process, const ProcessFiles& files, std::uint64_t address,
                            std::uint64_t round);
    const Mapping* cover(Process& process, const ProcessFiles& files, std::uint64_t address,
                         std::uint64_t round);
    ProgramImage* find_image(const Mapping& mapping, File& file, const ProcessFiles& files,
                             std::uint64_t round);
    ProgramImage* open_image(const Mapping& mapping, File& file, const ProcessFiles& files);
    void complete(ProgramImage& image, const Mapping& mapping, const File& file,
                  const ProcessFiles& files, Naming& naming);
    UserFramePtr jit_frame(const Process& process, const ProcessFiles& files,
                           const Mapping& mapping, std::uint64_t address, bool is_return,
                           std::uint64_t round);
    ProgramImage* open_vdso(const Mapping& mapping, File& file, const ProcessFiles& files);
    ProgramImage* kept_image(const ImageId& id);
    UniqueFd installed_debug_file(ProgramImage& image, const DebugName& name,
                                  const Mapping& mapping, const ProcessFiles& files,
                                  AltLink& alt_link);
    [[nodiscard]] Reading reading_of(const ImageId& id) const;
    ProgramImage* keep(const ImageId& id, std::unique_ptr<ProgramImage> image);

    DebugSources debug_;
    std::string proc_;
    std::shared_ptr<ImageSource> source_;
    BoundedCache<ImageId, Reading, HashId> read_less_;  // files that readers came to an end at
    std::size_t image_bytes_;
    BoundedCache<ImageId, std::unique_ptr<ProgramImage>, HashId> images_;
    BoundedCache<ProcessId, Process, HashId> processes_;
    BoundedCache<ProcessId, Jit, HashId> jits_;
};

}  // namespace lattop
