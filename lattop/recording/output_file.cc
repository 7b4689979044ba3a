// SPDX-License-Identifier: GPL-2.0-or-later
//
// See output_file.h.
#include "lattop/recording/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "lattop/recording/format.h"
#include "lattop/safe_folder.h"
#include "lattop/source/error.h"
#include "lattop/write_file.h"

namespace lattop::recording {
namespace {

constexpr mode_t kMode = 0600;
constexpr int kFlags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
    throw Error(fmt::format("will not record to {}: {}", path, why), "give another name: -o FILE");
}

bool is_recording(int fd, const struct stat& info) {
    std::array<char, kMagic.size()> begin{};
    if (info.st_size == 0) return true;
    return ::pread(fd, begin.data(), begin.size(), 0) == static_cast<ssize_t>(begin.size()) &&
           begin == kMagic;
}

/// A new file; none where there is one of that name, or it cannot be made: errno says which.
UniqueFd make_file(const FilePlace& place) {
    UniqueFd fd(::openat(place.folder.get(), place.name.c_str(), kFlags | O_CREAT | O_EXCL, kMode));
    if (fd) ::flock(fd.get(), LOCK_EX | LOCK_NB);
    return fd;
}

/// Takes the place of what already has that name. A new file: who has the old one open, from a time
/// when it could be read, is to see nothing of this recording.
UniqueFd replace_existing(const std::string& path, const FilePlace& place) {
    const UniqueFd old(::openat(place.folder.get(), place.name.c_str(), kFlags));
    if (!old && errno == ELOOP) refuse(path, "it is a symbolic link");
    struct stat info {};
    if (!old || ::fstat(old.get(), &info) != 0)
        throw Error(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
    if (!S_ISREG(info.st_mode)) refuse(path, "it is not a regular file");
    if (info.st_uid != ::geteuid()) refuse(path, "it is another user's");
    if (info.st_nlink > 1) refuse(path, "it has other names too (hard links)");
    if (!is_recording(old.get(), info)) refuse(path, "it exists and is not a recording");
    if (::flock(old.get(), LOCK_EX | LOCK_NB) != 0) refuse(path, "another lattop records to it");
    if (::unlinkat(place.folder.get(), place.name.c_str(), 0) == 0)
        if (UniqueFd fd = make_file(place)) return fd;
    throw Error(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

UniqueFd open_output(const std::string& path) {
    const FilePlace place = find_place(path);
    if (UniqueFd fd = make_file(place)) return fd;
    if (errno == EEXIST) return replace_existing(path, place);
    throw Error(fmt::format("cannot make {}: {}", path, std::strerror(errno)));
}

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)), fd_(open_output(path_)) {}

void OutputFile::append(std::span<const std::byte> bytes) {
    if (const int error = write_all(fd_.get(), bytes)) {
        // Where even that fails, readers find the cut.
        static_cast<void>(::ftruncate(fd_.get(), static_cast<off_t>(end_)) == 0);
        throw Error(fmt::format("cannot write {}: {}", path_, std::strerror(error)),
                    "what was written before is a whole recording");
    }
    end_ += bytes.size();
}

void OutputFile::finish() {
    if (const int error = store_all(fd_.get()))
        throw Error(fmt::format("cannot write {}: {}", path_, std::strerror(error)),
                    "its end may be missing: make room, or record to another file system");
}

}  // namespace lattop::recording
