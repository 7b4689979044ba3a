// SPDX-License-Identifier: GPL-2.0-or-later
//
// /proc/PID/maps (proc(5)): which file's code is at which address. Called by
// the symbolizer with text that the process behind it can shape: paths are any
// bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lattop {

/// An executable mapping.
struct Mapping {
    std::uint64_t start = 0;
    std::uint64_t end = 0;     ///< first address behind it
    std::uint64_t offset = 0;  ///< of `start` in the file
    std::uint64_t device = 0;  ///< makedev(3)
    std::uint64_t inode = 0;   ///< 0 where no file is mapped
    std::string path;          ///< "" for anonymous memory, "[vdso]" and the like
    bool deleted = false;      ///< the path no longer names the file
};

/// The executable mappings, by address. Lines that are none are skipped.
std::vector<Mapping> parse_maps(std::string_view text);

/// The mapping that holds `address`, nullptr for none.
const Mapping* find_mapping(const std::vector<Mapping>& maps, std::uint64_t address);

/// The last part of a path, without what the kernel adds to a deleted one's.
std::string module_name(const std::string& path);

}  // namespace lattop
