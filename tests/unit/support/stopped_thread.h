// SPDX-License-Identifier: GPL-2.0-or-later
//
// All registers of a thread, by stopping it with ptrace. For tests only: lattop
// itself never stops anything.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "unwind/row_step.h"
#include "unwind/thread_registers.h"

namespace lattop::test {

/// The thread of a process that waits in read(2) on standard input, once there
/// is one.
pid_t wait_for_reader(std::uint32_t pid);

/// Stops a thread for as long as this lives.
class StoppedThread {
public:
    /// Nothing where it is gone or may not be traced.
    static std::optional<StoppedThread> stop(pid_t tid);

    StoppedThread(StoppedThread&& other) noexcept;
    StoppedThread& operator=(StoppedThread&&) = delete;
    StoppedThread(const StoppedThread&) = delete;
    StoppedThread& operator=(const StoppedThread&) = delete;
    ~StoppedThread();

    [[nodiscard]] const ThreadRegisters& registers() const { return registers_; }

private:
    StoppedThread(pid_t tid, const ThreadRegisters& registers) : tid_(tid), registers_(registers) {}

    pid_t tid_;
    ThreadRegisters registers_;
};

/// The innermost frame, as the module would hand it to the resolver.
lt_uframe frame_of(const ThreadRegisters& registers);

}  // namespace lattop::test
