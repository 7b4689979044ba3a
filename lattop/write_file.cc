// SPDX-License-Identifier: GPL-2.0-or-later
//
// See write_file.h.
#include "lattop/write_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>

#include "lattop/source/error.h"
#include "unwind/unique_fd.h"

namespace lattop {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& why) {
    throw Error(fmt::format("cannot write {}: {}", path, why), "use standard output: leave -o out");
}

void refuse_to_lose(const std::string& path, const FilePlace& place, const std::string& input) {
    struct stat old {};
    if (::fstatat(place.folder.get(), place.name.c_str(), &old, AT_SYMLINK_NOFOLLOW) != 0)
        return;  // nothing there to lose
    if (S_ISLNK(old.st_mode)) fail(path, "it is a symbolic link");
    if (!S_ISREG(old.st_mode)) fail(path, "it is not a regular file");
    struct stat from {};
    if (input.empty() || ::stat(input.c_str(), &from) != 0) return;
    if (old.st_dev == from.st_dev && old.st_ino == from.st_ino)
        fail(path, "it is the file that is read");
}

/// A file with a name of its own beside that of `place`, which goes with it unless it
/// has taken that one.
class Temporary {
public:
    Temporary(const std::string& path, const FilePlace& place) : path_(path), place_(place) {
        constexpr int kTries = 100;
        std::random_device random;
        for (int i = 0; i < kTries && !fd_; i++) {
            name_ = fmt::format("{}.{:06x}", place.name, random() & 0xffffff);
            fd_.reset(::openat(folder(), name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                               S_IRUSR | S_IWUSR));
            if (!fd_ && errno != EEXIST) break;
        }
        if (!fd_) fail(path_, std::strerror(errno));
    }
    Temporary(const Temporary&) = delete;
    Temporary& operator=(const Temporary&) = delete;
    ~Temporary() {
        if (fd_) ::unlinkat(folder(), name_.c_str(), 0);
    }

    [[nodiscard]] int fd() const { return fd_.get(); }

    void take_place() {
        if (::renameat(folder(), name_.c_str(), folder(), place_.name.c_str()) != 0)
            fail(path_, std::strerror(errno));
        fd_.reset();
    }

private:
    [[nodiscard]] int folder() const { return place_.folder.get(); }

    const std::string& path_;
    const FilePlace& place_;
    std::string name_;
    UniqueFd fd_;
};

}  // namespace

int write_all(int fd, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t n = ::write(fd, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? errno : ENOSPC;
        bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
    return 0;
}

int store_all(int fd) {
    int error = 0;
    do {
        error = ::fsync(fd) == 0 ? 0 : errno;
    } while (error == EINTR);
    return error == EINVAL ? 0 : error;  // some file systems have nowhere to store to
}

void replace_file(const std::string& path, std::string_view text, const std::string& input,
                  MissingFolders missing) {
    const FilePlace place = find_place(path, missing);
    refuse_to_lose(path, place, input);
    Temporary file(path, place);
    if (const int error = write_all(file.fd(), std::as_bytes(std::span(text))))
        fail(path, std::strerror(error));
    if (const int error = store_all(file.fd())) fail(path, std::strerror(error));
    file.take_place();
}

}  // namespace lattop
