// SPDX-License-Identifier: GPL-2.0-or-later
//
// The module's row step, on stacks written by hand.
#include "unwind/row_step.h"

#include <map>

#include "tests/unit/support/catch.h"

namespace lattop::test {
namespace {

/// Words at addresses; every other address is not there.
using Stack = std::map<std::uint64_t, std::uint64_t>;

int read_stack(void* memory, __u64 address, __u64* word) {
    const Stack& stack = *static_cast<const Stack*>(memory);
    const auto found = stack.find(address);
    if (found == stack.end()) return 0;
    *word = found->second;
    return 1;
}

lt_row row(__u32 kind, __s32 cfa_offset, __u32 flags = 0, __s32 bp_offset = 0) {
    return {0x400000, cfa_offset, bp_offset, kind, flags};
}

lt_uframe frame(std::uint64_t pc, std::uint64_t sp, std::uint64_t bp, std::uint32_t exact = 0) {
    return {pc, sp, bp, exact};
}

}  // namespace

TEST_CASE("a row leads to the caller") {
    struct Case {
        const char* name;
        lt_row row;
        lt_uframe from, to;
    };
    constexpr __u32 kSaved = LT_ROW_BP_SAVED;
    const auto [name, by, from, to] = GENERATE(values<Case>({
        {"sp, bp kept", row(LT_ROW_SP, 16), frame(1, 0x1000, 7), frame(0xa, 0x1010, 7)},
        {"sp, bp saved", row(LT_ROW_SP, 16, kSaved, -16), frame(1, 0x1000, 7),
         frame(0xa, 0x1010, 0xb)},
        {"bp", row(LT_ROW_BP, 16, kSaved, -16), frame(1, 0xff0, 0x1000), frame(0xa, 0x1010, 0xb)},
        {"exact ends with the innermost", row(LT_ROW_SP, 16, LT_ROW_EXACT),
         frame(1, 0x1000, 7, LT_ROW_EXACT), frame(0xa, 0x1010, 7)},
        {"the word at bp", row(LT_ROW_AT_BP, -8, LT_ROW_BP_AT_BP, 0), frame(1, 0x1f00, 0x2000),
         frame(0xc, 0x2100, 0xd)},
        {"the word at sp", row(LT_ROW_AT_SP, 8), frame(1, 0x3000, 7), frame(0xe, 0x3040, 7)},
        {"a signal frame, down to another stack", row(LT_ROW_SIGNAL, 0), frame(1, 0x5000, 7),
         frame(0xf, 0x1000, 9, LT_ROW_EXACT)},
    }));
    INFO(name);
    Stack stack = {{0x1000, 0xb},
                   {0x1008, 0xa},
                   {0x1ff8, 0x2100},
                   {0x2000, 0xd},
                   {0x20f8, 0xc},
                   {0x3008, 0x3040},
                   {0x3038, 0xe},
                   {0x5000 + LT_UC_PC, 0xf},
                   {0x5000 + LT_UC_SP, 0x1000},
                   {0x5000 + LT_UC_BP, 9}};
    lt_uframe f = from;
    REQUIRE(lt_row_step(&by, &f, read_stack, &stack) == LT_STEP_OK);
    CHECK(f.pc == to.pc);
    CHECK(f.sp == to.sp);
    CHECK(f.bp == to.bp);
    CHECK(f.exact == to.exact);
}

TEST_CASE("a step that cannot be right is refused and changes nothing") {
    struct Case {
        const char* name;
        lt_row row;
        lt_uframe from;
        lt_step step;
    };
    const auto [name, by, from, step] = GENERATE(values<Case>({
        {"end", row(LT_ROW_END, 0), frame(1, 0x1000, 7), LT_STEP_END},
        {"cannot", row(LT_ROW_CANNOT, 0), frame(1, 0x1000, 7), LT_STEP_CANNOT},
        {"no kind", row(99, 0), frame(1, 0x1000, 7), LT_STEP_CANNOT},
        {"down", row(LT_ROW_SP, -16), frame(1, 0x1000, 7), LT_STEP_WRONG_WAY},
        {"nowhere", row(LT_ROW_SP, 0), frame(1, 0x1000, 7), LT_STEP_WRONG_WAY},
        {"bp below sp", row(LT_ROW_BP, 16), frame(1, 0x1000, 0x100), LT_STEP_WRONG_WAY},
        {"odd", row(LT_ROW_SP, 13), frame(1, 0x1000, 7), LT_STEP_UNALIGNED},
        {"odd signal frame", row(LT_ROW_SIGNAL, 1), frame(1, 0x1000, 7), LT_STEP_UNALIGNED},
        {"no return address", row(LT_ROW_SP, 64), frame(1, 0x1000, 7), LT_STEP_UNREADABLE},
        {"no saved bp", row(LT_ROW_SP, 16, LT_ROW_BP_SAVED, -32), frame(1, 0x1000, 7),
         LT_STEP_UNREADABLE},
        {"no bp at bp", row(LT_ROW_SP, 16, LT_ROW_BP_AT_BP, 0), frame(1, 0x1000, 7),
         LT_STEP_UNREADABLE},
        {"nothing at bp", row(LT_ROW_AT_BP, 0), frame(1, 0x1000, 7), LT_STEP_UNREADABLE},
        {"sums wrap", row(LT_ROW_SP, 16), frame(1, UINT64_MAX - 7, 7), LT_STEP_WRONG_WAY},
    }));
    INFO(name);
    Stack stack = {{0x1008, 0xa}};
    lt_uframe f = from;
    CHECK(lt_row_step(&by, &f, read_stack, &stack) == step);
    CHECK(f.pc == from.pc);
    CHECK(f.sp == from.sp);
    CHECK(f.bp == from.bp);
}

TEST_CASE("a row is kept with all that a step needs") {
    const __u32 kind = GENERATE(range<__u32>(LT_ROW_SP, LT_ROW_KIND_NR));
    const __s32 cfa_offset = GENERATE(0, 8, -8, 1 << 24, -(1 << 24));
    const __s32 bp_offset = GENERATE(0, 8, -16, 1 << 24, -(1 << 24));
    const __u32 flags = GENERATE(0U, 1U * LT_ROW_BP_SAVED, 1U * LT_ROW_BP_AT_BP);
    const lt_row in = row(kind, cfa_offset, flags, bp_offset);
    REQUIRE(lt_row_valid(&in));
    lt_row out{};
    lt_row_unpack(lt_row_pack(&in), &out);
    CHECK(out.kind == in.kind);
    CHECK(out.cfa_offset == in.cfa_offset);
    CHECK(out.bp_offset == in.bp_offset);
    CHECK(out.flags == in.flags);
}

TEST_CASE("what could never be right is no valid row") {
    const lt_row good = row(LT_ROW_SP, 16);
    CHECK(lt_row_valid(&good));
    const auto bad = GENERATE(values<lt_row>({
        row(0, 16),
        row(LT_ROW_KIND_NR, 16),
        row(LT_ROW_SP, (1 << 24) + 1),
        row(LT_ROW_SP, 16, 0, -(1 << 24) - 1),
        row(LT_ROW_SP, 16, LT_ROW_FLAGS + 1),
        row(LT_ROW_SP, 16, LT_ROW_BP_SAVED | LT_ROW_BP_AT_BP),
    }));
    CHECK(!lt_row_valid(&bad));
}

}  // namespace lattop::test
