// SPDX-License-Identifier: GPL-2.0-or-later
//
// ELF files: whatever they are, they give rows that may be taught and frames
// with a place.
#include <libelf.h>

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
    std::vector<char> again = image;
    lattop::ElfSymbols variables(lattop::ElfSymbols::Of::Data);
    if (Elf* elf = elf_memory(again.data(), again.size())) {
        variables.add(elf);
        elf_end(elf);
    }
    for (std::uint64_t address = 0; address < size; address += kStride)
        if (const auto* found = variables.find(address))
            REQUIRE(address >= found->address && address < found->end);
    return 0;
}
