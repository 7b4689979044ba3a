// SPDX-License-Identifier: GPL-2.0-or-later
//
// See doctor.h. Each check is a function of the machine that says what it
// found; what the module would say is asked of the module.
#include "lattop/verbs/doctor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "lattop/image_reader.h"
#include "lattop/model/users.h"
#include "lattop/output.h"
#include "lattop/source/error.h"
#include "lattop/source/proc_source.h"
#include "lattop/source/process_tree.h"
#include "lattop/version.h"

namespace lattop {
namespace {

using Level = Finding::Level;

/// What lattop is tested on: docs/kernels.md.
constexpr unsigned kOldestMajor = 5, kOldestMinor = 10;

constexpr unsigned kCapSysModule = 16, kCapSysPtrace = 19;

std::string read(const Machine& machine, const std::string& path) {
    std::string text = machine.files.text(path);
    while (!text.empty() && (text.back() == '\n' || text.back() == '\0'))
        text.pop_back();
    return text;
}

std::string release_of(const Machine& machine) {
    return read(machine, "/proc/sys/kernel/osrelease");
}

/// Capabilities in effect, as /proc/self/status says.
bool may(const Machine& machine, unsigned capability) {
    const std::string status = read(machine, "/proc/self/status");
    const std::string_view name = "CapEff:\t";
    const std::size_t at = status.find(name);
    if (at == std::string::npos) return false;
    std::uint64_t bits = 0;
    const char* end = status.data() + status.size();
    std::from_chars(status.data() + at + name.size(), end, bits, 16);
    return (bits >> capability & 1) != 0;
}

Finding check_kernel(const Machine& machine) {
    const std::string release = release_of(machine);
    unsigned major = 0;
    unsigned minor = 0;
    const char* end = release.data() + release.size();
    const auto [dot, error] = std::from_chars(release.data(), end, major);
    if (error != std::errc{} || dot == end || *dot != '.')
        return {Level::Note, fmt::format("the kernel's release \"{}\" says nothing", release)};
    std::from_chars(dot + 1, end, minor);
    if (major < kOldestMajor || (major == kOldestMajor && minor < kOldestMinor))
        return {Level::Problem, fmt::format("kernel {} is too old", release),
                "lattop needs Linux 5.10 or later; make run opens it in a guest"};
    return {Level::Fine, fmt::format("kernel {}", release)};
}

bool loaded(const Machine& machine) {
    return ("\n" + read(machine, "/proc/modules")).find("\nlattop ") != std::string::npos ||
           machine.files.exists("/proc/lattop");
}

/// Whether rmmod is at it.
bool unloads(const Machine& machine) {
    return read(machine, "/sys/module/lattop/initstate") == "going";
}

/// "pid (name)" of each task that is in a call of the module's; "" where no stack says so, as
/// for others than root.
std::string readers_within(const Machine& machine) {
    std::string readers;
    const auto each_number = [&](const std::string& folder, const auto& visit) {
        for (const std::string& name : machine.files.names(folder))
            if (::isdigit(static_cast<unsigned char>(name[0])) != 0)
                visit(fmt::format("{}/{}", folder, name));
    };
    each_number("/proc", [&](const std::string& process) {
        each_number(process + "/task", [&](const std::string& task) {
            const std::string stack = read(machine, task + "/stack");
            if (stack.find("proc_reg_") == std::string::npos ||
                stack.find("[lattop]") == std::string::npos)
                return;
            readers += fmt::format("{}{} ({})", readers.empty() ? "" : ", ",
                                   task.substr(task.rfind('/') + 1), read(machine, task + "/comm"));
        });
    });
    return readers;
}

/// Who reads into memory whose file system does not answer is waited for: docs/security.md.
Finding unloading(const Machine& machine) {
    const std::string readers = readers_within(machine);
    if (readers.empty())
        return {Level::Problem, "the module is being unloaded",
                "it can be loaded when that is over; where it lasts, lattop doctor as root says "
                "whom it waits for"};
    return {Level::Problem,
            fmt::format("the module is being unloaded, and waits for who reads it: {}", readers),
            "kill these; where that is of no use, the server of the file system that they read to "
            "(/proc/PID/maps)"};
}

/// What keeps an unloaded module from being loaded, worst first.
std::vector<Finding> check_loading(const Machine& machine) {
    std::vector<Finding> findings;
    const std::string release = release_of(machine);
    const std::string modules = "/lib/modules/" + release;
    if (!machine.files.exists("/proc/modules"))
        findings.push_back({Level::Problem, "this kernel takes no modules (no /proc/modules)",
                            "another kernel is needed; make run opens lattop in a guest"});
    if (read(machine, "/proc/sys/kernel/modules_disabled") == "1")
        findings.push_back({Level::Problem, "loading modules has been turned off",
                            "kernel.modules_disabled is 1, until the machine is booted again"});
    const std::string lockdown = read(machine, "/sys/kernel/security/lockdown");
    const bool locked = lockdown.find("[integrity]") != std::string::npos ||
                        lockdown.find("[confidentiality]") != std::string::npos;
    if (locked || read(machine, "/sys/module/module/parameters/sig_enforce") == "Y")
        findings.push_back({Level::Note, "this kernel takes signed modules only",
                            "sign lattop.ko with a key that it knows (mokutil --import)"});
    if (!may(machine, kCapSysModule))
        findings.push_back({Level::Problem, "this user may not load modules",
                            "run as root, outside of a container, or ask an administrator"});
    static constexpr std::array kPlaces = {"/extra/lattop.ko", "/updates/dkms/lattop.ko",
                                           "/updates/dkms/lattop.ko.xz",
                                           "/updates/dkms/lattop.ko.zst"};
    const bool installed = std::ranges::any_of(
        kPlaces, [&](const char* place) { return machine.files.exists(modules + place); });
    if (installed)
        findings.push_back({Level::Problem, "the module is installed, and not loaded",
                            "as root: modprobe lattop"});
    else if (machine.files.exists(modules + "/build/Makefile"))
        findings.push_back({Level::Problem, "the module is neither loaded nor installed",
                            "in lattop's source tree, as root: make load"});
    else
        findings.push_back(
            {Level::Problem,
             fmt::format("the module is not installed, and the headers of {} are missing", release),
             fmt::format("install them (Debian: apt install linux-headers-{}), then make load",
                         release)});
    return findings;
}

/// The parameter that bounds what a counter counts; "" for none.
std::string_view parameter_of(std::size_t cause) {
    switch (cause) {
        case LT_LOST_task_limit: return "max_tasks";
        case LT_LOST_entry_limit: return "max_traces_per_task";
        case LT_LOST_entry_pool: return "max_entries";
        case LT_LOST_trace_limit: return "max_traces";
        case LT_LOST_kernel_cut: return "kernel_depth";
        case LT_LOST_user_cut: return "user_depth";
        case LT_LOST_row_limit: return "max_rows";
        case LT_LOST_waker_pool: return "max_wakers";
        case LT_LOST_task_user:
        case LT_LOST_entry_user:
        case LT_LOST_trace_user:
        case LT_LOST_waker_user:
        case LT_LOST_row_user: return "user_share";
        default: return "";
    }
}

void check_losses(const Header& header, bool resolves, std::vector<Finding>& findings) {
    for (std::size_t i = 0; i < kLostCauses.size(); ++i) {
        if (header.lost[i] == 0) continue;
        Finding finding{Level::Note, fmt::format("{} {}", header.lost[i], kLostCauses[i].text)};
        if (const auto parameter = parameter_of(i); !parameter.empty())
            finding.advice = fmt::format("load the module with a larger {}", parameter);
        if (i == LT_LOST_user_miss)
            finding.advice = resolves ? "lattop learns while it runs; lattop daemon always does"
                                      : "as root: lattop daemon";
        findings.push_back(std::move(finding));
    }
}

/// What a user has nearly all of his share of. His past is meant to fill it, and what waits
/// comes and goes.
std::string filled_shares(const Header& header, const UserHoldings& user) {
    std::string text;
    for (const lt_held what : {LT_HELD_tasks, LT_HELD_entries, LT_HELD_traces, LT_HELD_memos,
                               LT_HELD_wakers, LT_HELD_rows, LT_HELD_snapshot_kib}) {
        const std::uint32_t share = header.share[what];
        if (share == 0 || user.held[what] < share - share / 8) continue;
        text += fmt::format("{}{} of {} {}", text.empty() ? "" : ", ", user.held[what], share,
                            kHeldNames[what]);
    }
    return text;
}

void check_users(const Header& header, std::vector<Finding>& findings) {
    SystemUsers names;
    for (const UserHoldings& user : header.users)
        if (!filled_shares(header, user).empty()) names.name(user.uid);
    names.wait(kUsersPatience);
    for (const UserHoldings& user : header.users)
        if (const std::string filled = filled_shares(header, user); !filled.empty())
            findings.push_back(
                {Level::Note,
                 fmt::format("user {} has his share: {}", names.name(user.uid), filled),
                 fmt::format("others have the rest; where he needs more, load the module with a "
                             "user_share above {} percent, or larger limits",
                             header.user_share)});
}

std::vector<Finding> check_module(const Machine& machine) {
    std::vector<Finding> findings;
    if (unloads(machine)) return {unloading(machine)};
    if (!loaded(machine)) return check_loading(machine);
    try {
        const Header header = machine.ask_module();
        findings.push_back(
            {Level::Fine, fmt::format("module {}, hook {}", header.release, header.hook)});
        if (header.release != kVersion)
            findings.push_back(
                {Level::Note,
                 fmt::format("the module is of release {}, this lattop of {}", header.release,
                             kVersion),
                 "install both of one release, then: rmmod lattop; modprobe lattop"});
        const bool resolves = may(machine, kCapSysPtrace);
        if (!resolves)
            findings.push_back({Level::Note,
                                "this user sees his own tasks only, and cannot make user stacks "
                                "whole",
                                "run as root, or have lattop daemon run as root"});
        if (header.limit[LT_LIMIT_WAKERS] == 0)
            findings.push_back({Level::Note,
                                "who wakes a task is not kept: lattop chain has nothing to follow",
                                "as root: rmmod lattop; modprobe lattop wakers=1 (what it costs: "
                                "docs/overhead.md)"});
        check_losses(header, resolves, findings);
        check_users(header, findings);
    } catch (const Error& error) {
        findings.push_back({Level::Problem, error.what(), error.hint()});
    }
    return findings;
}

Finding check_children(const Machine& machine) {
    try {
        machine.follow_children();
    } catch (const Error& error) {
        return {Level::Note, std::string("lattop run does not work: ") + error.what(),
                error.hint()};
    }
    return {Level::Fine, "the children of a command can be followed (lattop run)"};
}

Finding check_readers(const Machine& machine) {
    try {
        machine.filter_readers();
    } catch (const Error& error) {
        return {Level::Note,
                std::string("lattop image-reader works without a filter of system calls: ") +
                    error.what(),
                error.hint()};
    }
    return {Level::Fine,
            "programs' files are read under a filter of system calls (lattop image-reader)"};
}

Finding check_ptrace(const Machine& machine) {
    const std::string scope = read(machine, "/proc/sys/kernel/yama/ptrace_scope");
    if (may(machine, kCapSysPtrace)) return {Level::Fine, "every process can be looked at"};
    if (scope == "1" || scope == "2" || scope == "3")
        return {Level::Note,
                fmt::format("other processes cannot be looked at: kernel.yama.ptrace_scope is {}",
                            scope),
                "lattop stack and the names of user frames need root here"};
    return {Level::Fine, "this user's processes can be looked at"};
}

const char* level_name(Level level) {
    switch (level) {
        case Level::Fine: return "ok";
        case Level::Note: return "note";
        case Level::Problem: return "PROBLEM";
    }
    return "";
}

}  // namespace

std::vector<Finding> examine(const Machine& machine) {
    std::vector<Finding> findings = {check_kernel(machine)};
    for (Finding& finding : check_module(machine))
        findings.push_back(std::move(finding));
    findings.push_back(check_ptrace(machine));
    findings.push_back(check_children(machine));
    findings.push_back(check_readers(machine));
    return findings;
}

std::string findings_text(const std::vector<Finding>& findings) {
    std::string text;
    for (const Finding& finding : findings) {
        text += fmt::format("{:<8} {}\n", level_name(finding.level),
                            printable(finding.text, locale_charset()));
        if (!finding.advice.empty())
            text += fmt::format("{:<8}   {}\n", "", printable(finding.advice, locale_charset()));
    }
    return text;
}

int doctor_command(Arguments& arguments) {
    if (!arguments.parse()) return 0;
    const FolderFiles files("");
    const Machine machine{files,
                          [] {
                              Query query;
                              query.limit = 1;
                              return ProcSource().take(query, Moment::Next).header;
                          },
                          [] { const ProcessTree tree(::getpid()); }, try_filter_of_image_readers};
    const std::vector<Finding> findings = examine(machine);
    write_output(findings_text(findings));
    const bool sick = std::ranges::any_of(
        findings, [](const Finding& finding) { return finding.level == Level::Problem; });
    return static_cast<int>(sick ? ExitCode::Failed : ExitCode::Ok);
}

}  // namespace lattop
