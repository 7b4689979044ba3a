// SPDX-License-Identifier: GPL-2.0-or-later
//
// See writer.h; format.h draws what is written.
#include "lattop/recording/writer.h"

#include <fmt/format.h>

#include <cstring>

#include "lattop/recording/checksum.h"
#include "lattop/source/encoder.h"
#include "lattop/source/error.h"

namespace lattop::recording {

Writer::Writer(Append append, const Info& info, std::uint64_t realtime_ns)
    : append_(std::move(append)) {
    FileHeader header;
    header.begin_realtime_ns = realtime_ns;
    header.checksum = header_checksum(header);
    append_(std::as_bytes(std::span(&header, 1)));
    bytes_ = sizeof(header);
    put_info(info, realtime_ns);
}

void Writer::put_info(const Info& info, std::uint64_t realtime_ns) {
    std::string texts;
    for (const auto& [key, value] : info)
        // What ends a text cannot be in it.
        texts += key + "=" + value.substr(0, value.find('\0')) + '\0';
    put(Kind::Info, std::as_bytes(std::span(texts)), {}, 0, realtime_ns);
}

void Writer::put(Kind kind, std::span<const std::byte> raw, std::span<const std::byte> prefix,
                 std::uint64_t time_ns, std::uint64_t realtime_ns) {
    if (raw.size() > kMaxRawBytes)
        throw Error(fmt::format("a record of {} bytes is more than a recording takes", raw.size()),
                    "record fewer tasks: -p PID");
    const std::vector<std::byte> stored = compressor_.pack(raw, prefix);
    RecordHeader header;
    header.kind = static_cast<std::uint16_t>(kind);
    header.flags = prefix.empty() ? 0 : kNeedsPrevious;
    header.stored_bytes = static_cast<std::uint32_t>(stored.size());
    header.raw_bytes = static_cast<std::uint32_t>(raw.size());
    header.time_ns = time_ns;
    header.realtime_ns = realtime_ns;
    header.payload_checksum = crc32c(stored);
    header.header_checksum = header_checksum(header);
    std::vector<std::byte> record(sizeof(header) + stored.size());
    std::memcpy(record.data(), &header, sizeof(header));
    std::memcpy(record.data() + sizeof(header), stored.data(), stored.size());
    append_(record);
    bytes_ += record.size();
}

void Writer::add_names(const Snapshot& snapshot, NameSources names, std::uint64_t realtime_ns) {
    const std::vector<std::byte> news = names_.news(snapshot, names);
    if (!news.empty()) put(Kind::Names, news, {}, 0, realtime_ns);
}

void Writer::add_late_names(NameSources names, std::uint64_t realtime_ns) {
    const std::vector<std::byte> late = names_.late(names);
    if (!late.empty()) put(Kind::Names, late, {}, 0, realtime_ns);
}

void Writer::add(const Snapshot& snapshot, NameSources names, std::uint64_t realtime_ns) {
    add_names(snapshot, names, realtime_ns);
    std::vector<std::byte> raw = encode(snapshot);
    const bool key = snapshots_ % kSnapshotsPerKey == 0;
    put(Kind::Snapshot, raw, key ? std::span<const std::byte>{} : previous_,
        snapshot.header.time_ns, realtime_ns);
    previous_ = std::move(raw);
    ++snapshots_;
}

void Writer::add_objects(const FoundObjects& found, std::uint64_t realtime_ns) {
    const std::vector<std::byte> news = objects_.news(found);
    if (!news.empty()) put(Kind::Objects, news, {}, found.time_ns, realtime_ns);
}

void Writer::end(std::uint64_t realtime_ns) {
    if (names_.left_out() != 0)
        put_info({{"unnamed-stacks", std::to_string(names_.left_out())}}, realtime_ns);
    if (objects_.left_out() != 0)
        put_info({{"objects-left-out", std::to_string(objects_.left_out())}}, realtime_ns);
    put(Kind::End, {}, {}, 0, realtime_ns);
}

}  // namespace lattop::recording
