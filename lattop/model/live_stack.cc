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

std::optional<std::uint64_t> switches_of(const std::string& folder) {
    return parse_switches(read_proc_text(folder + "status").text);
}

/// A thread in a system call, and whether it ran since this was made.
class CallNow {
public:
    explicit CallNow(std::string folder)
        : folder_(std::move(folder)),
          switches_(switches_of(folder_)),
          call_(read_proc_text(folder_ + "syscall")) {}

    [[nodiscard]] bool readable() const { return switches_ && call_.error == 0; }
    [[nodiscard]] int error() const { return call_.error; }
    [[nodiscard]] const std::string& text() const { return call_.text; }
    [[nodiscard]] bool ran() const {
        return read_proc_text(folder_ + "syscall").text != call_.text ||
               switches_of(folder_) != switches_;
    }

private:
    std::string folder_;
    std::optional<std::uint64_t> switches_;
    ProcText call_;
};

std::string task_folder(const std::string& proc, std::uint32_t pid, std::uint32_t tid) {
    return fmt::format("{}/{}/task/{}/", proc, pid, tid);
}

/// May take longer than the sleep lasts: then nothing.
std::string object_of(const std::string& proc, std::uint32_t pid, std::uint32_t tid,
                      const CallNow& call, const NameAddress& name) {
    std::string object = wait_object(proc, pid, tid, call.text(), name);
    return object.empty() || call.ran() ? "" : object;
}

}  // namespace

std::optional<std::uint64_t> parse_switches(const std::string& status) {
    const auto voluntary = number_behind(status, "\nvoluntary_ctxt_switches:");
    const auto other = number_behind(status, "\nnonvoluntary_ctxt_switches:");
    if (!voluntary || !other) return std::nullopt;
    return *voluntary + *other;
}

LiveStack live_stack(const std::string& proc, std::uint32_t pid, std::uint32_t tid,
                     ProcessCode& code, LiveUnwinder& unwinder, const RegisterReader& more,
                     const NameAddress& name) {
    LiveStack stack;
    for (int i = 0; i < kTries; ++i) {
        const CallNow call(task_folder(proc, pid, tid));
        if (!call.readable()) return {state_of(call.error()), {}, {}};
        auto registers = parse_syscall(call.text());
        stack.state = LiveStack::State::Runs;
        if (!registers) continue;
        add_bp(*registers, more(tid));
        stack.walk = unwinder.walk(code, *registers);
        if (call.ran()) continue;
        stack.state = LiveStack::State::Blocked;
        stack.object = object_of(proc, pid, tid, call, name);
        return stack;
    }
    stack.walk = {};
    return stack;
}

std::string live_object(const std::string& proc, std::uint32_t pid, std::uint32_t tid,
                        const NameAddress& name) {
    const CallNow call(task_folder(proc, pid, tid));
    return call.readable() ? object_of(proc, pid, tid, call, name) : "";
}

}  // namespace lattop
