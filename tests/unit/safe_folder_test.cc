// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/safe_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "lattop/recording/output_file.h"
#include "lattop/source/error.h"
#include "lattop/user_config.h"
#include "lattop/write_file.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"

namespace lattop::test {
namespace {

constexpr uid_t kOther = 30001;

/// The inode of the folder that a file of this path would be made in.
ino_t folder_of(const std::string& path) {
    const FilePlace place = find_place(path);
    struct stat info {};
    REQUIRE(::fstat(place.folder.get(), &info) == 0);
    return info.st_ino;
}

ino_t inode_of(const std::string& path) {
    struct stat info {};
    REQUIRE(::stat(path.c_str(), &info) == 0);
    return info.st_ino;
}

void make_folder(const std::string& path, mode_t mode = 0755, uid_t owner = ::geteuid()) {
    REQUIRE(::mkdir(path.c_str(), 0700) == 0);
    REQUIRE(::chown(path.c_str(), owner, static_cast<gid_t>(-1)) == 0);
    REQUIRE(::chmod(path.c_str(), mode) == 0);
}

void make_link(const std::string& path, const std::string& target, uid_t owner = ::geteuid()) {
    REQUIRE(::symlink(target.c_str(), path.c_str()) == 0);
    REQUIRE(::lchown(path.c_str(), owner, static_cast<gid_t>(-1)) == 0);
}

class EffectiveUser {
public:
    explicit EffectiveUser(uid_t user) { REQUIRE(::seteuid(user) == 0); }
    EffectiveUser(const EffectiveUser&) = delete;
    EffectiveUser& operator=(const EffectiveUser&) = delete;
    ~EffectiveUser() { static_cast<void>(::seteuid(0) == 0); }
};

/// Only root can make another user's link.
bool can_make_others() {
    if (::geteuid() == 0) return true;
    WARN("not shown: only root can give a link away");
    return false;
}

}  // namespace

TEST_CASE("a user's own links on the way to a file are followed, wherever they are") {
    const TempFolder folder;
    const std::string& top = folder.path();
    make_folder(top + "/deep");
    make_folder(top + "/deep/er");
    make_folder(top + "/shared", 01777);
    make_link(top + "/absolute", top + "/deep/er");
    make_link(top + "/relative", "deep/../deep//er/.");
    make_link(top + "/twice", "relative");
    make_link(top + "/shared/own", "../deep/er");
    const ino_t deeper = inode_of(top + "/deep/er");
    for (const char* name : {"/deep/er", "/absolute", "/relative", "/twice/", "/shared/own",
                             "//shared/.././relative"}) {
        INFO(name);
        CHECK(folder_of(top + name + "/r") == deeper);
    }
    CHECK(folder_of(top + "/absolute/../r") == inode_of(top + "/deep"));
    CHECK(find_place(top + "/absolute/r").name == "r");
    CHECK(folder_of("r") == inode_of("."));
    CHECK(folder_of("/r") == inode_of("/"));
}

TEST_CASE("a path that leads to no folder is refused") {
    const TempFolder folder;
    const std::string& top = folder.path();
    std::ofstream(top + "/file").close();
    make_link(top + "/round", "about");
    make_link(top + "/about", "round");
    CHECK_THROWS_WITH(find_place(top + "/round/r"), has_text("Too many levels of symbolic links"));
    CHECK_THROWS_WITH(find_place(top + "/file/r"), has_text("Not a directory"));
    CHECK_THROWS_WITH(find_place(top + "/no/such/r"), has_text("No such file"));
    CHECK_THROWS_WITH(replace_file(top + "/", "text", ""), has_text("not a regular file"));
    CHECK_THROWS_WITH(recording::OutputFile(top + "/"), has_text("Is a directory"));
}

TEST_CASE("what a process has open is gone to, not what its name says") {
    const TempFolder folder;
    const std::string gone = folder.path() + "/gone";
    make_folder(gone);
    const UniqueFd fd(::open(gone.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const ino_t inode = inode_of(gone);
    REQUIRE(::rmdir(gone.c_str()) == 0);
    make_folder(gone + " (deleted)");  // as /proc calls it
    CHECK(folder_of(fmt::format("/proc/self/fd/{}/r", fd.get())) == inode);
}

TEST_CASE("a folder that was found stays the one that is written to") {
    const TempFolder folder;
    const std::string& top = folder.path();
    make_folder(top + "/out");
    make_folder(top + "/trap");
    const FilePlace place = find_place(top + "/out/r");
    REQUIRE(::rename((top + "/out").c_str(), (top + "/moved").c_str()) == 0);
    make_link(top + "/out", "trap");
    const UniqueFd fd(
        ::openat(place.folder.get(), place.name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    CHECK(std::filesystem::exists(top + "/moved/r"));
    CHECK(std::filesystem::is_empty(top + "/trap"));
}

TEST_CASE("a configuration's folders are made, through a user's own links too") {
    const TempFolder folder;
    const std::string& top = folder.path();
    make_folder(top + "/elsewhere");
    make_link(top + "/config", "elsewhere/config");
    write_user_config(top + "/config/lattop/screen.conf", "text");
    CHECK(content_of(top + "/elsewhere/config/lattop/screen.conf") == "text");
    write_user_config(top + "/config/lattop/screen.conf", "another");
    CHECK(content_of(top + "/elsewhere/config/lattop/screen.conf") == "another");
}

TEST_CASE("no file is written through a link that another user can have made") {
    if (!can_make_others()) return;
    const TempFolder folder;
    const std::string& top = folder.path();
    REQUIRE(::chmod(top.c_str(), 0755) == 0);
    make_folder(top + "/trap", 0777);
    struct Shared {
        const char* name;
        mode_t mode;
        uid_t owner;
    };
    for (const Shared& shared : {Shared{"/tmp", 01777, 0}, Shared{"/world", 0777, 0},
                                 Shared{"/group", 0775, 0}, Shared{"/his", 0755, kOther}}) {
        INFO(shared.name);
        const std::string where = top + shared.name;
        make_folder(where, shared.mode, shared.owner);
        make_link(where + "/out", "../trap", kOther);
        const auto refused =
            has_text(fmt::format("{}/out is a symbolic link of user {}", where, kOther));
        CHECK_THROWS_WITH(recording::OutputFile(where + "/out/r"), refused);
        CHECK_THROWS_WITH(replace_file(where + "/out/r", "text", ""), refused);
        CHECK_THROWS_WITH(write_user_config(where + "/out/lattop/screen.conf", "text"), refused);
        // Nor behind a link that may be followed
        make_link(top + "/to", where);
        CHECK_THROWS_WITH(find_place(top + "/to/out/r"), refused);
        REQUIRE(::unlink((top + "/to").c_str()) == 0);
        // He who made it may
        const EffectiveUser other(kOther);
        CHECK_NOTHROW(find_place(where + "/out/r"));
    }
    CHECK(std::filesystem::is_empty(top + "/trap"));
}

TEST_CASE("links that only root or the user himself can have placed are followed") {
    if (!can_make_others()) return;
    const TempFolder folder;
    const std::string& top = folder.path();
    REQUIRE(::chmod(top.c_str(), 0755) == 0);
    make_folder(top + "/data");
    make_folder(top + "/tmp", 01777);
    make_folder(top + "/home", 0755, kOther);
    make_link(top + "/unpacked", "data", kOther);
    make_link(top + "/tmp/roots", "../data");
    make_link(top + "/home/of-third", "../data", kOther + 1);
    const ino_t data = inode_of(top + "/data");
    CHECK(folder_of(top + "/unpacked/r") == data);
    CHECK(folder_of(top + "/tmp/roots/r") == data);
    CHECK_THROWS_WITH(find_place(top + "/home/of-third/r"), has_text("symbolic link of user"));
    const EffectiveUser other(kOther);
    CHECK(folder_of(top + "/unpacked/r") == data);
    CHECK(folder_of(top + "/tmp/roots/r") == data);
    CHECK(folder_of(top + "/home/of-third/r") == data);
}

TEST_CASE("an own folder is made, and named without links") {
    const TempFolder folder;
    const std::string top = std::filesystem::canonical(folder.path()).string();
    make_folder(top + "/data", 0755);
    make_link(top + "/link", "data");
    CHECK(own_folder(top + "/data") == top + "/data");
    CHECK(own_folder(top + "/link/../link/deep/er/") == top + "/data/deep/er");
    CHECK(own_folder("/") == "/");
}

TEST_CASE("no folder is one's own that others may write to, or put another in the place of") {
    const TempFolder folder;
    const std::string top = std::filesystem::canonical(folder.path()).string();
    make_folder(top + "/all", 0777);
    make_folder(top + "/all/mine", 0700);
    make_folder(top + "/sticky", 01777);
    make_folder(top + "/sticky/mine", 0700);
    CHECK_THROWS_WITH(own_folder(top + "/all"), has_text(top + "/all may be written to by others"));
    CHECK_THROWS_WITH(own_folder(top + "/all/mine"),
                      has_text(top + "/all may be written to by others"));
    CHECK_THROWS_WITH(own_folder(top + "/sticky"), has_text("may be written to by others"));
    CHECK(own_folder(top + "/sticky/mine") == top + "/sticky/mine");
    make_folder(top + "/group", 0775);
    if (::geteuid() != 0) {
        CHECK(own_folder(top + "/group") == top + "/group");
        return;
    }
    CHECK_THROWS_WITH(own_folder(top + "/group"), has_text("may be written to by others"));
    make_folder(top + "/his", 0755, kOther);
    make_folder(top + "/his/roots", 0755);
    CHECK_THROWS_WITH(own_folder(top + "/his/roots"), has_text(top + "/his is user 30001's"));
    CHECK_THROWS_WITH(own_folder(top + "/his/new"), has_text("is user 30001's"));
}

}  // namespace lattop::test
