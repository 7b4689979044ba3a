// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/verbs/doctor.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "lattop/source/error.h"
#include "lattop/version.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"

namespace lattop::test {
namespace {

using Level = Finding::Level;

/// A healthy machine of root's, below a folder; tests make it sick.
class FakeMachine {
public:
    FakeMachine() {
        write("/proc/sys/kernel/osrelease", "6.1.0-40-amd64\n");
        write("/proc/self/status", "Name:\tlattop\nCapEff:\t000001ffffffffff\n");
        write("/proc/modules", "ext4 1 1 - Live 0\nlattop 1 0 - Live 0\n");
        write("/proc/lattop", "");
        header_.release = kVersion;
        header_.hook = "tracepoint: sched_switch";
        header_.limit[LT_LIMIT_WAKERS] = 100;
    }

    void write(const std::string& path, const std::string& text) {
        const std::filesystem::path file = folder_.path() + path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    void remove(const std::string& path) { std::filesystem::remove_all(folder_.path() + path); }
    void unload() {
        remove("/proc/lattop");
        write("/proc/modules", "ext4 1 1 - Live 0\n");
    }
    void drop_capabilities() { write("/proc/self/status", "CapEff:\t0000000000000000\n"); }

    [[nodiscard]] std::vector<Finding> examine() {
        return lattop::examine({files_,
                                [this] {
                                    if (refusal_) throw *refusal_;
                                    return header_;
                                },
                                [this] {
                                    if (!perf_) throw Error("perf_event_open: no", "be root");
                                },
                                [this] {
                                    if (!filters_) throw Error("Invalid argument", "build one");
                                }});
    }

    Header header_;
    std::optional<NotUsableError> refusal_;
    bool perf_ = true;
    bool filters_ = true;

private:
    TempFolder folder_;
    FolderFiles files_{folder_.path()};
};

/// The one finding whose text holds `text`.
Finding only(const std::vector<Finding>& findings, const std::string& text) {
    INFO(findings_text(findings));
    const auto holds = [&](const Finding& finding) {
        return finding.text.find(text) != std::string::npos;
    };
    REQUIRE(std::ranges::count_if(findings, holds) == 1);
    return *std::ranges::find_if(findings, holds);
}

bool any_problem(const std::vector<Finding>& findings) {
    return std::ranges::any_of(
        findings, [](const Finding& finding) { return finding.level == Level::Problem; });
}

}  // namespace

TEST_CASE("a machine on which all works has nothing but fine findings") {
    FakeMachine machine;
    for (const Finding& finding : machine.examine()) {
        CHECK(finding.level == Level::Fine);
        CHECK(finding.advice.empty());
    }
    CHECK(machine.examine().size() == 5);
}

TEST_CASE("a module that is not loaded: what there is of it decides what to do") {
    FakeMachine machine;
    machine.unload();
    const Finding none = only(machine.examine(), "headers of 6.1.0-40-amd64 are missing");
    CHECK(none.level == Level::Problem);
    CHECK_THAT(none.advice, has_text("linux-headers-6.1.0-40-amd64"));

    machine.write("/lib/modules/6.1.0-40-amd64/build/Makefile", "");
    CHECK_THAT(only(machine.examine(), "neither loaded nor installed").advice,
               has_text("make load"));

    machine.write("/lib/modules/6.1.0-40-amd64/updates/dkms/lattop.ko.xz", "");
    CHECK_THAT(only(machine.examine(), "installed, and not loaded").advice,
               has_text("modprobe lattop"));
}

TEST_CASE("what keeps modules from being loaded is named") {
    FakeMachine machine;
    machine.unload();
    machine.write("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
    CHECK_THAT(only(machine.examine(), "signed modules only").advice, has_text("sign"));
    machine.write("/sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
    CHECK_THAT(findings_text(machine.examine()), !has_text("signed"));
    machine.write("/sys/module/module/parameters/sig_enforce", "Y\n");
    only(machine.examine(), "signed modules only");

    machine.write("/proc/sys/kernel/modules_disabled", "1\n");
    CHECK(only(machine.examine(), "turned off").level == Level::Problem);

    machine.drop_capabilities();
    CHECK_THAT(only(machine.examine(), "may not load modules").advice, has_text("root"));

    machine.remove("/proc/modules");
    only(machine.examine(), "takes no modules");
}

TEST_CASE("an old kernel, and one that cannot be told") {
    FakeMachine machine;
    for (const char* old : {"5.9.0", "4.19.0-27-amd64", "3.10.0"}) {
        machine.write("/proc/sys/kernel/osrelease", old);
        CHECK(only(machine.examine(), "too old").level == Level::Problem);
    }
    for (const char* good : {"5.10.0", "5.15.1", "7.2.0-rc1"}) {
        machine.write("/proc/sys/kernel/osrelease", good);
        CHECK(!any_problem(machine.examine()));
    }
    machine.write("/proc/sys/kernel/osrelease", "strange");
    CHECK(only(machine.examine(), "strange").level == Level::Note);
}

TEST_CASE("a module that refuses is quoted, an older one is named") {
    FakeMachine machine;
    machine.header_.release = "0.0.1";
    CHECK_THAT(only(machine.examine(), "release 0.0.1").advice, has_text("rmmod lattop"));
    machine.refusal_ = NotUsableError("the loaded module is older", "install");
    CHECK(only(machine.examine(), "is older").level == Level::Problem);
}

TEST_CASE("losses say which parameter would have kept them") {
    FakeMachine machine;
    machine.header_.lost[LT_LOST_trace_limit] = 12;
    machine.header_.lost[LT_LOST_user_miss] = 7;
    const auto findings = machine.examine();
    CHECK_THAT(only(findings, "12 sleeps").advice, has_text("max_traces"));
    CHECK_THAT(only(findings, "7 sleeps").advice, has_text("lattop daemon"));
    CHECK(!any_problem(findings));
}

TEST_CASE("who has nearly all of his share is named, with what of") {
    FakeMachine machine;
    machine.header_.user_share = 50;
    machine.header_.share[LT_HELD_tasks] = 800;
    machine.header_.share[LT_HELD_exited] = 10;
    machine.header_.users = {{4'000'001, {}}, {4'000'002, {}}};
    machine.header_.users[0].held[LT_HELD_tasks] = 699;
    machine.header_.users[0].held[LT_HELD_exited] = 10;
    machine.header_.users[1].held[LT_HELD_tasks] = 700;
    const auto findings = machine.examine();
    const Finding finding = only(findings, "has his share");
    CHECK_THAT(finding.text, has_text("user 4000002 has his share: 700 of 800 tasks"));
    CHECK_THAT(finding.advice, has_text("user_share above 50 percent"));
    CHECK(!any_problem(findings));
}

TEST_CASE("a module that is being unloaded: who keeps it is named, by root") {
    FakeMachine machine;
    machine.remove("/proc/lattop");
    machine.write("/sys/module/lattop/initstate", "going\n");
    machine.write("/proc/7/task/9/stack", "[<0>] do_syslog+0x1\n[<0>] proc_reg_read+0x5a\n");
    machine.write("/proc/8/task/8/stack", "[<0>] proc_remove+0x1\n[<0>] lt_exit+0x1 [lattop]\n");
    CHECK(only(machine.examine(), "being unloaded").text == "the module is being unloaded");
    machine.write("/proc/393/task/395/stack",
                  "[<0>] fuse_file_read_iter+0x1\n[<0>] lt_read+0x9/0x10 [lattop]\n"
                  "[<0>] proc_reg_read+0x5a\n");
    machine.write("/proc/393/task/395/comm", "py\033thon3\n");
    const auto findings = machine.examine();
    const Finding finding = only(findings, "being unloaded");
    CHECK(finding.text.ends_with(" reads it: 395 (py\033thon3)"));
    CHECK(finding.level == Level::Problem);
    CHECK(findings_text(findings).find('\033') == std::string::npos);
    machine.write("/sys/module/lattop/initstate", "live\n");
    only(machine.examine(), "module " + std::string(kVersion));
}

TEST_CASE("a module that keeps no wakers says what does not work then") {
    FakeMachine machine;
    machine.header_.limit[LT_LIMIT_WAKERS] = 0;
    CHECK_THAT(only(machine.examine(), "lattop chain").advice, has_text("wakers=1"));
}

TEST_CASE("that image readers have no filter of system calls is said") {
    FakeMachine machine;
    machine.filters_ = false;
    const auto findings = machine.examine();
    const Finding finding = only(findings, "without a filter of system calls: Invalid argument");
    CHECK(finding.level == Level::Note);
    CHECK(finding.advice == "build one");
    CHECK(!any_problem(findings));
}

TEST_CASE("a user without privileges is told what he does not get") {
    FakeMachine machine;
    machine.drop_capabilities();
    machine.write("/proc/sys/kernel/yama/ptrace_scope", "1\n");
    machine.perf_ = false;
    const auto findings = machine.examine();
    CHECK_THAT(only(findings, "own tasks only").advice, has_text("root"));
    only(findings, "ptrace_scope is 1");
    CHECK_THAT(only(findings, "lattop run does not work").advice, has_text("be root"));
    CHECK(!any_problem(findings));
}

}  // namespace lattop::test
