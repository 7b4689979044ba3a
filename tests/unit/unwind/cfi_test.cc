// SPDX-License-Identifier: GPL-2.0-or-later
//
// Expressions and entries of call-frame information, as compilers write them
// and as nobody does.
#include <dwarf.h>

#include <initializer_list>
#include <string_view>
#include <vector>

#include "tests/unit/support/catch.h"
#include "unwind/cfi_check.h"
#include "unwind/cfi_expression.h"

namespace lattop::test {
namespace {

using Base = CfiValue::Base;
using Bytes = std::vector<std::uint8_t>;

Dwarf_Op op(std::uint8_t atom, std::uint64_t number = 0, std::uint64_t number2 = 0) {
    return {atom, number, number2, 0};
}

std::uint64_t minus(std::uint64_t value) {
    return ~value + 1;
}

void append_word(Bytes& bytes, std::uint32_t word) {
    for (int shift = 0; shift < 32; shift += 8)
        bytes.push_back(static_cast<std::uint8_t>(word >> shift));
}

/// An entry: its second word, then its body, padded to words with DW_CFA_nop.
Bytes entry(std::uint32_t second, Bytes body) {
    while (body.size() % 4 != 0)
        body.push_back(DW_CFA_nop);
    Bytes bytes;
    append_word(bytes, static_cast<std::uint32_t>(body.size() + 4));
    append_word(bytes, second);
    bytes.insert(bytes.end(), body.begin(), body.end());
    return bytes;
}

/// What gcc writes: version 1, "zR", alignments 1 and -8, column 16, pcrel
/// sdata4; cfa = sp + 8, return address at cfa - 8.
Bytes common() {
    return entry(0, {1, 'z', 'R', 0, 1, 0x78, 16, 1, DW_EH_PE_pcrel | DW_EH_PE_sdata4,
                     DW_CFA_def_cfa, 7, 8, DW_CFA_offset + 16, 1});
}

/// The same with other letters, and data that they tell of.
Bytes common_with(std::string_view letters, const Bytes& data) {
    Bytes body = {1};
    body.insert(body.end(), letters.begin(), letters.end());
    const Bytes rest = {0, 1, 0x78, 16, static_cast<std::uint8_t>(data.size())};
    body.insert(body.end(), rest.begin(), rest.end());
    body.insert(body.end(), data.begin(), data.end());
    return entry(0, body);
}

/// A section of a CIE and one FDE with these instructions.
Bytes section(const Bytes& instructions, const Bytes& its_common = common()) {
    Bytes bytes = its_common;
    Bytes body(9);  // start and size, no augmentation data
    body.insert(body.end(), instructions.begin(), instructions.end());
    const Bytes function = entry(static_cast<std::uint32_t>(bytes.size() + 4), body);
    bytes.insert(bytes.end(), function.begin(), function.end());
    append_word(bytes, 0);
    return bytes;
}

/// Instructions over and over.
Bytes repeated(std::size_t times, std::initializer_list<std::uint8_t> instructions) {
    Bytes bytes;
    for (std::size_t i = 0; i < times; ++i)
        bytes.insert(bytes.end(), instructions);
    return bytes;
}

bool sound(const Bytes& bytes) {
    CfiEntries entries;
    return check_cfi(bytes, CfiFormat::EhFrame, entries);
}

}  // namespace

TEST_CASE("expressions that compilers write come down to a register and a number") {
    struct Case {
        const char* name;
        std::vector<Dwarf_Op> operations;
        std::uint64_t pc;
        CfiValue value;
    };
    const std::vector<Dwarf_Op> plt = {op(DW_OP_breg7, 8), op(DW_OP_breg16), op(DW_OP_lit15),
                                       op(DW_OP_and),      op(DW_OP_lit11),  op(DW_OP_ge),
                                       op(DW_OP_lit3),     op(DW_OP_shl),    op(DW_OP_plus)};
    const auto [name, operations, pc, value] = GENERATE_COPY(values<Case>({
        {"sp + n", {op(DW_OP_bregx, 7, 16)}, 0, {Base::Sp, 16}},
        {"a PLT entry at its start", plt, 0x1030, {Base::Sp, 8}},
        {"a PLT entry behind its push", plt, 0x103b, {Base::Sp, 16}},
        {"realigned", {op(DW_OP_breg6, minus(8)), op(DW_OP_deref)}, 0, {Base::AtBp, -8}},
        {"kept on the stack", {op(DW_OP_breg7, 40), op(DW_OP_deref)}, 0, {Base::AtSp, 40}},
        {"below the cfa",
         {op(DW_OP_call_frame_cfa), op(DW_OP_plus_uconst, minus(16))},
         0,
         {Base::Cfa, -16}},
        {"number first", {op(DW_OP_lit8), op(DW_OP_breg7), op(DW_OP_plus)}, 0, {Base::Sp, 8}},
    }));
    INFO(name);
    const auto found = evaluate_cfi(operations, pc);
    REQUIRE(found);
    CHECK((*found == value));
}

TEST_CASE("expressions that no row can say are refused") {
    const auto operations = GENERATE(values<std::vector<Dwarf_Op>>({
        {},
        {op(DW_OP_plus)},
        {op(DW_OP_bregx, 10, 0)},
        {op(DW_OP_breg7), op(DW_OP_breg6), op(DW_OP_plus)},
        {op(DW_OP_breg7), op(DW_OP_deref), op(DW_OP_lit8), op(DW_OP_plus)},
        {op(DW_OP_breg7), op(DW_OP_deref), op(DW_OP_deref)},
        {op(DW_OP_lit1), op(DW_OP_deref)},
        {op(DW_OP_bra, 0)},
        std::vector<Dwarf_Op>(65, op(DW_OP_lit1)),
    }));
    CHECK(!evaluate_cfi(operations, 0));
}

TEST_CASE("entries as compilers write them are sound") {
    const auto bytes = GENERATE(values<Bytes>({
        {},
        section({}),
        section({DW_CFA_advance_loc + 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset + 6, 2}),
        section({DW_CFA_remember_state, DW_CFA_def_cfa, 7, 8, DW_CFA_restore_state}),
        section({DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78, DW_OP_deref}),
        section({DW_CFA_expression, 6, 2, DW_OP_breg6, 0}),
        // A personality, as C++ and Rust have one
        section({}, common_with("zPLR", {DW_EH_PE_indirect | DW_EH_PE_pcrel | DW_EH_PE_sdata4, 1, 2,
                                         3, 4, 0x1b, 0x1b})),
        section({}, common_with("zRS", {DW_EH_PE_pcrel | DW_EH_PE_sdata4})),
        // A function of libcufft's has 60 KiB, one of libnvrtc's keeps its state 1,857 times.
        section(repeated(30'000, {DW_CFA_advance_loc + 1, DW_CFA_nop})),
        section(
            repeated(2'000, {DW_CFA_remember_state, DW_CFA_advance_loc + 1, DW_CFA_restore_state})),
    }));
    CHECK(sound(bytes));
}

TEST_CASE("entries that would cost a reader dearly are not sound") {
    struct Case {
        const char* name;
        Bytes bytes;
    };
    Bytes cut = section({});
    cut.resize(cut.size() - 6);
    Bytes longer = common();
    longer[0] = 0xf0;
    Bytes stranger = section({});
    stranger[common().size() + 4] += 4;  // no CIE there
    const auto [name, bytes] = GENERATE_COPY(values<Case>({
        {"a huge register", section({DW_CFA_offset_extended, 0x80, 0x80, 0x80, 0x40, 1})},
        {"an unknown opcode", section({0x3f})},
        {"states without end",
         section({10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10,
                  10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10})},
        {"a state that was never kept", section({DW_CFA_restore_state})},
        {"an expression longer than its entry", section({DW_CFA_def_cfa_expression, 200})},
        {"instructions without end", section(Bytes(300'000))},
        {"states kept over and over",
         section(repeated(17'000, {DW_CFA_remember_state, DW_CFA_restore_state}))},
        {"cut short", cut},
        {"longer than the section", longer},
        {"an FDE without a CIE", stranger},
        // libdw reads on, and takes another encoding of what stands before the instructions
        {"more letters than anybody has",
         section({}, common_with("zRSSSSSSR", {DW_EH_PE_pcrel | DW_EH_PE_sdata4,
                                               DW_EH_PE_pcrel | DW_EH_PE_sdata8}))},
        {"a personality of two bytes",
         section({}, common_with("zPR", {DW_EH_PE_udata2, DW_EH_PE_pcrel | DW_EH_PE_sdata4, 0,
                                         DW_EH_PE_pcrel | DW_EH_PE_sdata8}))},
        {"a personality of an unknown kind", section({}, common_with("zPR", {0x50, 0x1b, 0x1b}))},
    }));
    INFO(name);
    CHECK(!sound(bytes));
}

TEST_CASE("a search table leads to entries and nowhere else") {
    constexpr std::uint64_t kTable = 0x1000;
    constexpr std::uint64_t kSection = 0x2000;
    const Bytes frames = section({});
    CfiEntries entries;
    REQUIRE(check_cfi(frames, CfiFormat::EhFrame, entries));
    REQUIRE(entries.functions.size() == 1);
    const auto table_to = [&](std::uint64_t offset) {
        Bytes table = {1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_udata4,
                       DW_EH_PE_datarel | DW_EH_PE_sdata4};
        append_word(table, kSection - kTable - 4);
        append_word(table, 1);
        append_word(table, 0);
        append_word(table, static_cast<std::uint32_t>(kSection + offset - kTable));
        return table;
    };
    const std::uint64_t good = entries.functions[0];
    CHECK(check_cfi_table(table_to(good), kTable, kSection, entries));
    CHECK(!check_cfi_table(table_to(good + 4), kTable, kSection, entries));
    CHECK(!check_cfi_table(table_to(0), kTable, kSection, entries));
    Bytes cut = table_to(good);
    cut.pop_back();
    CHECK(!check_cfi_table(cut, kTable, kSection, entries));
    // libdw would leave these aside, and come by every entry.
    Bytes elsewhere = table_to(good);
    elsewhere[4] ^= 1U;
    CHECK(!check_cfi_table(elsewhere, kTable, kSection, entries));
    Bytes empty = table_to(good);
    empty[8] = 0;
    CHECK(!check_cfi_table(empty, kTable, kSection, entries));
}

}  // namespace lattop::test
