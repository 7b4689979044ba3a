// SPDX-License-Identifier: GPL-2.0-or-later
//
// The header of an ELF file that is put together. Used by ImageWriter, and by tests that
// make hostile files.
#pragma once

#include <elf.h>

#include <cstring>

namespace lattop {

/// Of x86-64; without tables, which the caller says the places and counts of.
inline Elf64_Ehdr new_elf_header(Elf64_Half type) {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = type;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof(header);
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_shentsize = sizeof(Elf64_Shdr);
    return header;
}

}  // namespace lattop
