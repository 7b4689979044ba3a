// SPDX-License-Identifier: GPL-2.0-or-later
//
// See stack_command.h.
#include "lattop/stack_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "lattop/model/format.h"
#include "lattop/model/frames.h"
#include "lattop/model/live_stack.h"
#include "lattop/model/proc_text.h"
#include "lattop/output.h"
#include "lattop/source/error.h"
#include "lattop/source/sleep_registers.h"
#include "unwind/remote_unwind.h"
#include "unwind/symbolizer.h"

namespace lattop {
namespace {

constexpr std::size_t kFileBytes = std::size_t{256} << 20;

std::string describe_end(const LiveStack& stack) {
    switch (stack.state) {
        case LiveStack::State::Blocked:
            return stack.walk.complete ? "" : "  ... " + stack.walk.why + "\n";
        case LiveStack::State::Runs: return "  runs\n";
        case LiveStack::State::Refused: return "  may not be read by this user: try as root\n";
        case LiveStack::State::Gone: return "  has ended\n";
    }
    return "";
}

std::string describe_frame(std::size_t index, const std::string& text, std::uint64_t pc) {
    return fmt::format("  #{:<3} {:016x} {}", index, pc, text);
}

class StackPrinter {
public:
    explicit StackPrinter(std::uint32_t pid) : pid_(pid) {}

    void print_thread(std::uint32_t tid, ProcessCode& code) {
        code.allow_refresh();
        const TaskRef task{pid_, pid_, start_ns_, 0};
        ++round_;
        const NameAddress name = [&](std::uint64_t address) {
            return symbolizer_.variable(task, address, round_);
        };
        const LiveStack stack = live_stack("/proc", pid_, tid, code, *unwinder_, registers_, name);
        print(fmt::format("thread {} {}", tid,
                          read_proc_line(fmt::format("/proc/{}/task/{}/comm", pid_, tid))));
        if (!stack.object.empty()) print("  waits for " + stack.object);
        std::vector<std::uint64_t> addresses;
        for (const LiveFrame& frame : stack.walk.frames)
            addresses.push_back(frame.pc);
        const Naming naming = symbolizer_.name(task, addresses, round_);
        for (std::size_t i = 0; i < naming.stack.frames.size(); ++i)
            print_frame(i, *naming.stack.frames[i], addresses[i]);
        write_output(text_ + describe_end(stack) + "\n");
        text_.clear();
    }

    void set_start(std::uint64_t start_ns) { start_ns_ = start_ns; }

private:
    void print_frame(std::size_t index, const UserFrame& frame, std::uint64_t pc) {
        for (const InlinedFrame& inlined : frame.inlined)
            print(describe_frame(index, frame_text(inlined, frame), pc));
        print(describe_frame(index, frame_text(frame), pc));
    }

    void print(const std::string& line) { text_ += printable(line, charset_) + "\n"; }

    const Charset charset_ = locale_charset();
    std::string text_;  ///< of one thread
    std::uint32_t pid_;
    std::uint64_t start_ns_ = 0;
    std::uint64_t round_ = 0;
    std::shared_ptr<LiveUnwinder> unwinder_ = program_unwinder();
    RegisterReader registers_ = module_registers();
    Symbolizer symbolizer_;
};

/// Start of a process in ns, as precisely as /proc says it.
std::uint64_t start_ns_of(std::uint32_t pid) {
    const auto ticks = ProcessFiles::start_ticks("/proc", pid);
    if (!ticks) throw Error(fmt::format("there is no process {}", pid));
    constexpr std::uint64_t kSecond = 1'000'000'000;
    return *ticks * (kSecond / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK)));
}

std::vector<std::uint32_t> threads_of(std::uint32_t pid) {
    std::vector<std::uint32_t> threads;
    std::error_code gone;
    for (const auto& entry :
         std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), gone))
        threads.push_back(static_cast<std::uint32_t>(std::stoul(entry.path().filename().string())));
    std::ranges::sort(threads);
    return threads;
}

}  // namespace

void run_stack(std::uint32_t pid) {
    const auto tgid =
        number_behind(read_proc_text(fmt::format("/proc/{}/status", pid)).text, "\nTgid:");
    if (!tgid) throw Error(fmt::format("there is no process or thread {}", pid));
    const auto process = static_cast<std::uint32_t>(*tgid);
    const std::uint64_t start_ns = start_ns_of(process);
    CodeFiles files(kFileBytes);
    auto code = ProcessCode::open("/proc", process, start_ns, files);
    if (!code)
        throw Error(fmt::format("the memory of {} cannot be read", process),
                    "a kernel thread has none; another user's process needs root");
    StackPrinter printer(process);
    printer.set_start(start_ns);
    for (const std::uint32_t tid : pid == process ? threads_of(process) : std::vector{pid})
        printer.print_thread(tid, *code);
}

}  // namespace lattop
