// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/write_file.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "lattop/source/error.h"
#include "lattop/verbs/export.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"
#include "tests/unit/support/failing_call.h"
#include "tests/unit/support/file_limit.h"
#include "tests/unit/support/recordings.h"

namespace lattop::test {
namespace {

std::ptrdiff_t files_in(const TempFolder& folder) {
    return std::distance(std::filesystem::directory_iterator(folder.path()), {});
}

}  // namespace

TEST_CASE("a file that is replaced is its user's alone, whatever it was before") {
    const TempFolder folder;
    const std::string path = folder.path() + "/out";
    std::ofstream(path) << "something that was longer";
    ::chmod(path.c_str(), 0644);
    replace_file(path, "text", "");
    struct stat info {};
    REQUIRE(::stat(path.c_str(), &info) == 0);
    CHECK((info.st_mode & 07777) == 0600);
    CHECK(content_of(path) == "text");
    CHECK(files_in(folder) == 1);
}

TEST_CASE("what is not a regular file is not replaced, and nobody waits for a FIFO") {
    const TempFolder folder;
    const std::string fifo = folder.path() + "/fifo";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    const std::string link = folder.path() + "/link";
    REQUIRE(::symlink("nowhere", link.c_str()) == 0);
    CHECK_THROWS_WITH(replace_file(fifo, "text", ""), has_text("not a regular file"));
    CHECK_THROWS_WITH(replace_file(link, "text", ""), has_text("symbolic link"));
    CHECK_THROWS_WITH(replace_file(folder.path(), "text", ""), has_text("not a regular file"));
    CHECK_THROWS_WITH(replace_file(folder.path() + "/no/such", "text", ""), has_text("No such"));
    CHECK(files_in(folder) == 2);
}

TEST_CASE("a file that finds no room leaves what was there") {
    const TempFolder folder;
    const std::string path = folder.path() + "/out";
    std::ofstream(path) << "before";
    {
        const FileLimit limit(100);
        CHECK_THROWS_WITH(replace_file(path, std::string(1000, 'x'), ""), has_text("cannot write"));
    }
    CHECK(content_of(path) == "before");
    CHECK(files_in(folder) == 1);
}

TEST_CASE("a file system that has no room only when it stores what was written loses nothing") {
    const TempFolder folder;
    const std::string path = folder.path() + "/out";
    std::ofstream(path) << "before";
    const auto replace = [&] { replace_file(path, "text", ""); };
    CHECK_THROWS_WITH(with_failing_call(SYS_fsync, EDQUOT, replace), has_text("quota"));
    CHECK(content_of(path) == "before");
    CHECK(files_in(folder) == 1);
    with_failing_call(SYS_fsync, EINVAL, replace);
    CHECK(content_of(path) == "text");
}

int export_with(const std::vector<const char*>& words) {
    Arguments arguments("export", "does", words);
    return export_command(arguments);
}

TEST_CASE("an export does not replace the recording that it is made from") {
    const TempFolder folder;
    const std::string path = folder.path() + "/r";
    write_file(path, sample_recording(3));
    const std::string before = content_of(path);
    const std::vector<const char*> words = {"-f", "json", "-o", path.c_str(), path.c_str()};
    CHECK_THROWS_WITH(export_with(words), has_text("the file that is read"));
    CHECK(content_of(path) == before);
    const std::string other = folder.path() + "/json";
    const std::vector<const char*> well = {"-f", "json", "-o", other.c_str(), path.c_str()};
    CHECK(export_with(well) == 0);
    CHECK(content_of(other).starts_with('{'));
}

}  // namespace lattop::test
