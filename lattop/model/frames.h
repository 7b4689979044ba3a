// SPDX-License-Identifier: GPL-2.0-or-later
//
// Frames as text, and the one frame that tells most about an entry. Used by
// the table, the detail pane and the batch text.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lattop/model/user_stacks.h"
#include "lattop/source/snapshot.h"

namespace lattop {

/// "futex_wait+0x5c", "do_poll+0x1a [kvm]"
std::string frame_text(const KernelFrame& frame);

/// "Pool::read_all+0x12 server main.cc:12", "libc.so.6+0x8a1b3", "0x7f12ab":
/// without parameters, which would push the rest off the screen.
std::string frame_text(const UserFrame& frame);

/// The same for a function inlined into that of `around`.
std::string frame_text(const InlinedFrame& frame, const UserFrame& around);

/// A demangled name without parameters and what follows them:
/// "ns::Pool::take" of "ns::Pool::take(int) const".
std::string without_parameters(const std::string& name);

/// "std::__invoke<F>(F&&)" of "void std::__invoke<F>(F&&)": function templates are written with
/// what they return.
std::string_view without_return_type(std::string_view name);

/// A name that is to fit in `columns`: first template arguments go, then
/// qualifiers from the left, so that "take" of "ns::Pool<int>::take" stays.
std::string fitted_name(const std::string& name, std::size_t columns);

/// Kernel frames of a trace as text, innermost first.
std::vector<std::string> kernel_frame_texts(const Snapshot& snapshot, const Trace& trace);

/// The functions alone.
std::vector<std::string> kernel_function_texts(const Snapshot& snapshot, const Trace& trace);

/// User frames of an entry as text, innermost first, named as far as known.
std::vector<std::string> user_frame_texts(const Snapshot& snapshot, const Task& task,
                                          const Entry& entry, const UserStacks& stacks);

/// The same of one of a waker's stacks: its trace or its waited_trace.
std::vector<std::string> user_frame_texts(const Snapshot& snapshot, const Waker& waker,
                                          TraceIndex of, const UserStacks& stacks);

/// The same for a stack that has its names.
std::vector<std::string> user_frame_texts(const UserStack& stack);

/// Whether a trace's user part may lack frames that a live stack has.
bool lacks_frames(const Trace& trace);

/// The most telling frame of an entry: the innermost in the program's own
/// file, else the kernel function that says what is waited for, else a user
/// frame, else nothing.
struct TopFrame {
    std::string text;
    bool user = false;
};
TopFrame top_frame(const Snapshot& snapshot, const Task& task, const Entry& entry,
                   const UserStacks& stacks);

/// The same of one of a waker's stacks: its trace or its waited_trace.
TopFrame top_frame(const Snapshot& snapshot, const Waker& waker, TraceIndex of,
                   const UserStacks& stacks);

/// The same for the worst entry of a task that the snapshot holds.
TopFrame top_frame(const Snapshot& snapshot, const Task& task, const UserStacks& stacks);

/// Whether `holds` says so of some function of an entry's stack, the kernel's or the program's,
/// also one that was inlined there. It is asked of names with their parameters; where a user
/// frame has none, of its file's.
bool any_function(const Snapshot& snapshot, const Task& task, const Entry& entry,
                  const UserStacks& stacks, const std::function<bool(std::string_view)>& holds);

/// Why the user part of a trace may not be whole: "complete", or what is
/// missing and why.
std::string completeness(const Trace& trace);

/// COMMAND column: the name, marked where the record stands for several tasks.
std::string command_text(const Task& task);

}  // namespace lattop
