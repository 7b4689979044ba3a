// SPDX-License-Identifier: GPL-2.0-or-later
//
// The module's row step: any row, any frame, any stack. A step goes up or
// changes nothing, reads nothing but what it asks for, and a row that may be
// taught is kept as it was.
//
//	first frame (pc, sp, bp) | number of rows | rows | stack, from kStack on
#include <array>
#include <cstdint>
#include <span>

#include "tests/fuzz/require.h"
#include "unwind/byte_reader.h"
#include "unwind/row_step.h"

namespace {

using lattop::ByteReader;

constexpr std::uint64_t kStack = 0x7ffd00000000;
constexpr int kSteps = 256;

int read_stack(void* memory, __u64 address, __u64* word) {
    const auto& stack = *static_cast<std::span<const std::uint8_t>*>(memory);
    if (address < kStack || address - kStack > stack.size()) return 0;
    ByteReader bytes(stack.subspan(static_cast<std::size_t>(address - kStack)));
    *word = bytes.fixed<std::uint64_t>();
    return bytes.ok() ? 1 : 0;
}

lt_row read_row(ByteReader& bytes) {
    lt_row row{};
    row.cfa_offset = bytes.fixed<std::int32_t>();
    row.bp_offset = bytes.fixed<std::int32_t>();
    row.kind = bytes.byte() % (LT_ROW_KIND_NR + 1U);
    row.flags = bytes.byte();
    return row;
}

void check_pack(const lt_row& row) {
    if (lt_row_valid(&row) == 0) return;
    lt_row kept{};
    lt_row_unpack(lt_row_pack(&row), &kept);
    REQUIRE(kept.kind == row.kind && kept.cfa_offset == row.cfa_offset);
    REQUIRE(kept.bp_offset == row.bp_offset);
    REQUIRE(kept.flags == (row.flags & ~static_cast<__u32>(LT_ROW_EXACT)));
}

bool same(const lt_uframe& a, const lt_uframe& b) {
    return a.pc == b.pc && a.sp == b.sp && a.bp == b.bp && a.exact == b.exact;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    ByteReader bytes({data, size});
    lt_uframe frame{};
    frame.pc = bytes.fixed<std::uint64_t>();
    frame.sp = kStack + bytes.fixed<std::uint16_t>();
    frame.bp = kStack + bytes.fixed<std::uint16_t>();
    std::array<lt_row, 8> rows{};
    const std::size_t count = 1 + bytes.byte() % rows.size();
    for (std::size_t i = 0; i < count; ++i) {
        rows.at(i) = read_row(bytes);
        check_pack(rows.at(i));
    }
    std::span<const std::uint8_t> stack = bytes.rest();
    for (int i = 0; i < kSteps; ++i) {
        const lt_row& row = rows.at(static_cast<std::size_t>(frame.pc % count));
        const lt_uframe before = frame;
        if (lt_row_step(&row, &frame, read_stack, &stack) != LT_STEP_OK) {
            REQUIRE(same(frame, before));
            break;
        }
        REQUIRE(row.kind == LT_ROW_SIGNAL || (frame.sp > before.sp && frame.sp % 8 == 0));
    }
    return 0;
}
