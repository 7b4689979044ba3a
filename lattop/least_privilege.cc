// SPDX-License-Identifier: GPL-2.0-or-later
//
// See least_privilege.h.
#include "lattop/least_privilege.h"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <array>
#include <cstring>

#include "lattop/capabilities.h"
#include "lattop/source/error.h"
#include "lattop/system_call_filter.h"

namespace lattop {
namespace {

struct Loss {
    int capability;
    const char* text;
};

/// What is not learned where one is missing.
constexpr auto kLosses = std::to_array<Loss>({
    {CAP_DAC_READ_SEARCH,
     "without CAP_DAC_READ_SEARCH: nothing is learned of other users' programs"},
    {CAP_CHECKPOINT_RESTORE, "without CAP_CHECKPOINT_RESTORE: nothing is learned of libraries"},
});

constexpr CapabilitySet kNeeded = capability_bit(CAP_SYS_PTRACE) |
                                  capability_bit(CAP_DAC_READ_SEARCH) |
                                  capability_bit(CAP_CHECKPOINT_RESTORE);

}  // namespace

std::string keep_least_privilege() {
    const CapabilitySet kept = keep_capabilities(kNeeded);
    if ((kept & capability_bit(CAP_SYS_PTRACE)) == 0)
        throw NotUsableError("only root may teach the module (CAP_SYS_PTRACE)", "try as root");
    std::string text;
    for (const Loss& loss : kLosses)
        if ((kept & capability_bit(loss.capability)) == 0) text += fmt::format("{}\n", loss.text);
    // The filter needs it, too: the capability that would do instead has gone.
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (const int error = filter_system_calls(FilterFor::Daemon); error != 0)
        text += fmt::format(
            "without a filter of system calls ({}): only its capabilities hold it back\n",
            std::strerror(error));
    return text;
}

}  // namespace lattop
