// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reads a recording. The bytes are taken as hostile: opening reads all of them
// once and ends at the first that is not whole or not what its checksum says;
// what stands before is there, and damage() says what is not.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lattop/recording/compress.h"
#include "lattop/recording/format.h"
#include "lattop/recording/names.h"
#include "lattop/recording/writer.h"
#include "lattop/source/snapshot.h"

namespace lattop::recording {

/// Fills `into` from `offset` on as far as there is something; how many bytes.
using ReadAt = std::function<std::size_t(std::uint64_t offset, std::span<std::byte> into)>;

class Reader {
public:
    /// `name` is for messages; a record that unpacks to more than
    /// `max_raw_bytes` is damage. Throws RecordingError where the beginning is
    /// not that of a recording, NotUsableError where it is a newer lattop's.
    Reader(ReadAt read, std::string name, std::uint32_t max_raw_bytes = kMaxRawBytes);

    [[nodiscard]] std::size_t size() const { return snapshots_.size(); }
    [[nodiscard]] std::uint64_t realtime_ns(std::size_t index) const {
        return snapshots_.at(index).realtime_ns;
    }
    [[nodiscard]] std::uint64_t time_ns(std::size_t index) const {
        return snapshots_.at(index).time_ns;
    }

    /// Snapshot `index`, below size(). The next one costs least; another one
    /// up to kSnapshotsPerKey times as much. Throws RecordingError, and NotUsableError
    /// where it is of records that this lattop does not know.
    Snapshot snapshot(std::size_t index);

    [[nodiscard]] RecordedNames& names() { return *names_; }
    [[nodiscard]] const Info& info() const { return info_; }

    /// Why the recording ends where it ends; "" where it was ended.
    [[nodiscard]] const std::string& damage() const { return damage_; }

private:
    struct Place {
        std::uint64_t offset = 0;  ///< of the payload
        RecordHeader header;
    };

    void read_file_header();
    bool read_record(std::uint64_t& offset);
    void take(const Place& place, std::span<const std::byte> stored);
    void take_info(std::span<const std::byte> raw);
    bool fill(std::uint64_t offset, std::span<std::byte> into) const;
    void unpack_snapshot(std::size_t index);
    [[nodiscard]] Snapshot decode_current() const;

    ReadAt read_;
    std::string name_;
    std::uint32_t max_raw_bytes_;
    Decompressor decompressor_;
    std::unique_ptr<RecordedNames> names_ = std::make_unique<RecordedNames>();
    Info info_;
    std::uint64_t info_bytes_ = 0;
    std::string damage_;
    struct Moment {
        std::uint64_t offset = 0;
        std::uint64_t time_ns = 0, realtime_ns = 0;
        std::uint32_t stored_bytes = 0, raw_bytes = 0;
        bool key = false;
    };
    std::vector<Moment> snapshots_;
    std::vector<std::byte> current_;  // snapshot current_index_, unpacked
    std::optional<std::size_t> current_index_;
};

}  // namespace lattop::recording
