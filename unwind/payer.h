// SPDX-License-Identifier: GPL-2.0-or-later
//
// Who is to pay for the time that looks at a process take: its real user id; where that is of
// another user namespace, the 65536 ids it is among, of which mostly one user has all. Used by
// who has others wait meanwhile (lattop/left_alone.h).
#pragma once

#include <cstdint>
#include <optional>

namespace lattop {

class ProcessFiles;

using Payer = std::uint64_t;
inline constexpr Payer kRootPayer = 0;
inline constexpr Payer kNoPayer = UINT64_MAX;  ///< not to be told

/// Of who has that real user id, of this user namespace (`here`) or of another.
Payer payer_of(std::optional<std::uint32_t> real_user, bool here);

Payer payer_of(const ProcessFiles& files);

/// Who runs this very program: where that is root by sudo(8), who asked for it.
Payer own_payer();

}  // namespace lattop
