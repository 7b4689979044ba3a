// SPDX-License-Identifier: GPL-2.0-or-later
#include <cstring>

#include "lattop/recording/checksum.h"
#include "lattop/recording/reader.h"
#include "lattop/source/encoder.h"
#include "lattop/source/error.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/recordings.h"

namespace lattop::test {
namespace {

using recording::crc32c;
using recording::FileHeader;
using recording::Kind;
using recording::Reader;
using recording::RecordHeader;

Reader open(std::vector<std::byte> bytes) {
    return Reader(read_from(std::move(bytes)), "r");
}

RecordHeader header_at(const std::vector<std::byte>& bytes, std::size_t at) {
    RecordHeader header;
    std::memcpy(&header, bytes.data() + at, sizeof(header));
    return header;
}

/// Where each record begins, and behind the last one.
std::vector<std::size_t> record_begins(const std::vector<std::byte>& bytes) {
    std::vector<std::size_t> begins = {sizeof(FileHeader)};
    while (begins.back() < bytes.size())
        begins.push_back(begins.back() + sizeof(RecordHeader) +
                         header_at(bytes, begins.back()).stored_bytes);
    return begins;
}

/// Snapshots whose records end at or before byte `end`.
std::size_t whole_snapshots(const std::vector<std::byte>& bytes, std::size_t end) {
    const auto begins = record_begins(bytes);
    std::size_t n = 0;
    for (std::size_t i = 0; i + 1 < begins.size() && begins[i + 1] <= end; ++i)
        if (header_at(bytes, begins[i]).kind == static_cast<std::uint16_t>(Kind::Snapshot)) ++n;
    return n;
}

/// A header of the same bytes with its checksum made right again.
void seal(std::vector<std::byte>& bytes, std::size_t at, RecordHeader header) {
    header.header_checksum = crc32c(std::as_bytes(std::span(&header, 1)).first(sizeof(header) - 4));
    std::memcpy(bytes.data() + at, &header, sizeof(header));
}

}  // namespace

TEST_CASE("the checksum is CRC-32C") {
    const std::string digits = "123456789";
    CHECK(crc32c(std::as_bytes(std::span(digits))) == 0xe3069283);
    CHECK(crc32c({}) == 0);
}

TEST_CASE("what is recorded is read again, byte for byte, forwards and backwards") {
    constexpr std::size_t kCount = 3 * recording::kSnapshotsPerKey + 5;
    Reader reader = open(sample_recording(kCount));
    REQUIRE(reader.size() == kCount);
    CHECK(reader.damage().empty());
    CHECK(reader.info().at("host") == "sample");
    const auto check = [&](std::size_t i) {
        CHECK(encode(reader.snapshot(i)) == encode(sample_machine(10 + 2 * i).snapshot()));
        CHECK(reader.realtime_ns(i) == kRecordedAt + i * 2'000'000'000);
    };
    for (std::size_t i = 0; i < kCount; ++i)
        check(i);
    for (std::size_t i = kCount; i-- > 0;)
        check(i);
    for (const std::size_t i : {50U, 2U, 3U, 90U, 90U, 0U, 100U})
        check(i);
}

TEST_CASE("an encoded snapshot is what the module would have written") {
    SnapshotBuilder builder = sample_machine(10);
    CHECK(encode(builder.snapshot()) == builder.bytes());
}

TEST_CASE("what did not change costs next to nothing") {
    const auto same = [](std::size_t) { return sample_machine(10); };
    const std::size_t one = make_recording(1, same).size();
    const std::size_t twenty = make_recording(20, same).size();
    CHECK((twenty - one) / 19 < 150);
    const std::size_t changing = sample_recording(20).size();
    CHECK((changing - one) / 19 < sample_machine(10).bytes().size() / 6);
}

TEST_CASE("a recording cut off at any byte opens to its last whole record") {
    const auto bytes = sample_recording(4);
    for (std::size_t end = 0; end < bytes.size(); ++end) {
        INFO("cut at " << end);
        const std::vector<std::byte> cut(bytes.begin(),
                                         bytes.begin() + static_cast<std::ptrdiff_t>(end));
        if (end < sizeof(FileHeader)) {
            CHECK_THROWS_AS(open(cut), RecordingError);
            continue;
        }
        Reader reader = open(cut);
        REQUIRE(reader.size() == whole_snapshots(bytes, end));
        CHECK_THAT(reader.damage(), has_text("cut off"));
        if (reader.size() > 0)
            CHECK(encode(reader.snapshot(reader.size() - 1)) ==
                  encode(sample_machine(8 + 2 * reader.size()).snapshot()));
    }
}

TEST_CASE("a bit flipped in any byte ends the recording there, and is said") {
    const auto bytes = sample_recording(3);
    const auto begins = record_begins(bytes);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        INFO("flipped at " << at);
        auto flipped = bytes;
        flipped[at] ^= std::byte{static_cast<unsigned char>(1U << (at % 8))};
        if (at < sizeof(FileHeader)) {
            CHECK_THROWS_AS(open(flipped), Error);
            continue;
        }
        Reader reader = open(flipped);
        // What stands before the record that the byte is in.
        std::size_t record = 0;
        while (begins[record + 1] <= at)
            ++record;
        REQUIRE(reader.size() == whole_snapshots(bytes, begins[record]));
        CHECK_THAT(reader.damage(), has_text("byte " + std::to_string(begins[record])));
        for (std::size_t i = 0; i < reader.size(); ++i)
            CHECK(encode(reader.snapshot(i)) == encode(sample_machine(10 + 2 * i).snapshot()));
    }
}

TEST_CASE("a record that lies with right checksums is refused, not believed") {
    auto bytes = sample_recording(3);
    std::vector<std::size_t> snapshots;
    for (const std::size_t begin : record_begins(bytes))
        if (begin < bytes.size() &&
            header_at(bytes, begin).kind == static_cast<std::uint16_t>(Kind::Snapshot))
            snapshots.push_back(begin);
    REQUIRE(snapshots.size() == 3);
    RecordHeader header = header_at(bytes, snapshots[1]);
    SECTION("longer than it is") {
        ++header.raw_bytes;
    }
    SECTION("shorter than it is") {
        --header.raw_bytes;
    }
    SECTION("far longer than it can be") {
        header.raw_bytes = recording::kMaxRawBytes;
    }
    SECTION("alone, though it needs the one before") {
        header.flags = 0;
    }
    seal(bytes, snapshots[1], header);
    Reader reader = open(bytes);
    CHECK_NOTHROW(reader.snapshot(0));
    CHECK_THROWS_AS(reader.snapshot(1), Error);
    CHECK_NOTHROW(reader.snapshot(0));
}

TEST_CASE("records of kinds unknown are stepped over, a later version is refused") {
    auto bytes = sample_recording(2);
    RecordHeader info = header_at(bytes, sizeof(FileHeader));
    REQUIRE(info.kind == static_cast<std::uint16_t>(Kind::Info));
    info.kind = 77;
    seal(bytes, sizeof(FileHeader), info);
    CHECK(open(bytes).size() == 2);
    CHECK(open(bytes).damage().empty());

    FileHeader file;
    file.version = recording::kVersion + 1;
    file.checksum = crc32c(std::as_bytes(std::span(&file, 1)).first(sizeof(file) - 4));
    std::memcpy(bytes.data(), &file, sizeof(file));
    CHECK_THROWS_AS(open(bytes), NotUsableError);
    CHECK_THROWS_WITH(open(bytes), has_text("version 2"));
}

TEST_CASE("other files are told from recordings") {
    const std::string text = "#!/bin/sh\necho hello, hello, hello, hello\n";
    const auto bytes = std::as_bytes(std::span(text));
    CHECK_THROWS_WITH(open({bytes.begin(), bytes.end()}), has_text("not a recording"));
    CHECK_THROWS_WITH(open({}), has_text("empty"));
}

TEST_CASE(
    "a recording of a few bytes with names beyond any machine's is damaged there, and says so") {
    auto bytes = sample_recording(2);
    std::size_t at = 0;
    for (const std::size_t begin : record_begins(bytes))
        if (at == 0 && header_at(bytes, begin).kind == static_cast<std::uint16_t>(Kind::Names))
            at = begin;
    RecordHeader header = header_at(bytes, at);
    header.raw_bytes = recording::kMaxNamesPayload + 1;
    seal(bytes, at, header);
    CHECK_THAT(open(bytes).damage(), has_text("is damaged: names of 67108865 bytes at once"));
}

}  // namespace lattop::test
