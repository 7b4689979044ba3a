// SPDX-License-Identifier: GPL-2.0-or-later
//
// See capabilities.h.
#include "lattop/capabilities.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace lattop {
namespace {

using Words = std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3>;

constexpr unsigned kWordBits = 32;

/// capget or capset, which libc has no wrappers for. pid 0: this thread.
void call(long number, Words& words) {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    if (::syscall(number, &header, words.data()) != 0)
        throw std::system_error(errno, std::generic_category(), "capabilities");
}

}  // namespace

void narrow_bounding_set(CapabilitySet wanted) {
    for (int i = 0, held = 0; (held = ::prctl(PR_CAPBSET_READ, i, 0, 0, 0)) >= 0; ++i)
        if (held != 0 && (wanted & capability_bit(i)) == 0) ::prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
}

CapabilitySet keep_capabilities(CapabilitySet wanted) {
    narrow_bounding_set(wanted);
    Words words{};
    call(SYS_capget, words);
    const CapabilitySet kept =
        wanted & (CapabilitySet{words[1].permitted} << kWordBits | words[0].permitted);
    for (unsigned i = 0; i < words.size(); ++i) {
        const auto part = static_cast<std::uint32_t>(kept >> (i * kWordBits));
        words.at(i) = {part, part, 0};
    }
    // What is not inheritable is not ambient either.
    call(SYS_capset, words);
    return kept;
}

}  // namespace lattop
