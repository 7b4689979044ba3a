// SPDX-License-Identifier: GPL-2.0-or-later
//
// DWARF expressions of call-frame information as "register + constant". Called
// by the row builder: a row has no room for a program, but nearly every
// expression that compilers and linkers write comes down to one addition once
// the pc is known (the PLT's), or to one load (realigned stacks).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <elfutils/libdw.h>

namespace lattop {

/// What an expression adds up to.
struct CfiValue {
    enum class Base {
        Number,  ///< offset
        Sp,      ///< sp + offset
        Bp,      ///< bp + offset
        Cfa,     ///< cfa + offset
        AtSp,    ///< the word at sp + offset
        AtBp,    ///< the word at bp + offset
    };
    Base base = Base::Number;
    std::int64_t offset = 0;

    bool operator==(const CfiValue&) const = default;
};

/// The value of `operations`, at most 64 of them, run at the code address `pc`;
/// nothing where it is none of the above. DW_OP_stack_value must have been
/// taken off. DWARF 5, section 2.5.
std::optional<CfiValue> evaluate_cfi(std::span<const Dwarf_Op> operations, std::uint64_t pc);

}  // namespace lattop
