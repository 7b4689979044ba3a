// SPDX-License-Identifier: GPL-2.0-or-later
//
// The filters of system calls of `lattop daemon` and of its image readers, by
// libseccomp. Used by least_privilege.cc and image_reader.cc.
#pragma once

namespace lattop {

enum class FilterFor {
    Daemon,       ///< reads files, waits, starts threads and speaks to the module
    ImageReader,  ///< reads files and speaks to who started it
};

/// From now on all threads of this process can do that and nothing else: other
/// calls fail with EPERM. For good, needs no_new_privs. 0, or an errno where the
/// kernel has no filters.
int filter_system_calls(FilterFor whom);

}  // namespace lattop
