// SPDX-License-Identifier: GPL-2.0-or-later
//
// See write_file.h.
#include "lattop/write_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "lattop/source/error.h"
#include "unwind/unique_fd.h"

namespace lattop {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& why) {
    throw Error(fmt::format("cannot write {}: {}", path, why), "use standard output: leave -o out");
}

void refuse_to_lose(const std::string& path, const std::string& input) {
    struct stat old {};
    if (::lstat(path.c_str(), &old) != 0) return;  // nothing there to lose
    if (S_ISLNK(old.st_mode)) fail(path, "it is a symbolic link");
    if (!S_ISREG(old.st_mode)) fail(path, "it is not a regular file");
    struct stat from {};
    if (input.empty() || ::stat(input.c_str(), &from) != 0) return;
    if (old.st_dev == from.st_dev && old.st_ino == from.st_ino)
        fail(path, "it is the file that is read");
}

/// A file with a name of its own beside `path`, which goes with it unless it
/// has become `path`.
class Temporary {
public:
    explicit Temporary(const std::string& path) : path_(path), name_(path + ".XXXXXX") {
        fd_.reset(::mkostemp(name_.data(), O_CLOEXEC));  // O_EXCL, 0600
        if (!fd_) fail(path_, std::strerror(errno));
    }
    Temporary(const Temporary&) = delete;
    Temporary& operator=(const Temporary&) = delete;
    ~Temporary() {
        if (fd_) ::unlink(name_.c_str());
    }

    [[nodiscard]] int fd() const { return fd_.get(); }

    void become_path() {
        if (std::rename(name_.c_str(), path_.c_str()) != 0) fail(path_, std::strerror(errno));
        fd_.reset();
    }

private:
    std::string path_, name_;
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

void replace_file(const std::string& path, std::string_view text, const std::string& input) {
    refuse_to_lose(path, input);
    Temporary file(path);
    if (const int error = write_all(file.fd(), std::as_bytes(std::span(text))))
        fail(path, std::strerror(error));
    if (const int error = store_all(file.fd())) fail(path, std::strerror(error));
    file.become_path();
}

}  // namespace lattop
