// SPDX-License-Identifier: GPL-2.0-or-later
//
// A system call that fails, as on a file system that has no room for what was written before. For
// tests of what no file system here does when it is asked.
#pragma once

#include <functional>

namespace lattop::test {

/// Runs `what` on a thread whose system calls of number `call` fail with `error`; what it throws
/// is thrown here.
void with_failing_call(int call, int error, const std::function<void()>& what);

}  // namespace lattop::test
