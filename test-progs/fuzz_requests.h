// SPDX-License-Identifier: GPL-2.0-or-later
// What fuzz-proc asks /proc/lattop for: requests as the contract has them (module/uapi/lattop.h),
// most of them spoiled afterwards, in a field or in any byte.
#pragma once

#include <string>
#include <vector>

#include "fuzz_memory.h"
#include "lattop.h"

namespace fuzz {

/// A task as the module named it, and a place in its code: what a lesson needs.
struct Pupil {
    uint32_t pid = 0, exec_id = 0;
    uint64_t start_ns = 0, pc = 0;
};

/// Where code is executable in this process.
std::vector<lt_row_range> own_code();

lt_query make_query(Random& random, const Memory& memory);
lt_misses make_misses(Random& random, const Memory& memory, std::span<const int> events);
lt_regs make_registers(Random& random, uint32_t pid);
/// Rows and ranges go to the memory.
lt_teach make_lesson(Random& random, const Memory& memory, const Pupil& pupil,
                     std::span<const lt_row_range> code);
/// Text for a write.
std::string make_command(Random& random);

/// In one of three: a field, a byte or a bit is something else, but never an address.
void spoil(Random& random, lt_query& request);
void spoil(Random& random, lt_misses& request);
void spoil(Random& random, lt_regs& request);
void spoil(Random& random, lt_teach& request);

}  // namespace fuzz
