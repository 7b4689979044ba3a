// SPDX-License-Identifier: GPL-2.0-or-later
//
// See live_stack.h. A stack is read word by word from a thread that may wake
// up in between. What the kernel counts proves that it did not: the sum of its
// context switches is the same before and after, and so is the system call it
// is in.
#include "lattop/model/live_stack.h"

#include <fmt/format.h>

#include <cerrno>

#include "lattop/model/proc_text.h"
#include "lattop/model/wait_object.h"

namespace lattop {
namespace {

constexpr int kTries = 5;

LiveStack::State state_of(int error) {
    return error == EACCES || error == EPERM ? LiveStack::State::Refused : LiveStack::State::Gone;
}

/// Adds bp to what /proc says, from the same sleep: same pc, same sp.
void add_bp(ThreadRegisters& registers, const std::optional<lt_regs>& more) {
    auto& values = registers.values;
    if (more && values.at(ThreadRegisters::kPc) == more->pc &&
        values.at(ThreadRegisters::kSp) == more->sp)
        values.at(ThreadRegisters::kBp) = more->bp;
}

}  // namespace

std::optional<std::uint64_t> parse_switches(const std::string& status) {
    const auto voluntary = number_behind(status, "\nvoluntary_ctxt_switches:");
    const auto other = number_behind(status, "\nnonvoluntary_ctxt_switches:");
    if (!voluntary || !other) return std::nullopt;
    return *voluntary + *other;
}

LiveStack live_stack(const std::string& proc, std::uint32_t pid, std::uint32_t tid,
                     ProcessCode& code, LiveUnwinder& unwinder, const RegisterReader& more) {
    const std::string folder = fmt::format("{}/{}/task/{}/", proc, pid, tid);
    LiveStack stack;
    for (int i = 0; i < kTries; ++i) {
        const auto before = parse_switches(read_proc_text(folder + "status").text);
        const ProcText call = read_proc_text(folder + "syscall");
        if (!before || call.error != 0) return {state_of(call.error), {}, {}};
        auto registers = parse_syscall(call.text);
        stack.state = LiveStack::State::Runs;
        if (!registers) continue;
        add_bp(*registers, more(tid));
        stack.walk = unwinder.walk(code, *registers);
        const auto ran = [&] {
            return read_proc_text(folder + "syscall").text != call.text ||
                   parse_switches(read_proc_text(folder + "status").text) != before;
        };
        if (ran()) continue;
        stack.state = LiveStack::State::Blocked;
        // May take longer than the sleep lasts: then the stack is all there is
        stack.object = wait_object(proc, pid, tid, call.text);
        if (!stack.object.empty() && ran()) stack.object.clear();
        return stack;
    }
    stack.walk = {};
    return stack;
}

}  // namespace lattop
