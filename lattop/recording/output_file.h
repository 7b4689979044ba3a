// SPDX-License-Identifier: GPL-2.0-or-later
//
// The file that a recording is written to. A recording tells of every process,
// so nobody else may read it; and it may be made by root in a folder that
// others write to, so no name there can make it write elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "unwind/unique_fd.h"

namespace lattop::recording {

class OutputFile {
public:
    /// Makes `path`, of mode 0600. One that exists is written over only if it
    /// is a recording (or empty), this user's, with no other name, not a link,
    /// and nobody records to it. Links on the way: safe_folder.h. Throws Error.
    explicit OutputFile(std::string path);

    /// Appends all of it; or none, throws Error, and the file is as it was: a
    /// full disk costs the record that found no room.
    void append(std::span<const std::byte> bytes);

    /// Behind the last of it: waits until it is stored. Throws Error where it is not.
    void finish();

    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
    UniqueFd fd_;
    std::uint64_t end_ = 0;
};

}  // namespace lattop::recording
