// SPDX-License-Identifier: GPL-2.0-or-later
//
// See stopped_thread.h.
#include "tests/unit/support/stopped_thread.h"

#include <sched.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

namespace lattop::test {
namespace {

ThreadRegisters by_number(const user_regs_struct& regs) {
    ThreadRegisters registers;
    auto& to = registers.values;
    to.at(UNW_X86_64_RAX) = regs.rax;
    to.at(UNW_X86_64_RDX) = regs.rdx;
    to.at(UNW_X86_64_RCX) = regs.rcx;
    to.at(UNW_X86_64_RBX) = regs.rbx;
    to.at(UNW_X86_64_RSI) = regs.rsi;
    to.at(UNW_X86_64_RDI) = regs.rdi;
    to.at(UNW_X86_64_RBP) = regs.rbp;
    to.at(UNW_X86_64_RSP) = regs.rsp;
    to.at(UNW_X86_64_R8) = regs.r8;
    to.at(UNW_X86_64_R9) = regs.r9;
    to.at(UNW_X86_64_R10) = regs.r10;
    to.at(UNW_X86_64_R11) = regs.r11;
    to.at(UNW_X86_64_R12) = regs.r12;
    to.at(UNW_X86_64_R13) = regs.r13;
    to.at(UNW_X86_64_R14) = regs.r14;
    to.at(UNW_X86_64_R15) = regs.r15;
    to.at(UNW_X86_64_RIP) = regs.rip;
    return registers;
}

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

pid_t wait_for_reader(std::uint32_t pid) {
    for (;;) {
        for (const auto& entry :
             std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task"))
            if (text_of(entry.path().string() + "/syscall").starts_with("0 0x0 "))
                return std::stoi(entry.path().filename().string());
        ::sched_yield();
    }
}

std::optional<StoppedThread> StoppedThread::stop(pid_t tid) {
    if (::ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) != 0) return std::nullopt;
    user_regs_struct regs{};
    if (::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr) != 0 ||
        ::waitpid(tid, nullptr, __WALL) != tid ||
        ::ptrace(PTRACE_GETREGS, tid, nullptr, &regs) != 0) {
        ::ptrace(PTRACE_DETACH, tid, nullptr, nullptr);
        return std::nullopt;
    }
    return StoppedThread(tid, by_number(regs));
}

StoppedThread::StoppedThread(StoppedThread&& other) noexcept
    : tid_(std::exchange(other.tid_, -1)), registers_(other.registers_) {}

StoppedThread::~StoppedThread() {
    if (tid_ >= 0) ::ptrace(PTRACE_DETACH, tid_, nullptr, nullptr);
}

lt_uframe frame_of(const ThreadRegisters& registers) {
    lt_uframe frame{};
    frame.pc = registers.values.at(ThreadRegisters::kPc).value_or(0);
    frame.sp = registers.values.at(ThreadRegisters::kSp).value_or(0);
    frame.bp = registers.values.at(ThreadRegisters::kBp).value_or(0);
    frame.exact = LT_ROW_EXACT;
    return frame;
}

}  // namespace lattop::test
