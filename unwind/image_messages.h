// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the symbolizer's process and an image reader say to each other: datagrams of a
// SOCK_SEQPACKET pair, a file beside one where it is about a file. Each request but Close and Walk
// is answered by one reply, in turn. Written and read by remote_image.cc and image_server.cc.
//
// A reply is as little to be trusted as the file that it is about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "unwind/byte_reader.h"
#include "unwind/debug_files.h"
#include "unwind/elf_lines.h"
#include "unwind/frame.h"
#include "unwind/unique_fd.h"

namespace lattop {

enum class ImageOp : std::uint8_t {
    Open,       ///< names of the file that comes with it; reply: OpenedImage
    Lines,      ///< its lines; reply: whether it has some
    DebugFile,  ///< adds the file that comes with it; reply: OpenedImage
    Symbol,     ///< at an offset; reply: name and offset in it
    Place,      ///< at an offset; reply: SourcePlace, if any
    Variables,  ///< reads those of the file that comes with it, if one does; reply: nothing
    Variable,   ///< at an address; reply: its name
    Address,    ///< of a process in a mapping; reply: as the file counts it, if it does
    Identify,   ///< the file that comes with it; reply: DebugName
    Walk,       ///< a stack: what is said then is in walk_messages.h
    Close,      ///< no reply
};

struct ImageRequest {
    ImageOp op = ImageOp::Close;
    std::uint32_t image = 0;  ///< a number that the asking side chooses
    bool flag =
        false;  ///< Symbol, Place: a return address. Open: Lines may follow. DebugFile: may lead on
    std::uint64_t address = 0;  ///< or offset in the file
    std::uint64_t start = 0;    ///< Address: of the mapping
    std::uint64_t end = 0;
    std::uint64_t offset = 0;
};

/// What each reply begins with.
struct ImageFacts {
    std::uint64_t bytes = 0;    ///< that the image holds
    std::uint64_t symbols = 0;  ///< of functions
    bool has_lines = false;
};

/// Bytes of a datagram at most.
inline constexpr std::size_t kMaxImageMessage = std::size_t{192} << 10;

/// Puts a message together.
class MessageWriter {
public:
    template <typename T>
    void fixed(T value) {
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
        bytes_.insert(bytes_.end(), bytes, bytes + sizeof(value));
    }
    void text(std::string_view text);
    void append(const MessageWriter& other) {
        bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
    }

    [[nodiscard]] std::span<const std::uint8_t> bytes() const { return bytes_; }
    [[nodiscard]] std::size_t room() const { return kMaxImageMessage - bytes_.size(); }

private:
    std::vector<std::uint8_t> bytes_;
};

/// A text that MessageWriter wrote; "" where it is not whole, which makes the reader not ok().
std::string read_text(ByteReader& reader);

/// Of messages that are not whole and nothing else: nullopt.
std::vector<std::uint8_t> to_message(const ImageRequest& request);
std::optional<ImageRequest> request_of(std::span<const std::uint8_t> message);

void write(MessageWriter& message, const ImageFacts& facts);
void write(MessageWriter& message, const DebugName& name);
void write(MessageWriter& message, const SourcePlace& place);  ///< leaves out what has no room
ImageFacts read_facts(ByteReader& reader);
DebugName read_debug_name(ByteReader& reader);
SourcePlace read_place(ByteReader& reader);

/// Sends a message, and a file where `fd` is none of -1. Whether that was done; else errno says
/// why.
bool send_message(int socket, std::span<const std::uint8_t> message, int fd = -1);

struct ReceivedMessage {
    std::vector<std::uint8_t> bytes;
    UniqueFd fd;  ///< where a file came with it
};

/// The next one; nullopt where there will be none.
std::optional<ReceivedMessage> receive_message(int socket);

}  // namespace lattop
