// SPDX-License-Identifier: GPL-2.0-or-later
//
// See process_files.h.
#include "unwind/process_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <string_view>

namespace lattop {
namespace {

/// Maps of the largest processes have some 100,000 lines of 100 bytes.
constexpr std::size_t kMaxText = std::size_t{64} << 20;

/// What a file of /proc holds, piece by piece. How many bytes that were; nothing where it cannot be
/// read.
template <typename Take>
std::optional<std::size_t> read_pieces(int folder, const char* name, const Take& take) {
    const UniqueFd fd(::openat(folder, name, O_RDONLY | O_CLOEXEC));
    if (!fd) return std::nullopt;
    std::array<char, 16384> chunk;
    std::size_t bytes = 0;
    while (bytes < kMaxText) {
        const ssize_t n = ::read(fd.get(), chunk.data(), chunk.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return std::nullopt;
        if (n == 0) break;
        take(std::string_view(chunk.data(), static_cast<std::size_t>(n)));
        bytes += static_cast<std::size_t>(n);
    }
    return bytes;
}

/// Everything a file of /proc holds; nothing where it cannot be read.
std::optional<std::string> read_text(int folder, const char* name) {
    std::string text;
    if (!read_pieces(folder, name, [&](std::string_view piece) { text += piece; }))
        return std::nullopt;
    return text;
}

/// Field 22 of /proc/PID/stat. Field 2, the name, is in parentheses and may
/// hold any bytes, parentheses too: the last one ends it.
std::optional<std::uint64_t> parse_start_ticks(std::string_view stat) {
    constexpr int kStartTime = 22;
    constexpr int kFirstBehindName = 3;
    const std::size_t name_end = stat.rfind(')');
    if (name_end == std::string_view::npos) return std::nullopt;
    stat.remove_prefix(name_end + 1);
    for (int field = kFirstBehindName; field <= kStartTime; ++field) {
        stat.remove_prefix(std::min(stat.find_first_not_of(' '), stat.size()));
        if (field != kStartTime) stat.remove_prefix(std::min(stat.find(' '), stat.size()));
    }
    std::uint64_t ticks = 0;
    const auto [stop, error] = std::from_chars(stat.data(), stat.data() + stat.size(), ticks);
    if (error != std::errc{} || stop == stat.data()) return std::nullopt;
    return ticks;
}

/// The last word of the line that begins with `name`: the pid in the innermost
/// namespace, of those on it.
std::string_view last_word(std::string_view status, std::string_view name) {
    const std::size_t at = status.find(name);
    if (at == std::string_view::npos) return {};
    std::string_view line = status.substr(at + name.size());
    line = line.substr(0, line.find('\n'));
    const std::size_t blank = line.find_last_of(" \t");
    return blank == std::string_view::npos ? line : line.substr(blank + 1);
}

/// Of a folder of /proc.
std::uint64_t user_namespace_of(int folder) {
    struct stat info {};
    return ::fstatat(folder, "ns/user", &info, 0) == 0 ? info.st_ino : 0;
}

FilePath if_regular(UniqueFd fd) {
    FilePath path{std::move(fd)};
    if (!path || ::fstat(path.fd.get(), &path.info) != 0 || !S_ISREG(path.info.st_mode)) return {};
    return path;
}

/// Of the kernel's own file systems, those whose files are made when they are opened or read, which
/// may have an effect: what is read of /proc/kmsg nobody else gets. linux/magic.h has not all of
/// them.
constexpr std::array<std::uint32_t, 21> kMadeByReading = {
    PROC_SUPER_MAGIC, SYSFS_MAGIC,          DEBUGFS_MAGIC,       TRACEFS_MAGIC,
    SECURITYFS_MAGIC, CGROUP_SUPER_MAGIC,   CGROUP2_SUPER_MAGIC, EFIVARFS_MAGIC,
    BPF_FS_MAGIC,     PSTOREFS_MAGIC,       SELINUX_MAGIC,       SMACK_MAGIC,
    BINFMTFS_MAGIC,   RDTGROUP_SUPER_MAGIC, XENFS_SUPER_MAGIC,   NSFS_MAGIC,
    0x62656570,  // configfs
    0x65735543,  // fusectl
    0x67596969,  // rpc_pipefs
    0x6e667364,  // nfsd
    0x0a647361,  // functionfs
};

/// Whether an open file's bytes are kept, as those of /proc, /sys and the like are not.
bool is_stored(int fd) {
    struct statfs system {};
    return ::fstatfs(fd, &system) == 0 &&
           std::ranges::find(kMadeByReading, static_cast<std::uint32_t>(system.f_type)) ==
               kMadeByReading.end();
}

/// A regular file that keeps its bytes. Of what map_files leads to, that need not be asked: it is
/// mapped.
FilePath if_stored(UniqueFd fd) {
    FilePath path = if_regular(std::move(fd));
    return path && is_stored(path.fd.get()) ? std::move(path) : FilePath();
}

/// The file if it is the mapped one. Overlay and btrfs show another device in
/// maps than stat(2) does; the inode number is the same. Of a file of FUSE its
/// server chooses it, and the process's mounts what the path names: it is
/// asked what it is as any other.
FilePath if_mapped(UniqueFd fd, const Mapping& mapping) {
    FilePath path = if_stored(std::move(fd));
    return path && path.info.st_ino == mapping.inode ? std::move(path) : FilePath();
}

}  // namespace

std::uint64_t ticks_of_ns(std::uint64_t ns) {
    constexpr std::uint64_t kSecond = 1'000'000'000;
    const long per_second = ::sysconf(_SC_CLK_TCK);
    return ns / (kSecond / static_cast<std::uint64_t>(per_second > 0 ? per_second : 100));
}

std::optional<std::uint64_t> ProcessFiles::start_ticks(const std::string& proc,
                                                       std::uint32_t tgid) {
    const auto stat = read_text(AT_FDCWD, fmt::format("{}/{}/stat", proc, tgid).c_str());
    if (!stat) return std::nullopt;
    return parse_start_ticks(*stat);
}

std::optional<ProcessFiles> ProcessFiles::open(const std::string& proc, std::uint32_t pid,
                                               std::uint64_t start_ns) {
    UniqueFd folder(
        ::open(fmt::format("{}/{}", proc, pid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!folder) return std::nullopt;
    const auto stat = read_text(folder.get(), "stat");
    if (!stat || parse_start_ticks(*stat) != ticks_of_ns(start_ns)) return std::nullopt;
    return ProcessFiles(std::move(folder));
}

std::optional<std::vector<Mapping>> ProcessFiles::maps() const {
    MapsParser parser;
    const auto bytes =
        read_pieces(folder_.get(), "maps", [&](std::string_view piece) { parser.add(piece); });
    // A zombie has none: its memory is gone.
    if (bytes.value_or(0) == 0) return std::nullopt;
    return parser.finish();
}

std::string ProcessFiles::program() const {
    std::array<char, PATH_MAX> path;
    const ssize_t n = ::readlinkat(folder_.get(), "exe", path.data(), path.size());
    return n <= 0 ? std::string() : std::string(path.data(), static_cast<std::size_t>(n));
}

std::string ProcessFiles::command_line() const {
    const UniqueFd fd(::openat(folder_.get(), "cmdline", O_RDONLY | O_CLOEXEC));
    if (!fd) return "";
    std::array<char, 4096> bytes;
    const ssize_t n = ::read(fd.get(), bytes.data(), bytes.size());
    return n <= 0 ? std::string() : std::string(bytes.data(), static_cast<std::size_t>(n));
}

std::optional<std::uint32_t> ProcessFiles::real_user() const {
    constexpr std::string_view kBefore = "\nUid:\t";
    const auto status = read_text(folder_.get(), "status");
    const std::size_t place = status ? status->find(kBefore) : std::string::npos;
    if (place == std::string::npos) return std::nullopt;
    std::uint32_t user = 0;
    const char* first = status->data() + place + kBefore.size();
    const auto [stop, error] = std::from_chars(first, status->data() + status->size(), user);
    return error == std::errc{} ? std::optional(user) : std::nullopt;
}

std::uint64_t ProcessFiles::user_namespace() const {
    return user_namespace_of(folder_.get());
}

std::uint64_t own_user_namespace() {
    static const std::uint64_t own = [] {
        const UniqueFd self(::open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC));
        return self ? user_namespace_of(self.get()) : 0;
    }();
    return own;
}

UniqueFd ProcessFiles::in_root(const std::string& path, int flags) const {
    const UniqueFd root(::openat(folder_.get(), "root", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!root) return {};
    // Symbolic links of a container must not lead out of it.
    open_how how{};
    how.flags = static_cast<decltype(how.flags)>(O_PATH | O_CLOEXEC | flags);
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
    return UniqueFd(
        static_cast<int>(::syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof(how))));
}

FilePath ProcessFiles::mapped_file(const Mapping& mapping) const {
    const std::string range = fmt::format("map_files/{:x}-{:x}", mapping.start, mapping.end);
    bool wanting = false;
    const auto noted = [&](UniqueFd fd) {
        wanting = wanting || (!fd && is_want(errno));
        return fd;
    };
    const auto open_path = [&](const char* name) {
        return noted(UniqueFd(::openat(folder_.get(), name, O_PATH | O_CLOEXEC)));
    };
    if (FilePath path = if_regular(open_path(range.c_str()))) return path;
    if (!mapping.deleted)
        if (FilePath path = if_mapped(noted(in_root(mapping.path)), mapping)) return path;
    FilePath path = if_mapped(open_path("exe"), mapping);
    path.wanting = !path && wanting;
    return path;
}

bool is_want(int error) {
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

UniqueFd open_to_read(const FilePath& path) {
    if (!path) return {};
    const std::string self = fmt::format("/proc/self/fd/{}", path.fd.get());
    return UniqueFd(::open(self.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
}

RegularFile open_regular_file(const std::string& path) {
    FilePath file{UniqueFd(::open(path.c_str(), O_PATH | O_CLOEXEC))};
    if (!file || ::fstat(file.fd.get(), &file.info) != 0) return {.error = errno};
    if (!S_ISREG(file.info.st_mode)) return {.other_kind = "not a regular file"};
    if (!is_stored(file.fd.get()))
        return {.other_kind = "one of the kernel's own files, as those of /proc are"};
    UniqueFd fd = open_to_read(file);
    if (!fd) return {.error = errno};
    return {.fd = std::move(fd), .info = file.info};
}

UniqueFd ProcessFiles::open_in_root(const std::string& path) const {
    return open_to_read(if_stored(in_root(path)));
}

UniqueFd ProcessFiles::open_perf_map() const {
    const auto status = read_text(folder_.get(), "status");
    if (!status) return {};
    const auto pid = last_word(*status, "\nNStgid:");
    struct stat process {};
    struct stat info {};
    if (pid.empty() || ::fstat(folder_.get(), &process) != 0) return {};
    // Anyone may leave a file of that name, or a link to one of its owner's; perf asks for the
    // owner too.
    UniqueFd fd =
        open_to_read(if_stored(in_root(fmt::format("/tmp/perf-{}.map", pid), O_NOFOLLOW)));
    const bool its = fd && ::fstat(fd.get(), &info) == 0 && info.st_uid == process.st_uid;
    return its ? std::move(fd) : UniqueFd();
}

bool ProcessFiles::exists() const {
    return read_text(folder_.get(), "stat").has_value() || is_want(errno);
}

UniqueFd ProcessFiles::open_memory() const {
    return UniqueFd(::openat(folder_.get(), "mem", O_RDONLY | O_CLOEXEC));
}

std::optional<std::vector<char>> ProcessFiles::memory(std::uint64_t address,
                                                      std::size_t bytes) const {
    const UniqueFd fd = open_memory();
    if (!fd) return std::nullopt;
    std::vector<char> memory(bytes);
    const ssize_t n = ::pread(fd.get(), memory.data(), bytes, static_cast<off_t>(address));
    if (n != static_cast<ssize_t>(bytes)) return std::nullopt;
    return memory;
}

}  // namespace lattop
