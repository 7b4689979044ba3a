// SPDX-License-Identifier: GPL-2.0-or-later
//
// See payer.h.
#include "unwind/payer.h"

#include <unistd.h>

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
    return ::getuid();
}

}  // namespace lattop
