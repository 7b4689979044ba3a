// SPDX-License-Identifier: GPL-2.0-or-later
//
// Whose time it is that a look at a task takes (unwind/payer.h), for who may be kept waiting by
// others than root and who runs lattop: WorkerNamer, ObjectWorker.
#pragma once

#include "unwind/payer.h"
#include "unwind/symbolizer.h"

namespace lattop {

/// kNoPayer where nobody is to be left alone for it: of root's tasks, of those of who runs this
/// program, and of those that are gone. Reads /proc, and waits for no file system.
Payer payer_of_task(const TaskRef& task);

}  // namespace lattop
