// SPDX-License-Identifier: GPL-2.0-or-later
//
// See huge_pages.h.
#include "lattop/huge_pages.h"

#include <sys/prctl.h>

namespace lattop {
namespace {

bool changed = false;

}  // namespace

void take_no_huge_pages() {
    changed = ::prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 0 &&
              ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0;
}

void restore_huge_pages() {
    if (changed) ::prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
}

}  // namespace lattop
