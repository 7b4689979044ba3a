// SPDX-License-Identifier: GPL-2.0-or-later
//
// What `lattop doctor` reads of /proc and /sys: whatever stands there, each finding
// says something.
//
//	doctor: osrelease | status | modules | lockdown | ptrace_scope | initstate | a task's
// stack | its comm    (bytes.h: parts_of)
#include <cstdint>
#include <string>

#include "lattop/source/error.h"
#include "lattop/verbs/doctor.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/folder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static lattop::fuzz::Folder root;
    const auto parts = lattop::fuzz::parts_of<8>(lattop::fuzz::text_of(data, size));
    root.write("proc/sys/kernel/osrelease", parts[0]);
    root.write("proc/self/status", parts[1]);
    root.write("proc/modules", parts[2]);
    root.write("sys/kernel/security/lockdown", parts[3]);
    root.write("proc/sys/kernel/yama/ptrace_scope", parts[4]);
    root.write("sys/module/lattop/initstate", parts[5]);
    root.write("proc/7/task/8/stack", parts[6]);
    root.write("proc/7/task/8/comm", parts[7]);
    const lattop::Machine machine{
        root.path(), []() -> lattop::Header { throw lattop::Error("no module"); }, [] {}, [] {}};
    const auto findings = lattop::examine(machine);
    REQUIRE(!findings.empty());
    for (const lattop::Finding& finding : findings)
        REQUIRE(!finding.text.empty());
    REQUIRE(!lattop::findings_text(findings).empty());
    return 0;
}
