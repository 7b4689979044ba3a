// SPDX-License-Identifier: GPL-2.0-or-later
//
// See safe_folder.h.
#include "lattop/safe_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "lattop/source/error.h"

namespace lattop {
namespace {

/// As many as the kernel follows in a path.
constexpr int kMaxLinks = 40;

/// O_DIRECTORY mounts what is to be mounted there when somebody comes (automount); O_PATH alone
/// does not.
constexpr int kFolder = O_PATH | O_DIRECTORY | O_CLOEXEC;

bool is_trusted(uid_t owner) {
    return owner == 0 || owner == ::geteuid();
}

/// Access control lists need no look: the group's bits are the most that they grant.
bool only_trusted_made(const struct stat& link, const struct stat& folder) {
    return is_trusted(link.st_uid) ||
           (is_trusted(folder.st_uid) && (folder.st_mode & (S_IWGRP | S_IWOTH)) == 0);
}

bool is_proc(int fd) {
    struct statfs system {};
    return ::fstatfs(fd, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

/// The first name of a path, taken from it; "" where there is none left.
std::string take_name(std::string& path) {
    path.erase(0, path.find_first_not_of('/'));
    std::string name = path.substr(0, path.find('/'));
    path.erase(0, name.size());
    return name;
}

class FolderWalk {
public:
    FolderWalk(const std::string& path, MissingFolders missing) : path_(path), missing_(missing) {}

    UniqueFd to(const std::string& folder) {
        rest_ = folder;
        begin(rest_.starts_with('/') ? "/" : ".");
        for (std::string name = take_name(rest_); !name.empty(); name = take_name(rest_))
            step(name);
        return std::move(folder_);
    }

private:
    [[noreturn]] void fail(int error) const {
        throw Error(fmt::format("cannot write {}: {}", path_, std::strerror(error)));
    }

    void begin(const char* folder) {
        folder_.reset(::open(folder, kFolder));
        if (!folder_) fail(errno);
        walked_ = *folder == '/' ? "/" : "";
    }

    void step(const std::string& name) {
        UniqueFd next(open_next(name));
        if (!next && errno == ENOENT && missing_ == MissingFolders::Make) {
            if (::mkdirat(folder_.get(), name.c_str(), 0777) != 0 && errno != EEXIST) fail(errno);
            next.reset(open_next(name));
        }
        if (next) return enter(std::move(next), name);
        if (errno != ENOTDIR) fail(errno);
        follow(name);
    }

    [[nodiscard]] int open_next(const std::string& name) const {
        return ::openat(folder_.get(), name.c_str(), kFolder | O_NOFOLLOW);
    }

    void enter(UniqueFd next, const std::string& name) {
        folder_ = std::move(next);
        walked_ += name + '/';
    }

    void follow(const std::string& name) {
        const UniqueFd link(::openat(folder_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
        struct stat made {};
        struct stat folder {};
        if (!link || ::fstat(link.get(), &made) != 0 || ::fstat(folder_.get(), &folder) != 0)
            fail(errno);
        if (!S_ISLNK(made.st_mode)) fail(ENOTDIR);
        if (!only_trusted_made(made, folder))
            throw Error(
                fmt::format("cannot write {}: {} is a symbolic link of user {}, who could lead it "
                            "anywhere",
                            path_, walked_ + name, made.st_uid),
                "where that is meant, give a path without that link");
        if (++links_ > kMaxLinks) fail(ELOOP);
        // What a link of a process leads to can be another's root, which its text does not say.
        if (is_proc(folder_.get())) {
            UniqueFd next(::openat(folder_.get(), name.c_str(), kFolder));
            if (!next) fail(errno);
            return enter(std::move(next), name);
        }
        std::array<char, PATH_MAX> target;
        const ssize_t length = ::readlinkat(link.get(), "", target.data(), target.size());
        if (length < 0) fail(errno);
        rest_.insert(0, target.data(), static_cast<std::size_t>(length));
        if (rest_.starts_with('/')) begin("/");
    }

    const std::string& path_;
    MissingFolders missing_;
    UniqueFd folder_;
    std::string walked_;  ///< as the user would write the folder
    std::string rest_;    ///< what is to be walked yet
    int links_ = 0;
};

/// Whether others can make, rename or remove something in it.
bool others_may_write(const struct stat& folder) {
    if ((folder.st_mode & S_IWOTH) != 0) return true;
    const bool users_own = ::geteuid() != 0 && folder.st_gid == ::getegid();
    return (folder.st_mode & S_IWGRP) != 0 && !users_own;
}

std::string path_of(const UniqueFd& folder) {
    std::array<char, PATH_MAX> text;
    const ssize_t length =
        ::readlink(fmt::format("/proc/self/fd/{}", folder.get()).c_str(), text.data(), text.size());
    if (length <= 0 || text.front() != '/' || static_cast<std::size_t>(length) == text.size())
        throw Error("cannot read the path of a folder in /proc/self/fd");
    return {text.data(), static_cast<std::size_t>(length)};
}

/// Of the folder at `path`, and what is above it.
void require_own(UniqueFd folder, const std::string& path) {
    struct stat made {};
    struct stat below {};
    for (std::string at = path;; at += "/..") {
        if (::fstat(folder.get(), &made) != 0) throw Error(fmt::format("cannot look at {}", at));
        if (made.st_dev == below.st_dev && made.st_ino == below.st_ino) return;
        const bool sticky = at != path && (made.st_mode & S_ISVTX) != 0;
        if (!is_trusted(made.st_uid) || (others_may_write(made) && !sticky))
            throw Error(path_of(folder) + (is_trusted(made.st_uid)
                                               ? " may be written to by others"
                                               : fmt::format(" is user {}'s", made.st_uid)));
        below = made;
        folder.reset(::openat(folder.get(), "..", kFolder));
        if (!folder) throw Error(fmt::format("cannot look above {}", at));
    }
}

}  // namespace

FilePlace find_place(const std::string& path, MissingFolders missing) {
    const std::size_t name = path.rfind('/') + 1;  // 0 where there is no slash
    FilePlace place{FolderWalk(path, missing).to(path.substr(0, name)), path.substr(name)};
    if (place.name.empty()) place.name = ".";
    return place;
}

std::string own_folder(const std::string& path) {
    UniqueFd folder = find_place(path + '/', MissingFolders::Make).folder;
    std::string real = path_of(folder);
    require_own(std::move(folder), real);
    return real;
}

}  // namespace lattop
