// SPDX-License-Identifier: GPL-2.0-or-later
//
// ELF files: whatever they are, they give rows that may be taught and frames
// with a place.
#include <cstdint>
#include <vector>

#include "tests/fuzz/require.h"
#include "unwind/cfi_rows.h"
#include "unwind/elf_image.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::vector<char> image(data, data + size);
    const auto rows = lattop::CfiRows::from_memory(image);
    const auto names = lattop::ElfImage::from_memory(image);
    constexpr std::uint64_t kStride = 61;
    for (std::uint64_t offset = 0; offset < size; offset += kStride) {
        const lattop::BuiltRow built = rows->row_at(offset, true);
        REQUIRE(lt_row_valid(&built.row));
        REQUIRE(names->frame_at(offset, true, "/a/file") != nullptr);
    }
    return 0;
}
