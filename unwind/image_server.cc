// SPDX-License-Identifier: GPL-2.0-or-later
//
// See image_server.h.
#include "unwind/image_server.h"

#include <malloc.h>
#include <sys/time.h>

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>

#include "unwind/elf_image.h"
#include "unwind/image_messages.h"
#include "unwind/walk_server.h"

namespace lattop {
namespace {

/// What all of this process holds: what elfutils makes of a file is in no other count.
std::size_t bytes_in_use() {
    const struct mallinfo2 memory = ::mallinfo2();
    return memory.uordblks + memory.hblkhd;
}

void limit_time(int seconds) {
    const itimerval limit{.it_interval = {}, .it_value = {.tv_sec = seconds, .tv_usec = 0}};
    ::setitimer(ITIMER_PROF, &limit, nullptr);
}

class ImageServer {
public:
    explicit ImageServer(int socket) : socket_(socket) {}

    /// False where the other side is not one, or has gone.
    bool answer(ReceivedMessage message) {
        const auto request = request_of(message.bytes);
        if (!request) return false;
        if (request->op == ImageOp::Close) {
            images_.erase(request->image);
            return true;
        }
        if (request->op == ImageOp::Identify) {
            MessageWriter reply;
            write(reply, ImageFacts{});
            write(reply, debug_name(message.fd));
            return send_message(socket_, reply.bytes());
        }
        if (request->op == ImageOp::Walk) {
            limit_time(kWalkSeconds);
            return serve_walk(socket_);
        }
        const std::size_t before = bytes_in_use();
        MessageWriter body;
        Image& image = images_[request->image];
        if (request->op == ImageOp::Open || image.elf != nullptr)
            look(image, *request, std::move(message.fd), body);
        const std::size_t after = bytes_in_use();
        image.bytes += after - std::min(before, after);
        return reply(image, body);
    }

private:
    struct Image {
        std::unique_ptr<ElfImage> elf;
        std::size_t bytes = 0;
    };

    bool reply(const Image& image, const MessageWriter& body) const {
        MessageWriter reply;
        write(reply, ImageFacts{.bytes = image.bytes,
                                .symbols = image.elf == nullptr ? 0 : image.elf->symbol_count(),
                                .has_lines = image.elf != nullptr && image.elf->has_lines()});
        reply.append(body);
        return send_message(socket_, reply.bytes());
    }

    static void look(Image& image, const ImageRequest& request, UniqueFd fd, MessageWriter& body) {
        switch (request.op) {
            case ImageOp::Open:
                image.elf = ElfImage::names_of(std::move(fd));
                if (!request.flag) image.elf->forget_lines();
                if (const DebugName* name = image.elf->wanted_debug_file()) write(body, *name);
                break;
            case ImageOp::Lines: image.elf->open_lines(); break;
            case ImageOp::DebugFile:
                image.elf->add_debug_file(std::move(fd),
                                          request.flag ? AltLink::Followed : AltLink::Refused);
                break;
            case ImageOp::Symbol: {
                const UserFrame frame = image.elf->symbol_at(request.address, request.flag);
                body.fixed(frame.offset);
                body.text(std::string_view(frame.symbol).substr(0, kMaxText));
                break;
            }
            case ImageOp::Place:
                if (const auto place = image.elf->place_at(request.address, request.flag))
                    write(body, *place);
                break;
            case ImageOp::Variables: image.elf->load_variables(std::move(fd)); break;
            case ImageOp::Variable:
                body.text(
                    std::string_view(image.elf->variable_at(request.address)).substr(0, kMaxText));
                break;
            case ImageOp::Address: {
                Mapping code;
                code.start = request.start;
                code.end = request.end;
                code.offset = request.offset;
                if (const auto address = image.elf->address_in(code, request.address))
                    body.fixed(*address);
                break;
            }
            case ImageOp::Identify:
            case ImageOp::Walk:
            case ImageOp::Close: break;
        }
    }

    /// Leaves room for what else is in the message.
    static constexpr std::size_t kMaxText = kMaxImageMessage / 2;

    int socket_;
    std::unordered_map<std::uint32_t, Image> images_;
};

}  // namespace

void serve_images(int socket) {
    ImageServer server(socket);
    for (;;) {
        auto message = receive_message(socket);
        if (!message) return;
        limit_time(kImageSeconds);
        const bool goes_on = server.answer(*std::move(message));
        limit_time(0);
        if (!goes_on) return;
    }
}

}  // namespace lattop
