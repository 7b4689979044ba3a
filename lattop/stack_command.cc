// SPDX-License-Identifier: GPL-2.0-or-later
//
// See stack_command.h. A stack is read word by word from a thread that may wake
// up in between. What the kernel counts proves that it did not: the sum of its
// context switches is the same before and after, and so is the system call it
// is in.
#include "lattop/stack_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "lattop/model/format.h"
#include "lattop/model/frames.h"
#include "lattop/source/error.h"
#include "unwind/symbolizer.h"

namespace lattop {
namespace {

constexpr int kTries = 5;
constexpr std::size_t kFileBytes = std::size_t{256} << 20;

struct Text {
    std::string text;
    int error = 0;
};

Text read_text(const std::string& path) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return {{}, errno};
    std::array<char, 8192> bytes;
    const ssize_t n = ::read(fd.get(), bytes.data(), bytes.size());
    if (n < 0) return {{}, errno};
    return {std::string(bytes.data(), static_cast<std::size_t>(n)), 0};
}

std::optional<std::uint64_t> number_behind(std::string_view text, std::string_view name) {
    const std::size_t at = text.find(name);
    if (at == std::string_view::npos) return std::nullopt;
    text.remove_prefix(at + name.size());
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    std::uint64_t value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) return std::nullopt;
    return value;
}

LiveStack::State state_of(int error) {
    return error == EACCES || error == EPERM ? LiveStack::State::Refused : LiveStack::State::Gone;
}

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

std::string describe_frame(std::size_t index, const UserFrame& frame, std::uint64_t pc) {
    return fmt::format("  #{:<3} {:016x} {}", index, pc, frame_text(frame));
}

class StackPrinter {
public:
    explicit StackPrinter(std::uint32_t pid) : pid_(pid) {}

    void print_thread(std::uint32_t tid, ProcessCode& code) {
        code.allow_refresh();
        const LiveStack stack = live_stack("/proc", pid_, tid, code, unwinder_, registers_);
        const std::string name = read_text(fmt::format("/proc/{}/task/{}/comm", pid_, tid)).text;
        print(fmt::format("thread {} {}", tid, name.substr(0, name.find('\n'))));
        std::vector<std::uint64_t> addresses;
        for (const LiveFrame& frame : stack.walk.frames)
            addresses.push_back(frame.pc);
        const TaskRef task{pid_, pid_, start_ns_, 0};
        const Naming naming = symbolizer_.name(task, addresses, ++round_);
        for (std::size_t i = 0; i < naming.stack.frames.size(); ++i)
            print(describe_frame(i, *naming.stack.frames[i], addresses[i]));
        std::fputs((describe_end(stack) + "\n").c_str(), stdout);
    }

    void set_start(std::uint64_t start_ns) { start_ns_ = start_ns; }

private:
    static void print(const std::string& line) {
        std::fputs((printable(line, Charset::Utf8) + "\n").c_str(), stdout);
    }

    std::uint32_t pid_;
    std::uint64_t start_ns_ = 0;
    std::uint64_t round_ = 0;
    LiveUnwinder unwinder_;
    RegisterReader registers_ = module_registers();
    Symbolizer symbolizer_;
};

/// Adds bp to what /proc says, from the same sleep: same pc, same sp.
void add_bp(ThreadRegisters& registers, const std::optional<lt_regs>& more) {
    auto& values = registers.values;
    if (more && values.at(ThreadRegisters::kPc) == more->pc &&
        values.at(ThreadRegisters::kSp) == more->sp)
        values.at(ThreadRegisters::kBp) = more->bp;
}

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
        const auto before = parse_switches(read_text(folder + "status").text);
        const Text call = read_text(folder + "syscall");
        if (!before || call.error != 0) return {state_of(call.error), {}};
        auto registers = parse_syscall(call.text);
        stack.state = LiveStack::State::Runs;
        if (!registers) continue;
        add_bp(*registers, more(tid));
        stack.walk = unwinder.walk(code, *registers);
        const Text same_call = read_text(folder + "syscall");
        if (parse_switches(read_text(folder + "status").text) != before ||
            same_call.text != call.text)
            continue;
        stack.state = LiveStack::State::Blocked;
        return stack;
    }
    stack.walk = {};
    return stack;
}

void run_stack(std::uint32_t pid) {
    const auto tgid = number_behind(read_text(fmt::format("/proc/{}/status", pid)).text, "\nTgid:");
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
