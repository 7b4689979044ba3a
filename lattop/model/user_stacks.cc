// SPDX-License-Identifier: GPL-2.0-or-later
//
// See user_stacks.h.
#include "lattop/model/user_stacks.h"

#include <atomic>

#include "unwind/hash.h"

namespace lattop {

std::size_t HashStackId::operator()(const StackId& id) const {
    return (HashTaskId{}(id.task) * kHashMultiplier + id.trace_id) * kHashMultiplier + id.exec_id;
}

StackId stack_id(const Snapshot& snapshot, const Task& task, const Entry& entry) {
    const Trace* trace = snapshot.trace_of(entry);
    return {id_of(task), entry.exec_id, trace == nullptr ? 0 : trace->id, snapshot.header.load};
}

StackId stack_id(const Snapshot& snapshot, const Waker& waker, TraceIndex of) {
    const Trace* trace = snapshot.trace_at(of);
    return {id_of(waker), waker.exec_id, trace == nullptr ? 0 : trace->id, snapshot.header.load};
}

std::uint64_t new_version() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

}  // namespace lattop
