// SPDX-License-Identifier: GPL-2.0-or-later
//
// See payer.h.
#include "unwind/payer.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "unwind/process_files.h"

namespace lattop {
namespace {

/// Those of one user, as useradd(8) gives out ids of /etc/subuid.
constexpr std::uint32_t kIdsOfOne = 65536;

/// Not a user's number.
constexpr Payer kRange = Payer{1} << 63;

}  // namespace

Payer payer_of(std::optional<std::uint32_t> real_user, bool here) {
    if (!real_user) return kNoPayer;
    return here || *real_user < kIdsOfOne ? *real_user : kRange | *real_user / kIdsOfOne;
}

Payer payer_of(const ProcessFiles& files) {
    return payer_of(files.real_user(), files.user_namespace() == own_user_namespace());
}

Payer own_payer() {
    const char* by = ::getuid() == 0 ? ::secure_getenv("SUDO_UID") : nullptr;
    std::uint32_t user = 0;
    if (by == nullptr) return ::getuid();
    const char* end = by + std::strlen(by);
    const auto [stop, error] = std::from_chars(by, end, user);
    return error == std::errc{} && stop == end ? user : ::getuid();
}

}  // namespace lattop
