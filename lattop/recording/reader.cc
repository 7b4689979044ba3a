// SPDX-License-Identifier: GPL-2.0-or-later
//
// See reader.h; format.h draws what is read.
#include "lattop/recording/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "lattop/recording/checksum.h"
#include "lattop/source/decoder.h"
#include "lattop/source/error.h"

namespace lattop::recording {
namespace {

/// A payload is read in parts, so that a length out of thin air costs no more
/// than the file has.
constexpr std::size_t kReadBytes = std::size_t{1} << 20;

/// All that a recording says of itself. A command line has 6 MiB at most (execve(2)).
constexpr std::uint64_t kMostInfoBytes = std::uint64_t{16} << 20;

constexpr const char* kOtherLattop = "use the lattop that made it, or a newer one";

}  // namespace

Reader::Reader(ReadAt read, std::string name, std::uint32_t max_raw_bytes)
    : read_(std::move(read)), name_(std::move(name)), max_raw_bytes_(max_raw_bytes) {
    read_file_header();
    std::uint64_t offset = sizeof(FileHeader);
    while (read_record(offset)) {
    }
}

bool Reader::fill(std::uint64_t offset, std::span<std::byte> into) const {
    while (!into.empty()) {
        const std::size_t n = read_(offset, into);
        if (n == 0) return false;
        into = into.subspan(n);
        offset += n;
    }
    return true;
}

void Reader::read_file_header() {
    FileHeader header;
    const std::size_t n = read_(0, std::as_writable_bytes(std::span(&header, 1)));
    const std::size_t known = std::min(n, kMagic.size());
    if (known == 0) throw RecordingError(name_ + " is empty");
    if (!std::equal(kMagic.begin(), kMagic.begin() + static_cast<std::ptrdiff_t>(known),
                    header.magic.begin()))
        throw RecordingError(name_ + " is not a recording of lattop's");
    if (n < sizeof(header))
        throw RecordingError(fmt::format("{} ends in its first {} bytes", name_, sizeof(header)));
    if (header_checksum(header) != header.checksum)
        throw RecordingError(
            fmt::format("{}: its first {} bytes are damaged", name_, sizeof(header)));
    if (header.version != kVersion)
        throw NotUsableError(
            fmt::format("{} has version {} of the format, this lattop reads version {}", name_,
                        header.version, kVersion),
            kOtherLattop);
}

bool Reader::read_record(std::uint64_t& offset) {
    const auto stop = [&](const std::string& why) {
        damage_ = fmt::format("{}, at byte {}, {}", name_, offset, why);
        return false;
    };
    Place place;
    RecordHeader& header = place.header;
    const std::size_t n = read_(offset, std::as_writable_bytes(std::span(&header, 1)));
    if (n == 0) return stop("was not ended: it is being written, or was cut off");
    if (n < sizeof(header)) return stop("was cut off");
    if (header.magic != kRecordMagic || header_checksum(header) != header.header_checksum)
        return stop("is damaged");
    if (header.raw_bytes > max_raw_bytes_) return stop("is damaged: a record is too large");
    place.offset = offset + sizeof(header);
    std::vector<std::byte> stored;
    while (stored.size() < header.stored_bytes) {
        const std::size_t have = stored.size();
        stored.resize(have + std::min<std::size_t>(header.stored_bytes - have, kReadBytes));
        if (!fill(place.offset + have, std::span(stored).subspan(have))) return stop("was cut off");
    }
    if (crc32c(stored) != header.payload_checksum) return stop("is damaged");
    if (header.kind == static_cast<std::uint16_t>(Kind::End)) return false;
    try {
        take(place, stored);
    } catch (const RecordingError& error) {
        return stop(std::string("is damaged: ") + error.what());
    }
    offset = place.offset + header.stored_bytes;
    return true;
}

void Reader::take(const Place& place, std::span<const std::byte> stored) {
    const RecordHeader& header = place.header;
    switch (static_cast<Kind>(header.kind)) {
        case Kind::Info:
            info_bytes_ += header.raw_bytes;
            if (info_bytes_ > kMostInfoBytes)
                throw RecordingError(
                    fmt::format("what it says of itself is {} bytes, {} are read at most",
                                info_bytes_, kMostInfoBytes));
            take_info(decompressor_.unpack(stored, {}, header.raw_bytes));
            break;
        case Kind::Names:
            names_->expect(header.raw_bytes);
            names_->add(decompressor_.unpack(stored, {}, header.raw_bytes));
            break;
        case Kind::Objects:
            names_->objects().expect(header.raw_bytes);
            names_->objects().add(header.time_ns,
                                  decompressor_.unpack(stored, {}, header.raw_bytes));
            break;
        case Kind::Snapshot: {
            const bool key = (header.flags & kNeedsPrevious) == 0;
            if (!key && snapshots_.empty()) throw RecordingError("its first snapshot is missing");
            snapshots_.push_back({place.offset, header.time_ns, header.realtime_ns,
                                  header.stored_bytes, header.raw_bytes, key});
            break;
        }
        default: break;  // a later version's
    }
}

void Reader::take_info(std::span<const std::byte> raw) {
    std::string_view texts(reinterpret_cast<const char*>(raw.data()), raw.size());
    while (!texts.empty()) {
        const std::string_view text = texts.substr(0, texts.find('\0'));
        const std::size_t equals = std::min(text.find('='), text.size());
        info_[std::string(text.substr(0, equals))] = text.substr(std::min(equals + 1, text.size()));
        texts.remove_prefix(std::min(text.size() + 1, texts.size()));
    }
}

/// Makes `index` the current one; the one before it is, unless it is a key.
void Reader::unpack_snapshot(std::size_t index) {
    const Moment& moment = snapshots_[index];
    std::vector<std::byte> stored(moment.stored_bytes);
    if (!fill(moment.offset, stored))
        throw RecordingError(name_ + " has become shorter since it was opened");
    current_ = decompressor_.unpack(stored, moment.key ? std::span<const std::byte>{} : current_,
                                    moment.raw_bytes);
    current_index_ = index;
}

Snapshot Reader::snapshot(std::size_t index) {
    std::size_t from = index;
    while (!snapshots_.at(from).key)
        --from;
    if (current_index_ && *current_index_ >= from && *current_index_ <= index)
        from = *current_index_ + 1;
    for (; from <= index; ++from) {
        try {
            unpack_snapshot(from);
        } catch (...) {
            current_index_.reset();
            throw;
        }
    }
    return decode_current();
}

/// The decoder takes it for the module's.
Snapshot Reader::decode_current() const {
    std::uint32_t version = 0;
    if (current_.size() >= offsetof(lt_header, header_bytes))
        std::memcpy(&version, current_.data() + offsetof(lt_header, version), sizeof(version));
    try {
        return decode(current_);
    } catch (const NotUsableError&) {
        throw NotUsableError(
            fmt::format("{}: snapshot {} is of version {} of the record view, this lattop reads "
                        "version {}",
                        name_, *current_index_ + 1, version, static_cast<int>(LT_VERSION)),
            kOtherLattop);
    }
}

}  // namespace lattop::recording
