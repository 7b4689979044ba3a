// SPDX-License-Identifier: GPL-2.0-or-later
//
// A recording as a source of snapshots: for replay, report, export, diff and
// `lattop -b -i FILE`. Its names come with it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "lattop/recording/reader.h"
#include "lattop/source/source.h"

namespace lattop::recording {

/// How many bytes of how many have been read.
using ReadProgress = std::function<void(std::uint64_t done, std::uint64_t all)>;

/// A reader of the file `path`; all of it is read once, which `progress` is told of. Throws
/// Error.
Reader open_recording(const std::string& path, const ReadProgress& progress = {});

/// Each take() of the next moment gives the next snapshot, at the end the last
/// one again and again. The query's pids, flags, limit and order are applied
/// here; its traces as far as the recording has them.
class RecordingSource final : public Source {
public:
    /// Throws RecordingError where the recording has no snapshot.
    explicit RecordingSource(Reader reader);

    Snapshot take(const Query& query, Moment moment) override;
    void reset() override;
    [[nodiscard]] bool live() const override { return false; }
    [[nodiscard]] bool more() const override { return next_ < reader_.size(); }
    [[nodiscard]] std::optional<std::uint64_t> realtime_ns() const override;
    int travel(std::int64_t snapshots) override;
    [[nodiscard]] std::string position() const override;
    [[nodiscard]] std::size_t size() const override { return reader_.size(); }

    [[nodiscard]] Reader& reader() { return reader_; }

private:
    [[nodiscard]] std::size_t current() const { return next_ == 0 ? 0 : next_ - 1; }

    Reader reader_;
    std::size_t next_ = 0;
};

}  // namespace lattop::recording
