// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/recording/output_file.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>

#include "lattop/recording/recording_source.h"
#include "lattop/source/error.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"
#include "tests/unit/support/failing_call.h"
#include "tests/unit/support/file_limit.h"
#include "tests/unit/support/recordings.h"

namespace lattop::test {
namespace {

using recording::OutputFile;

}  // namespace

TEST_CASE("a recording is its user's alone, whatever the umask") {
    const TempFolder folder;
    const std::string path = folder.path() + "/r";
    const mode_t before = ::umask(0);
    const OutputFile file(path);
    ::umask(before);
    struct stat info {};
    REQUIRE(::stat(path.c_str(), &info) == 0);
    CHECK((info.st_mode & 07777) == 0600);
}

TEST_CASE("what is no recording is not written over") {
    const TempFolder folder;
    const std::string path = folder.path() + "/precious";
    std::ofstream(path) << "precious data";
    const std::string link = folder.path() + "/link";
    REQUIRE(::symlink(path.c_str(), link.c_str()) == 0);
    const std::string dangling = folder.path() + "/dangling";
    REQUIRE(::symlink("nowhere", dangling.c_str()) == 0);
    const std::string fifo = folder.path() + "/fifo";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    CHECK_THROWS_WITH(OutputFile(path), has_text("not a recording"));
    CHECK_THROWS_WITH(OutputFile(link), has_text("symbolic link"));
    CHECK_THROWS_WITH(OutputFile(dangling), has_text("symbolic link"));
    CHECK_THROWS_WITH(OutputFile(fifo), has_text("not a regular file"));
    CHECK_THROWS_AS(OutputFile(folder.path()), Error);
    CHECK_THROWS_WITH(OutputFile(folder.path() + "/no/such"), has_text("No such file"));
    CHECK(content_of(path) == "precious data");
}

TEST_CASE("root does not record to what another user left there") {
    if (::geteuid() != 0) {
        WARN("not shown: only root can give a file away");
        return;
    }
    const TempFolder folder;
    const std::string path = folder.path() + "/trap";
    std::ofstream(path).close();
    REQUIRE(::chown(path.c_str(), 30001, 30001) == 0);
    CHECK_THROWS_WITH(OutputFile(path), has_text("another user's"));
    struct stat info {};
    REQUIRE(::stat(path.c_str(), &info) == 0);
    CHECK(info.st_uid == 30001);
}

TEST_CASE("an old recording is written over, unless it has other names or is being written") {
    const TempFolder folder;
    const std::string path = folder.path() + "/r";
    write_file(path, sample_recording(1));
    ::chmod(path.c_str(), 0644);
    {
        OutputFile file(path);
        struct stat info {};
        REQUIRE(::stat(path.c_str(), &info) == 0);
        CHECK(info.st_size == 0);
        CHECK((info.st_mode & 0777) == 0600);
        CHECK_THROWS_WITH(OutputFile(path), has_text("another lattop"));
    }
    write_file(path, sample_recording(1));
    const std::string other = folder.path() + "/other";
    REQUIRE(::link(path.c_str(), other.c_str()) == 0);
    CHECK_THROWS_WITH(OutputFile(path), has_text("other names"));
    CHECK(recording::open_recording(path).size() == 1);
}

TEST_CASE("who has an old recording open sees nothing of the new one") {
    const TempFolder folder;
    const std::string path = folder.path() + "/r";
    write_file(path, sample_recording(1));
    std::ifstream reader(path, std::ios::binary);
    OutputFile file(path);
    file.append(sample_recording(2));
    const std::string seen((std::istreambuf_iterator<char>(reader)), {});
    CHECK(seen.size() == sample_recording(1).size());
    CHECK(recording::open_recording(path).size() == 2);
}

TEST_CASE("a recording that could not be stored is no success") {
    const TempFolder folder;
    OutputFile file(folder.path() + "/r");
    file.append(sample_recording(2));
    CHECK_THROWS_WITH(with_failing_call(SYS_fsync, EDQUOT, [&] { file.finish(); }),
                      has_text("quota"));
    file.finish();
}

TEST_CASE("a file that may not grow keeps what was written before, whole") {
    const TempFolder folder;
    const std::string path = folder.path() + "/r";
    const auto bytes = sample_recording(2, false);
    OutputFile file(path);
    file.append(bytes);
    {
        const FileLimit limit(bytes.size() + 100);
        CHECK_THROWS_WITH(file.append(bytes), has_text("cannot write"));
    }
    CHECK(content_of(path).size() == bytes.size());
    CHECK(recording::open_recording(path).size() == 2);
}

}  // namespace lattop::test
