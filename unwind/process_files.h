// SPDX-License-Identifier: GPL-2.0-or-later
//
// What /proc says about one task, and the files it has mapped. The only place
// that opens anything of another process. Made by the symbolizer for one
// request and dropped after it.
//
// The process is not trusted: it may live in another mount namespace, its paths
// may name devices or pipes, its files may have been replaced. So a file is
// opened without side effects first (O_PATH), must be a regular file, and must
// be the one that is mapped, or of a file system that keeps files: one of /proc
// or /sys is made when it is read, which may have effects.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "unwind/maps.h"
#include "unwind/unique_fd.h"

namespace lattop {

/// A regular file's O_PATH descriptor, or none, and which file it is.
struct FilePath {
    UniqueFd fd;
    struct stat info {};
    bool wanting = false;  ///< none, maybe for want of descriptors or memory: later there may be
    explicit operator bool() const { return static_cast<bool>(fd); }
};

class ProcessFiles {
public:
    /// The task `pid` that started at `start_ns` (CLOCK_BOOTTIME); nothing
    /// where it is gone, also where its pid has been used again; errno where a call failed.
    static std::optional<ProcessFiles> open(const std::string& proc, std::uint32_t pid,
                                            std::uint64_t start_ns);

    /// Start of the process that `tgid` names, in clock ticks since boot.
    static std::optional<std::uint64_t> start_ticks(const std::string& proc, std::uint32_t tgid);

    /// The executable mappings; nothing where they may not be read.
    [[nodiscard]] std::optional<std::vector<Mapping>> maps() const;

    /// Path of the program as the process sees it; "" where it may not be read.
    [[nodiscard]] std::string program() const;

    /// Its command line as it stands in its memory, arguments ended by NULs; 4 KiB at most.
    /// "" where it has none or may not be read. Waits for that memory.
    [[nodiscard]] std::string command_line() const;

    /// The file behind a mapping, whatever its path names by now: by the
    /// mapping itself, by the path in the process's own root, or as its
    /// program. open_to_read() opens it. None where none of them is the same file.
    [[nodiscard]] FilePath mapped_file(const Mapping& mapping) const;

    /// The real user id that it has in this user namespace; nothing where it is gone. Its folder's
    /// owner is root for programs that are not dumpable.
    [[nodiscard]] std::optional<std::uint32_t> real_user() const;

    /// The number of its user namespace; 0 where it may not be seen, or there are none.
    [[nodiscard]] std::uint64_t user_namespace() const;

    /// A regular file by its path in the process's own root; none of those of /proc, /sys and the
    /// like.
    [[nodiscard]] UniqueFd open_in_root(const std::string& path) const;

    /// Its /tmp/perf-PID.map, by its pid in its own pid namespace; no
    /// descriptor where there is none, it is a link, or another user's.
    [[nodiscard]] UniqueFd open_perf_map() const;

    /// Whether the task is still there; a zombie is, and one that cannot be looked at for a want.
    [[nodiscard]] bool exists() const;

    /// Its memory, to be read by address; no descriptor where that may not be.
    [[nodiscard]] UniqueFd open_memory() const;

    /// Bytes of its memory; nothing where they may not be read.
    [[nodiscard]] std::optional<std::vector<char>> memory(std::uint64_t address,
                                                          std::size_t bytes) const;

private:
    explicit ProcessFiles(UniqueFd folder) : folder_(std::move(folder)) {}
    [[nodiscard]] UniqueFd in_root(const std::string& path, int flags = 0) const;

    UniqueFd folder_;  // /proc/PID: stays this task's, whoever gets its pid next
};

/// The file, to be read; no descriptor where it may not be. Not asked for in
/// vain: to open a file of a network file system can cost more than all that is
/// read of it.
UniqueFd open_to_read(const FilePath& path);

/// A file to be read, or why there is none.
struct RegularFile {
    UniqueFd fd{};
    struct stat info {};
    int error = 0;                  ///< errno of the call that failed
    std::string_view other_kind{};  ///< what it is instead, as "not a regular file"
    explicit operator bool() const { return static_cast<bool>(fd); }
};

/// A regular file of this machine, opened without side effects on others; none of those of /proc,
/// /sys and the like.
RegularFile open_regular_file(const std::string& path);

/// The number of this process's user namespace, as ProcessFiles::user_namespace(); it stays in one.
std::uint64_t own_user_namespace();

/// Whether an open(2) that failed so may do better later: no descriptor, no memory.
bool is_want(int error);

/// A time in ns as the clock ticks of /proc/PID/stat.
std::uint64_t ticks_of_ns(std::uint64_t ns);

}  // namespace lattop
