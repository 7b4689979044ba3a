// SPDX-License-Identifier: GPL-2.0-or-later
//
// Recordings: whatever the bytes are, the snapshots that a reader says it has
// can be asked for, in any order, and exported. Checksums are made right first, as whoever
// means harm would: what they find is tested in the unit tests.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "lattop/export/stacks.h"
#include "lattop/model/merged_stacks.h"
#include "lattop/recording/checksum.h"
#include "lattop/recording/reader.h"
#include "lattop/source/error.h"
#include "tests/fuzz/require.h"

namespace {

using namespace lattop::recording;

template <typename Header>
void seal(std::vector<std::byte>& bytes, std::size_t at, Header header) {
    const std::uint32_t checksum =
        crc32c(std::as_bytes(std::span(&header, 1)).first(sizeof(header) - sizeof(checksum)));
    std::memcpy(bytes.data() + at, &header, sizeof(header) - sizeof(checksum));
    std::memcpy(bytes.data() + at + sizeof(header) - sizeof(checksum), &checksum, sizeof(checksum));
}

void make_checksums_right(std::vector<std::byte>& bytes) {
    FileHeader file;
    if (bytes.size() < sizeof(file)) return;
    std::memcpy(&file, bytes.data(), sizeof(file));
    seal(bytes, 0, file);
    RecordHeader header;
    for (std::size_t at = sizeof(file); bytes.size() - at >= sizeof(header);) {
        std::memcpy(&header, bytes.data() + at, sizeof(header));
        const std::size_t payload = at + sizeof(header);
        const std::size_t stored =
            std::min<std::size_t>(header.stored_bytes, bytes.size() - payload);
        header.payload_checksum = crc32c(std::span(bytes).subspan(payload, stored));
        seal(bytes, at, header);
        at = payload + stored;
    }
}

/// What stacks are called has a fuzzer of its own (exports): of one recording in kExportedOneIn
/// they are exported, which takes ten times as long as to read it.
constexpr std::uint32_t kExportedOneIn = 32;

void merge_and_export(const lattop::Snapshot& snapshot, const RecordedNames& names, bool exported) {
    static lattop::Reasons reasons;
    const auto stacks = merge_stacks(snapshot, names, reasons);
    if (!exported) return;
    REQUIRE(!lattop::export_flamegraph(stacks, "fuzz").empty());
    REQUIRE(!lattop::export_speedscope(stacks, "fuzz").empty());
    REQUIRE(!lattop::export_csv(stacks).empty());
    lattop::export_folded(stacks);
    lattop::export_pprof(stacks, 0, 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto given = std::as_bytes(std::span(data, size));
    std::vector<std::byte> bytes(given.begin(), given.end());
    make_checksums_right(bytes);
    const bool exported = crc32c(given) % kExportedOneIn == 0;
    constexpr std::uint32_t kMaxRaw = 1U << 24;
    try {
        Reader reader(
            [&](std::uint64_t offset, std::span<std::byte> into) -> std::size_t {
                if (offset >= bytes.size()) return 0;
                const std::size_t n = std::min<std::size_t>(into.size(), bytes.size() - offset);
                std::memcpy(into.data(), bytes.data() + offset, n);
                return n;
            },
            "fuzz", kMaxRaw);
        REQUIRE(reader.size() <= size / sizeof(RecordHeader));
        for (std::size_t i = reader.size(); i-- > 0;) {
            try {
                merge_and_export(reader.snapshot(i), reader.names(), exported);
            } catch (const lattop::Error&) {
            }
        }
    } catch (const lattop::Error&) {
    }
    return 0;
}
