// SPDX-License-Identifier: GPL-2.0-or-later
//
// The recording format, version 1. The writer (writer.cc) makes it, the reader
// (reader.cc) takes it; lattop-recording(5) says the same to other programs.
//
// A snapshot of a busy machine has a megabyte or more, and most of it is as it
// was in the one before. So a record is a zstd frame, and that of a snapshot
// names the bytes of the snapshot before as its prefix (what zstd calls
// --patch-from): what did not change costs a few bytes. Every
// kSnapshotsPerKey-th stands alone, to begin from when going back in time.
//
// Numbers are little-endian. A recording:
//
//	+-------------------------+ 0
//	| FileHeader              |  6c 61 74 74 6f 70 52 0a  01 00 00 00 ...
//	+-------------------------+ 32
//	| RecordHeader            |  what, how long, when, two checksums
//	+ - - - - - - - - - - - - + 32 + 40
//	| stored_bytes of payload |  a zstd frame of raw_bytes
//	+-------------------------+
//	| RecordHeader, payload   |  ... one after the other, nothing between,
//	+-------------------------+  until a record of kind End
//
// What a payload holds, unpacked, by kind:
//
//	Info      texts "key=value", each ended by a NUL: about the machine
//	Names     items as names.h draws them: names of users, cgroups and user stacks;
//	          for the snapshots before and behind
//	Snapshot  the record view of module/uapi/lattop.h, whole
//	End       nothing: the recording was ended, not cut off
//	Objects   items as objects.h draws them: what sleepers of a snapshot before waited for
//
// Reading ends at the first record that is not whole or not what its checksums
// say; what stands before it counts. Kinds that a reader does not know it
// steps over, and flags and texts of Info that it does not know mean nothing to it:
// that is how the format grows. Items of Names have no length, so there is no
// stepping over those. `version` changes only when a reader of this version would
// take something for what it is not.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace lattop::recording {

static_assert(std::endian::native == std::endian::little);

inline constexpr std::array<char, 8> kMagic = {'l', 'a', 't', 't', 'o', 'p', 'R', '\n'};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint32_t kRecordMagic = 0x6345524c;  // "LREc"
inline constexpr std::size_t kSnapshotsPerKey = 32;

/// More than any snapshot has; a record that says more is damaged.
inline constexpr std::uint32_t kMaxRawBytes = std::uint32_t{1} << 30;

enum class Kind : std::uint16_t { Info = 1, Names = 2, Snapshot = 3, End = 4, Objects = 5 };

/// RecordHeader.flags: the payload needs the snapshot before as its prefix.
inline constexpr std::uint16_t kNeedsPrevious = 1;

struct FileHeader {
    std::array<char, 8> magic = kMagic;
    std::uint32_t version = kVersion;
    std::uint32_t spare = 0;
    std::uint64_t begin_realtime_ns = 0;  ///< since the epoch
    std::uint32_t spare2 = 0;
    std::uint32_t checksum = 0;  ///< CRC-32C of the 28 bytes before
};
static_assert(sizeof(FileHeader) == 32);

struct RecordHeader {
    std::uint32_t magic = kRecordMagic;
    std::uint16_t kind = 0;
    std::uint16_t flags = 0;
    std::uint32_t stored_bytes = 0;      ///< of the payload in the file
    std::uint32_t raw_bytes = 0;         ///< of the payload unpacked
    std::uint64_t time_ns = 0;           ///< lt_header.time_ns of its snapshot, else 0
    std::uint64_t realtime_ns = 0;       ///< when it was written, since the epoch
    std::uint32_t payload_checksum = 0;  ///< CRC-32C of the payload in the file
    std::uint32_t header_checksum = 0;   ///< CRC-32C of the 36 bytes before
};
static_assert(sizeof(RecordHeader) == 40);

}  // namespace lattop::recording
