// SPDX-License-Identifier: GPL-2.0-or-later
//
// Memory of large blocks goes back to the kernel when they are freed. A refresh takes and frees
// some of megabytes, each of another size than the last: among what stays they would leave holes,
// which grow for hours. Called by main().
#pragma once

namespace lattop {

/// For this process, from now on. Does nothing where the C library has no mallopt(3).
void give_back_large_blocks();

}  // namespace lattop
