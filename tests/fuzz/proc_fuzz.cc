// SPDX-License-Identifier: GPL-2.0-or-later
//
// Text of /proc/PID/stat, status, syscall, comm and fdinfo, and where the links in fd
// lead: a process chooses its name, its arguments and its files' names. What a
// thread waits for is one line where its files' names are, and a name cannot move the start of a
// process.
//
//	proc: syscall | status | name | fdinfo | link | memory    (bytes.h: parts_of)
#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "lattop/model/live_stack.h"
#include "lattop/model/proc_text.h"
#include "lattop/model/wait_object.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/folder.h"
#include "unwind/process_files.h"
#include "unwind/thread_registers.h"

namespace {

// No process has these: they are more than PID_MAX_LIMIT.
constexpr std::uint32_t kPid = (1U << 22) + 1;
constexpr std::uint32_t kAnother = kPid + 1;

bool one_line(std::string_view text) {
    return text.find('\n') == std::string_view::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static lattop::fuzz::Folder proc;
    static const std::string process = std::to_string(kPid);
    static const std::string task = process + "/task/" + process;
    const auto parts = lattop::fuzz::parts_of<6>(lattop::fuzz::text_of(data, size));
    const std::string call(parts[0]);
    const std::string status(parts[1]);
    const std::string comm(parts[2]);
    for (const std::string& folder : {process, task}) {
        proc.write(folder + "/status", status);
        proc.write(folder + "/comm", comm);
    }
    proc.write(task + "/fdinfo/3", parts[3]);
    proc.link(task + "/fd/3", parts[4]);
    proc.write(process + "/mem", parts[5]);

    constexpr std::uint64_t kTicks = 4711;
    proc.write(process + "/stat",
               process + " (" + comm + ") S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0\n");
    REQUIRE(lattop::ProcessFiles::start_ticks(proc.path(), kPid) == kTicks);
    proc.write(std::to_string(kAnother) + "/stat", status);
    lattop::ProcessFiles::start_ticks(proc.path(), kAnother);

    const std::string object = lattop::wait_object(proc.path(), kPid, kPid, call);
    REQUIRE(one_line(object) || !one_line(parts[4]));
    lattop::parse_switches(status);
    const auto registers = lattop::parse_syscall(call);
    REQUIRE(!registers || (registers->values.at(lattop::ThreadRegisters::kPc) &&
                           registers->values.at(lattop::ThreadRegisters::kSp)));
    return 0;
}
