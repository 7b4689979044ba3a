// SPDX-License-Identifier: GPL-2.0-or-later
//
// What `lattop doctor` reads of /proc and /sys: whatever stands there, each finding
// says something. No file is written for it: a call of the kernel costs more than all that is
// tried.
//
//	doctor: osrelease | status | modules | lockdown | ptrace_scope | initstate | a task's
// stack | its comm    (bytes.h: parts_of)
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lattop/model/proc_text.h"
#include "lattop/source/error.h"
#include "lattop/verbs/doctor.h"
#include "tests/fuzz/bytes.h"

namespace {

constexpr std::array<std::string_view, 8> kPaths = {"/proc/sys/kernel/osrelease",
                                                    "/proc/self/status",
                                                    "/proc/modules",
                                                    "/sys/kernel/security/lockdown",
                                                    "/proc/sys/kernel/yama/ptrace_scope",
                                                    "/sys/module/lattop/initstate",
                                                    "/proc/7/task/8/stack",
                                                    "/proc/7/task/8/comm"};

/// Those files alone, of which an empty one is none.
class FuzzFiles final : public lattop::MachineFiles {
public:
    explicit FuzzFiles(std::string_view input)
        : parts_(lattop::fuzz::parts_of<kPaths.size()>(input)) {}

    [[nodiscard]] std::string text(const std::string& path) const override {
        return std::string(part(path).substr(0, lattop::kMaxProcText));
    }
    [[nodiscard]] bool exists(const std::string& path) const override {
        return !part(path).empty();
    }
    [[nodiscard]] std::vector<std::string> names(const std::string& folder) const override {
        if (folder == "/proc") return {"sys", "7", "self", "modules"};
        if (folder == "/proc/7/task") return {"8"};
        return {};
    }

private:
    [[nodiscard]] std::string_view part(std::string_view path) const {
        const auto* const found = std::ranges::find(kPaths, path);
        if (found == kPaths.end()) return {};
        return parts_[static_cast<std::size_t>(found - kPaths.begin())];
    }

    std::array<std::string_view, kPaths.size()> parts_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const FuzzFiles files(lattop::fuzz::text_of(data, size));
    const lattop::Machine machine{
        files, []() -> lattop::Header { throw lattop::Error("no module"); }, [] {}, [] {}};
    const auto findings = lattop::examine(machine);
    REQUIRE(!findings.empty());
    for (const lattop::Finding& finding : findings)
        REQUIRE(!finding.text.empty());
    REQUIRE(!lattop::findings_text(findings).empty());
    return 0;
}
