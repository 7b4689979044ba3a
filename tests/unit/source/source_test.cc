// SPDX-License-Identifier: GPL-2.0-or-later
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "lattop/source/error.h"
#include "lattop/source/proc_source.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"
#include "tests/unit/support/sample.h"

namespace lattop::test {
namespace {

void append(const std::string& path, const std::vector<std::byte>& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::app)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

/// What making a ProcSource of `path` says.
NotUsableError refusal(const std::string& path) {
    try {
        const ProcSource source(path);
    } catch (const NotUsableError& error) {
        return error;
    }
    throw std::logic_error(path + " was accepted");
}

}  // namespace

TEST_CASE("a module that is not loaded: what to do") {
    const NotUsableError error = refusal("/nonexistent/lattop");
    CHECK_THAT(error.what(), has_text("not loaded"));
    CHECK_THAT(error.hint(), has_text("make load") && has_text("modprobe lattop"));
    CHECK(error.code() == ExitCode::NotUsable);
}

TEST_CASE("a file that is not lattop's is told from one that is") {
    CHECK_THAT(refusal("/dev/null").what(), has_text("not lattop's"));
    const TempFolder folder;
    const std::string path = folder.path() + "/file";
    append(path, sample_machine(1).bytes());
    CHECK_THAT(refusal(path).what(), has_text("not lattop's"));
}

TEST_CASE("a file that this user may not read says so") {
    if (::geteuid() == 0) return;  // root may read everything
    const TempFolder folder;
    const std::string path = folder.path() + "/file";
    append(path, {});
    ::chmod(path.c_str(), 0);
    CHECK_THAT(refusal(path).hint(), has_text("root"));
}

}  // namespace lattop::test
