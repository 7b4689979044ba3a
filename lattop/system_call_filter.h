// SPDX-License-Identifier: GPL-2.0-or-later
//
// The filter of system calls of `lattop daemon`, by libseccomp. Used by
// least_privilege.cc.
#pragma once

namespace lattop {

/// From now on all threads of this process can read files, wait, start threads
/// and speak to the module, and nothing else: other calls fail with EPERM. For
/// good, needs no_new_privs. 0, or an errno where the kernel has no filters.
int filter_system_calls();

}  // namespace lattop
