// SPDX-License-Identifier: GPL-2.0-or-later
//
// libelf's handle of a file, for as long as it is read. Used by who reads names
// of files by libelf.
#pragma once

#include <libelf.h>

#include <memory>

namespace lattop {

struct ElfCloser {
    void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, ElfCloser>;

}  // namespace lattop
