// SPDX-License-Identifier: GPL-2.0-or-later
//
// See image_messages.h.
#include "unwind/image_messages.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

namespace lattop {
namespace {

/// A control message with one descriptor.
union OneDescriptor {
    std::array<char, CMSG_SPACE(sizeof(int))> bytes;
    cmsghdr alignment;
};

/// More are not inlined at one place (elf_inlines.h).
constexpr std::uint32_t kMaxInlined = 4096;

/// What an inlined call takes in a message beside its texts.
constexpr std::size_t kCallBytes = 3 * sizeof(std::uint32_t);

}  // namespace

void MessageWriter::text(std::string_view text) {
    fixed(static_cast<std::uint32_t>(text.size()));
    bytes_.insert(bytes_.end(), text.begin(), text.end());
}

std::string read_text(ByteReader& reader) {
    const auto bytes = reader.fixed<std::uint32_t>();
    const auto rest = reader.rest();
    reader.skip(bytes);
    if (!reader.ok()) return "";
    return {reinterpret_cast<const char*>(rest.data()), bytes};
}

std::vector<std::uint8_t> to_message(const ImageRequest& request) {
    MessageWriter message;
    message.fixed(request.op);
    message.fixed(request.image);
    message.fixed<std::uint8_t>(request.flag ? 1 : 0);
    for (const std::uint64_t value : {request.address, request.start, request.end, request.offset})
        message.fixed(value);
    const auto bytes = message.bytes();
    return {bytes.begin(), bytes.end()};
}

std::optional<ImageRequest> request_of(std::span<const std::uint8_t> message) {
    ByteReader reader(message);
    ImageRequest request;
    const std::uint8_t op = reader.byte();
    request.op = static_cast<ImageOp>(op);
    request.image = reader.fixed<std::uint32_t>();
    request.flag = reader.byte() != 0;
    for (std::uint64_t* value : {&request.address, &request.start, &request.end, &request.offset})
        *value = reader.fixed<std::uint64_t>();
    if (!reader.ok() || !reader.empty() || op > static_cast<std::uint8_t>(ImageOp::Close))
        return std::nullopt;
    return request;
}

void write(MessageWriter& message, const ImageFacts& facts) {
    message.fixed(facts.bytes);
    message.fixed(facts.symbols);
    message.fixed<std::uint8_t>(facts.has_lines ? 1 : 0);
}

ImageFacts read_facts(ByteReader& reader) {
    ImageFacts facts;
    facts.bytes = reader.fixed<std::uint64_t>();
    facts.symbols = reader.fixed<std::uint64_t>();
    facts.has_lines = reader.byte() != 0;
    return facts;
}

void write(MessageWriter& message, const DebugName& name) {
    message.text(name.build_id);
    message.text(name.link);
    message.fixed(name.link_crc);
}

DebugName read_debug_name(ByteReader& reader) {
    DebugName name;
    name.build_id = read_text(reader);
    name.link = read_text(reader);
    name.link_crc = reader.fixed<std::uint32_t>();
    // Both become part of a path.
    const bool odd_id = name.build_id.find_first_not_of("0123456789abcdef") != std::string::npos ||
                        name.build_id.size() % 2 != 0 || name.build_id.size() == 2;
    if (odd_id || name.link.find('/') != std::string::npos ||
        name.link.find('\0') != std::string::npos)
        return {};
    return name;
}

void write(MessageWriter& message, const SourcePlace& place) {
    message.text(place.line.file);
    message.fixed(place.line.line);
    MessageWriter calls;
    std::uint32_t count = 0;
    std::size_t room = message.room() - sizeof(count);
    for (const InlinedCall& call : place.inlined) {
        const std::size_t bytes = kCallBytes + call.function.size() + call.call.file.size();
        if (bytes > room || count == kMaxInlined) break;
        room -= bytes;
        ++count;
        calls.text(call.function);
        calls.text(call.call.file);
        calls.fixed(call.call.line);
    }
    message.fixed(count);
    message.append(calls);
}

SourcePlace read_place(ByteReader& reader) {
    SourcePlace place;
    place.line.file = read_text(reader);
    place.line.line = reader.fixed<std::uint32_t>();
    const auto count = reader.fixed<std::uint32_t>();
    for (std::uint32_t i = 0; i < std::min(count, kMaxInlined) && reader.ok(); ++i) {
        InlinedCall call;
        call.function = read_text(reader);
        call.call.file = read_text(reader);
        call.call.line = reader.fixed<std::uint32_t>();
        place.inlined.push_back(std::move(call));
    }
    return place;
}

bool send_message(int socket, std::span<const std::uint8_t> message, int fd) {
    iovec bytes{const_cast<std::uint8_t*>(message.data()), message.size()};
    OneDescriptor room{};
    msghdr header{};
    header.msg_iov = &bytes;
    header.msg_iovlen = 1;
    if (fd >= 0) {
        header.msg_control = room.bytes.data();
        header.msg_controllen = room.bytes.size();
        cmsghdr* control = CMSG_FIRSTHDR(&header);
        control->cmsg_level = SOL_SOCKET;
        control->cmsg_type = SCM_RIGHTS;
        control->cmsg_len = CMSG_LEN(sizeof(fd));
        std::memcpy(CMSG_DATA(control), &fd, sizeof(fd));
    }
    ssize_t sent = 0;
    do {
        sent = ::sendmsg(socket, &header, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent == static_cast<ssize_t>(message.size());
}

std::optional<ReceivedMessage> receive_message(int socket) {
    ReceivedMessage message;
    // Not as zeros: most messages are a hundredth of it.
    const auto buffer = std::make_unique_for_overwrite<std::uint8_t[]>(kMaxImageMessage);
    iovec bytes{buffer.get(), kMaxImageMessage};
    OneDescriptor room{};
    msghdr header{};
    header.msg_iov = &bytes;
    header.msg_iovlen = 1;
    header.msg_control = room.bytes.data();
    header.msg_controllen = room.bytes.size();
    ssize_t n = 0;
    do {
        n = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    if (n <= 0) return std::nullopt;
    const cmsghdr* control = CMSG_FIRSTHDR(&header);
    if (control != nullptr && control->cmsg_level == SOL_SOCKET &&
        control->cmsg_type == SCM_RIGHTS && control->cmsg_len == CMSG_LEN(sizeof(int))) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(control), sizeof(fd));
        message.fd.reset(fd);
    }
    if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) return std::nullopt;
    message.bytes.assign(buffer.get(), buffer.get() + n);
    return message;
}

}  // namespace lattop
