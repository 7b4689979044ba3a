// SPDX-License-Identifier: GPL-2.0-or-later
//
// /proc/PID/maps (proc(5)): which file's code is at which address. Called by
// the symbolizer with text that the process behind it can shape: paths are any
// bytes.
#pragma once

#include <cstddef>
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
    std::string path;      ///< "" for anonymous memory, "[vdso]" and the like; see kMaxMappedPath
    bool deleted = false;  ///< the path no longer names the file
};

/// Path of the mapping that is the kernel's code for system calls (vdso(7)),
/// and what it never is longer than.
inline constexpr const char* kVdso = "[vdso]";
inline constexpr std::size_t kMaxVdsoBytes = 65536;

/// Bytes of a mapping's path. The kernel's may be megabytes, as folders lie in each other without
/// an end: of such the last ones are kept behind "...", which no call opens (PATH_MAX).
inline constexpr std::size_t kMaxMappedPath = 4096;

/// The executable mappings of text that comes in pieces. What it holds of that is a line, and of a
/// long one its ends.
class MapsParser {
public:
    void add(std::string_view text);

    /// The mappings, by address. Lines that are none are skipped.
    [[nodiscard]] std::vector<Mapping> finish();

private:
    void take(std::string_view line);
    void keep(std::string_view begin_of_line);

    std::string line_;  ///< what came of it by now
    std::vector<Mapping> maps_;
};

/// The same of all of the text.
std::vector<Mapping> parse_maps(std::string_view text);

/// The mapping that holds `address`, nullptr for none.
const Mapping* find_mapping(const std::vector<Mapping>& maps, std::uint64_t address);

/// Whether they map the same part of the same file at the same place; the file
/// may have been deleted meanwhile.
bool same_mapping(const Mapping& a, const Mapping& b);

/// The last part of a path, without what the kernel adds to a deleted one's.
std::string module_name(const std::string& path);

}  // namespace lattop
