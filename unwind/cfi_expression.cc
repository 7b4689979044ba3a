// SPDX-License-Identifier: GPL-2.0-or-later
//
// See cfi_expression.h. A stack machine whose values carry the register that
// they are relative to. Programs have no loops (branches are refused), so the
// number of operations bounds the work.
#include "unwind/cfi_expression.h"

#include <dwarf.h>

#include <array>
#include <cstddef>

namespace lattop {
namespace {

constexpr std::size_t kMaxOperations = 64;

/// DWARF register numbers of x86-64 (System V ABI, figure 3.36).
constexpr unsigned kBp = 6;
constexpr unsigned kSp = 7;
constexpr unsigned kPc = 16;

using Base = CfiValue::Base;

/// Sums wrap as the machine's do; undefined behaviour is not what a forged
/// expression may cause.
std::int64_t add(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

std::int64_t subtract(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

std::int64_t shift_left(std::int64_t value, std::int64_t bits) {
    if (bits < 0 || bits > 63) return 0;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << bits);
}

class Machine {
public:
    explicit Machine(std::uint64_t pc) : pc_(static_cast<std::int64_t>(pc)) {}

    bool run(const Dwarf_Op& operation);

    [[nodiscard]] std::optional<CfiValue> result() const {
        if (depth_ == 0) return std::nullopt;
        return stack_.at(depth_ - 1);
    }

private:
    bool push(Base base, std::int64_t offset);
    bool push_number(std::int64_t value) { return push(Base::Number, value); }
    bool push_register(std::uint64_t number, std::int64_t offset);
    bool load();
    bool add_to_top(std::int64_t value);
    bool combine(unsigned atom);
    static std::optional<std::int64_t> combine_numbers(unsigned atom, std::int64_t a,
                                                       std::int64_t b);

    std::int64_t pc_;
    std::array<CfiValue, kMaxOperations> stack_;
    std::size_t depth_ = 0;
};

bool Machine::push(Base base, std::int64_t offset) {
    if (depth_ == stack_.size()) return false;
    stack_.at(depth_++) = {base, offset};
    return true;
}

bool Machine::push_register(std::uint64_t number, std::int64_t offset) {
    switch (number) {
        case kBp: return push(Base::Bp, offset);
        case kSp: return push(Base::Sp, offset);
        case kPc: return push_number(add(pc_, offset));
        default: return false;
    }
}

bool Machine::load() {
    if (depth_ == 0) return false;
    CfiValue& top = stack_.at(depth_ - 1);
    if (top.base == Base::Sp) {
        top.base = Base::AtSp;
    } else if (top.base == Base::Bp) {
        top.base = Base::AtBp;
    } else {
        return false;
    }
    return true;
}

bool Machine::add_to_top(std::int64_t value) {
    if (depth_ == 0) return false;
    CfiValue& top = stack_.at(depth_ - 1);
    // "The word at" has no room for an addition behind the load.
    if (value != 0 && (top.base == Base::AtSp || top.base == Base::AtBp)) return false;
    top.offset = add(top.offset, value);
    return true;
}

std::optional<std::int64_t> Machine::combine_numbers(unsigned atom, std::int64_t a,
                                                     std::int64_t b) {
    switch (atom) {
        case DW_OP_plus: return add(a, b);
        case DW_OP_minus: return subtract(a, b);
        case DW_OP_and: return a & b;
        case DW_OP_or: return a | b;
        case DW_OP_shl: return shift_left(a, b);
        case DW_OP_eq: return a == b;
        case DW_OP_ne: return a != b;
        case DW_OP_ge: return a >= b;
        case DW_OP_gt: return a > b;
        case DW_OP_le: return a <= b;
        case DW_OP_lt: return a < b;
        default: return std::nullopt;
    }
}

bool Machine::combine(unsigned atom) {
    if (depth_ < 2) return false;
    const CfiValue b = stack_.at(--depth_);
    CfiValue& a = stack_.at(depth_ - 1);
    if (a.base == Base::Number && b.base == Base::Number) {
        const auto value = combine_numbers(atom, a.offset, b.offset);
        if (value) a.offset = *value;
        return value.has_value();
    }
    if (atom == DW_OP_plus && b.base == Base::Number) return add_to_top(b.offset);
    if (atom == DW_OP_plus && a.base == Base::Number) {
        const std::int64_t number = a.offset;
        a = b;
        return add_to_top(number);
    }
    if (atom == DW_OP_minus && b.base == Base::Number) return add_to_top(subtract(0, b.offset));
    return false;
}

bool Machine::run(const Dwarf_Op& operation) {
    const unsigned atom = operation.atom;
    const auto number = static_cast<std::int64_t>(operation.number);
    if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) return push_number(atom - DW_OP_lit0);
    if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
        return push_register(atom - DW_OP_breg0, number);
    switch (atom) {
        case DW_OP_bregx:
            return push_register(operation.number, static_cast<std::int64_t>(operation.number2));
        case DW_OP_call_frame_cfa: return push(Base::Cfa, 0);
        case DW_OP_const1u:
        case DW_OP_const1s:
        case DW_OP_const2u:
        case DW_OP_const2s:
        case DW_OP_const4u:
        case DW_OP_const4s:
        case DW_OP_const8u:
        case DW_OP_const8s:
        case DW_OP_constu:
        case DW_OP_consts: return push_number(number);
        case DW_OP_plus_uconst: return add_to_top(number);
        case DW_OP_deref: return load();
        case DW_OP_nop: return true;
        default: return combine(atom);
    }
}

}  // namespace

std::optional<CfiValue> evaluate_cfi(std::span<const Dwarf_Op> operations, std::uint64_t pc) {
    if (operations.empty() || operations.size() > kMaxOperations) return std::nullopt;
    Machine machine(pc);
    for (const Dwarf_Op& operation : operations)
        if (!machine.run(operation)) return std::nullopt;
    return machine.result();
}

}  // namespace lattop
