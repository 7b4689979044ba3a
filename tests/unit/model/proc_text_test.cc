// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/model/proc_text.h"

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "lattop/model/live_stack.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"

namespace lattop::test {

TEST_CASE("the status of a task with many groups is read to its end") {
    const TempFolder folder;
    const std::string path = folder.path() + "/status";
    std::ofstream status(path);
    status << "Name:\tx\nGroups:\t";
    for (unsigned i = 0; i < 65'536; ++i)
        status << 4'000'000'000 + i << ' ';
    status << "\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t7\n" << std::flush;
    CHECK(parse_switches(read_proc_text(path).text) == 12U);
    CHECK(read_proc_line(path) == "Name:\tx");
}

TEST_CASE("a file of /proc is read up to a bound, and that it cannot be is said") {
    const TempFolder folder;
    const std::string path = folder.path() + "/long";
    std::ofstream(path) << std::string(3 * kMaxProcText, 'x');
    CHECK(read_proc_text(path).text.size() == kMaxProcText);
    CHECK(read_proc_text(folder.path() + "/none").error == ENOENT);
    CHECK(read_proc_text(folder.path()).error == EISDIR);
}

}  // namespace lattop::test
