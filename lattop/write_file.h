// SPDX-License-Identifier: GPL-2.0-or-later
//
// Bytes into descriptors and files, all of them. Used by standard output, by
// recordings, by export and by the user's configuration.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "lattop/safe_folder.h"

namespace lattop {

/// Writes all of it; 0, or the errno of what stopped it.
int write_all(int fd, std::span<const std::byte> bytes);

/// Waits until what was written to a regular file is stored; 0, or the errno of why it is not. A
/// file system that works later (NFS) may say only then that there is no room.
int store_all(int fd);

/// Makes `path` a file of mode 0600 with just `text`, whole or not at all: what
/// had that name stays until all is stored. Refuses to replace what is not a
/// regular file, and the file `input` that the text was made from ("" for
/// none). Links on the way, and folders that are missing: safe_folder.h. Throws Error.
void replace_file(const std::string& path, std::string_view text, const std::string& input,
                  MissingFolders missing = MissingFolders::Refuse);

}  // namespace lattop
