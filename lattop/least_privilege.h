// SPDX-License-Identifier: GPL-2.0-or-later
//
// What `lattop daemon` gives up before it looks at anything of others: it reads
// every program's memory and files, and may be talked into doing what they say
// by a fault in here or in elfutils. Then it still cannot write, run, trace or
// send anything. docs/decisions/0015 says what is kept and why.
#pragma once

#include <string>

namespace lattop {

/// Keeps the capabilities that learning needs, sets no_new_privs and installs
/// the filter of system calls. For good; to be called before there are other
/// threads, whose capabilities are their own. What could not be had goes on
/// without and is returned, a line each with what is lost; "" for nothing.
/// Throws NotUsableError without CAP_SYS_PTRACE, for nothing can be learned.
std::string keep_least_privilege();

}  // namespace lattop
