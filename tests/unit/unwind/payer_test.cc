// SPDX-License-Identifier: GPL-2.0-or-later
//
// Who pays for a look at a process, and of whom nobody minds.
#include "unwind/payer.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "lattop/task_payer.h"
#include "tests/unit/support/catch.h"
#include "unwind/process_files.h"

namespace lattop::test {

TEST_CASE("a user pays, and of another user namespace the 65536 ids that one mostly has") {
    CHECK(payer_of(1000, true) == 1000);
    CHECK(payer_of(0, true) == kRootPayer);
    CHECK(payer_of(100'000, true) == 100'000);
    CHECK(payer_of(65'535, false) == 65'535);
    CHECK(payer_of(65'536, false) == payer_of(131'071, false));
    CHECK(payer_of(65'536, false) != payer_of(131'072, false));
    CHECK(payer_of(65'536, false) != 65'536);
    CHECK(payer_of(std::nullopt, true) == kNoPayer);
}

TEST_CASE("nobody pays for his own processes, nor where there is none") {
    const auto pid = static_cast<std::uint32_t>(::getpid());
    const auto ticks = ProcessFiles::start_ticks("/proc", pid);
    REQUIRE(ticks);
    const std::uint64_t start_ns =
        *ticks * 1'000'000'000 / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
    const auto files = ProcessFiles::open("/proc", pid, start_ns);
    REQUIRE(files);
    CHECK(payer_of(*files) == ::getuid());
    CHECK(payer_of_task({pid, pid, start_ns, 1}) == kNoPayer);
    CHECK(payer_of_task({pid, pid, start_ns + 1'000'000'000'000, 1}) == kNoPayer);
}

TEST_CASE("root by sudo is who asked for it") {
    if (::getuid() != 0) return;
    ::setenv("SUDO_UID", "1234", 1);
    CHECK(own_payer() == 1234);
    ::setenv("SUDO_UID", "12x", 1);
    CHECK(own_payer() == kRootPayer);
    ::unsetenv("SUDO_UID");
    CHECK(own_payer() == kRootPayer);
}

}  // namespace lattop::test
