// SPDX-License-Identifier: GPL-2.0-or-later
//
// Call-frame information: what is checked here may be given to libdw, and each
// row that comes of it may be taught. The bytes are the .eh_frame, then the
// .debug_frame of an otherwise plain file, laid out as a small program is: code from
// 0x1000 on, .eh_frame at 0x2100.
#include <elf.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "tests/fuzz/require.h"
#include "unwind/cfi_check.h"
#include "unwind/cfi_rows.h"
#include "unwind/elf_header.h"

namespace {

constexpr std::uint64_t kCode = 0x1000, kCodeEnd = 0x2100;

template <typename T>
void put(std::vector<char>& image, std::size_t offset, const T& value) {
    std::memcpy(image.data() + offset, &value, sizeof(value));
}

std::vector<char> image_of(std::span<const std::uint8_t> frames, bool debug) {
    constexpr std::string_view kNames("\0.eh_frame\0.debug_frame\0.shstrtab\0", 33);
    constexpr Elf64_Word kEh = 1, kDebug = 11, kShstrtab = 24;
    const std::size_t names = kCodeEnd + frames.size();
    const std::size_t table = (names + kNames.size() + 7) / 8 * 8;
    std::vector<char> image(table + 3 * sizeof(Elf64_Shdr));
    Elf64_Ehdr header = lattop::new_elf_header(ET_DYN);
    header.e_phoff = sizeof(header);
    header.e_phnum = 1;
    header.e_shoff = table;
    header.e_shnum = 3;
    header.e_shstrndx = 2;
    put(image, 0, header);
    Elf64_Phdr segment{};
    segment.p_type = PT_LOAD;
    segment.p_filesz = segment.p_memsz = image.size();
    put(image, sizeof(header), segment);
    std::memcpy(image.data() + kCodeEnd, frames.data(), frames.size());
    std::memcpy(image.data() + names, kNames.data(), kNames.size());
    Elf64_Shdr section{};
    section.sh_name = debug ? kDebug : kEh;
    section.sh_type = SHT_PROGBITS;
    section.sh_flags = debug ? 0 : SHF_ALLOC;
    section.sh_addr = debug ? 0 : kCodeEnd;
    section.sh_offset = kCodeEnd;
    section.sh_size = frames.size();
    put(image, table + sizeof(section), section);
    Elf64_Shdr strings{};
    strings.sh_name = kShstrtab;
    strings.sh_type = SHT_STRTAB;
    strings.sh_offset = names;
    strings.sh_size = kNames.size();
    put(image, table + 2 * sizeof(section), strings);
    return image;
}

void check(std::span<const std::uint8_t> frames, bool debug) {
    lattop::CfiEntries entries;
    const bool sound = lattop::check_cfi(
        frames, debug ? lattop::CfiFormat::DebugFrame : lattop::CfiFormat::EhFrame, entries);
    const auto rows = lattop::CfiRows::from_memory(image_of(frames, debug));
    REQUIRE(rows->file().usable());
    constexpr std::uint64_t kStride = 61;
    for (std::uint64_t offset = kCode; offset < kCodeEnd; offset += kStride) {
        for (const bool exact : {false, true}) {
            const lattop::BuiltRow built = rows->row_at(offset + 1, exact);
            REQUIRE(lt_row_valid(&built.row));
            REQUIRE(sound || built.row.kind == LT_ROW_CANNOT);
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    for (const bool debug : {false, true})
        check({data, size}, debug);
    return 0;
}
