// SPDX-License-Identifier: GPL-2.0-or-later
//
// Where the debug information of a program lies that distributions ship in
// files of their own (gdb, "Debugging Information in Separate Files"). Called
// by the symbolizer for files that carry none.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

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

/// How much is read through for the checksum of one program's debug file.
inline constexpr off_t kMaxSummed = off_t{1} << 30;

/// Looks for the debug file of one program, in one root after the other.
class DebugFileSearch {
public:
    /// Of a program mapped as `path`. `most_summed`: bytes for checksums, of all files together;
    /// whoever wrote the program may have put large files there.
    DebugFileSearch(const DebugName& name, const std::string& path, const std::string& folder,
                    IdentifyFile identify, off_t most_summed = kMaxSummed);

    /// By its build id in `folder`/.build-id, then by its link beside it, in .debug there, and in
    /// `folder` under its path. Only a file with the same build id is taken, or, where the program
    /// has none, with the checksum it names. A file that was none before is not read again.
    UniqueFd find(const OpenFile& open);

private:
    bool belongs(const UniqueFd& fd);
    bool has_checksum(const UniqueFd& fd, off_t bytes);

    DebugName name_;
    std::vector<std::string> candidates_;
    IdentifyFile identify_;
    off_t left_;                                // to be summed
    std::set<std::pair<dev_t, ino_t>> others_;  // files that are not it
};

}  // namespace lattop
