// SPDX-License-Identifier: GPL-2.0-or-later
//
// How much memory an image reader may take: less for each that runs already, so that all of them
// together are bounded too. One runs as a rule; programs whose files do not answer, or are much
// work, keep theirs. Held by ImageProcess, one for a reader.
#pragma once

#include <cstdint>

namespace lattop {

class ReaderShare {
public:
    /// That of the first place that no other reader of this process has.
    ReaderShare();
    ReaderShare(const ReaderShare&) = delete;
    ReaderShare& operator=(const ReaderShare&) = delete;
    ~ReaderShare();

    /// Bytes.
    [[nodiscard]] std::uint64_t memory() const { return memory_; }

private:
    unsigned place_ = 0;
    std::uint64_t memory_;
};

/// Bytes for the reader in a place, from 0, on a machine that has `machine` of them: a fourth of
/// these, 512 MiB at least and 2 GiB at most, halved from place to place to 128 MiB.
std::uint64_t reader_memory(std::uint64_t machine, unsigned place);

}  // namespace lattop
