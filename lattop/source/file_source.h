// SPDX-License-Identifier: GPL-2.0-or-later
//
// Saved snapshots: a file of record views one after the other, as they were
// read from /proc/lattop. For tests of the real program without the module,
// and for looking at what another machine saw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lattop/source/source.h"
#include "unwind/unique_fd.h"

namespace lattop {

/// Each take() of the next moment gives the next snapshot, at the end the last one
/// again and again. The
/// query's pids, flags, limit and order are applied here; its traces are not:
/// the file holds what it holds.
class FileSource final : public Source {
public:
    /// Throws Error where the file cannot be opened.
    explicit FileSource(std::string path);

    Snapshot take(const Query& query, Moment moment) override;
    void reset() override;
    [[nodiscard]] bool live() const override { return false; }
    [[nodiscard]] bool more() const override { return next_ < file_bytes_; }

private:
    std::string path_;
    UniqueFd fd_;
    std::vector<std::byte> buffer_;
    std::uint64_t file_bytes_ = 0;
    std::uint64_t next_ = 0;     ///< where the snapshot behind the current one begins
    std::uint64_t current_ = 0;  ///< where the last one given begins
};

}  // namespace lattop
