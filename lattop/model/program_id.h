// SPDX-License-Identifier: GPL-2.0-or-later
//
// A process while it runs one program: it is another one behind an exec. By these whoever looks
// at processes leaves one alone that does not answer: Resolver, WorkerNamer, ObjectWorker.
#pragma once

#include <compare>
#include <cstdint>

namespace lattop {

/// The next process with that pid may be taken for it: when a process began is not in it.
struct ProgramId {
    std::uint32_t tgid = 0, exec_id = 0;
    auto operator<=>(const ProgramId&) const = default;
};

}  // namespace lattop
