// SPDX-License-Identifier: GPL-2.0-or-later
//
// See task_payer.h.
#include "lattop/task_payer.h"

#include "unwind/process_files.h"

namespace lattop {

Payer payer_of_task(const TaskRef& task) {
    const auto files = ProcessFiles::open("/proc", task.pid, task.start_ns);
    const Payer payer = files ? payer_of(*files) : kNoPayer;
    return payer == kRootPayer || payer == own_payer() ? kNoPayer : payer;
}

}  // namespace lattop
