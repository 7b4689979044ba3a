// SPDX-License-Identifier: GPL-2.0-or-later
//
// See own_vdso.h.
#include "unwind/own_vdso.h"

#include <elf.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

namespace lattop {

std::span<const char> own_vdso() {
    const auto* own = reinterpret_cast<const char*>(::getauxval(AT_SYSINFO_EHDR));
    if (own == nullptr) return {};
    Elf64_Ehdr header;
    std::memcpy(&header, own, sizeof(header));
    // The table of its sections is the last that it has.
    const std::size_t end = header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize;
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return {own, (end + page - 1) / page * page};
}

}  // namespace lattop
