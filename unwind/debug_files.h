// SPDX-License-Identifier: GPL-2.0-or-later
//
// Where the debug information of a program lies that distributions ship in
// files of their own (gdb, "Debugging Information in Separate Files"). Called
// by the symbolizer for files that carry none.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "unwind/unique_fd.h"

struct Elf;

namespace lattop {

/// What a program says about its debug file.
struct DebugName {
    std::string build_id{};      ///< lower-case hex; "" for none
    std::string link{};          ///< file name; "" for none
    std::uint32_t link_crc = 0;  ///< of the whole file it names

    [[nodiscard]] bool empty() const { return build_id.empty() && link.empty(); }
};

DebugName debug_name(Elf* elf);
DebugName debug_name(const UniqueFd& fd);

/// Opens a regular file by its path; no descriptor where there is none.
using OpenFile = std::function<UniqueFd(const std::string& path)>;

/// What a file says of itself; nothing where it cannot be read.
using IdentifyFile = std::function<DebugName(const UniqueFd& fd)>;

/// The debug file of a program mapped as `path`: by its build id in
/// `folder`/.build-id, then by its link beside it, in .debug there, and in
/// `folder` under its path. Only a file with the same build id is taken, or,
/// where the program has none, with the checksum it names.
UniqueFd find_debug_file(const DebugName& name, const std::string& path, const std::string& folder,
                         const OpenFile& open, const IdentifyFile& identify);

}  // namespace lattop
