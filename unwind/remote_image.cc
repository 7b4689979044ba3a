// SPDX-License-Identifier: GPL-2.0-or-later
//
// See remote_image.h.
#include "unwind/remote_image.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "unwind/image_messages.h"
#include "unwind/image_process.h"

namespace lattop {
namespace {

class RemoteImage final : public ProgramImage {
public:
    RemoteImage(std::shared_ptr<ImageProcess> reader, std::uint32_t id)
        : reader_(std::move(reader)), number_(reader_->number()), id_(id) {}
    ~RemoteImage() override {
        if (!lost()) reader_->tell({.op = ImageOp::Close, .image = id_});
    }

    void open(const UniqueFd& fd, Reading reading) {
        closed_ = reading == Reading::Nothing;
        const bool whole = reading == Reading::Whole;
        ask({.op = ImageOp::Open, .flag = whole}, Reading::Nothing, fd.get(),
            [&](ByteReader& reply) {
                if (whole && !reply.empty()) set_debug_name(read_debug_name(reply));
            });
        closed_ = closed_ || lost();  // there is nothing to be had of it, now or later
        if (whole) ask({.op = ImageOp::Lines}, Reading::Names);
    }

    [[nodiscard]] std::size_t symbol_count() const override { return facts_.symbols; }
    [[nodiscard]] bool has_lines() const override { return facts_.has_lines; }
    [[nodiscard]] bool lost() const override { return !closed_ && reader_->number() != number_; }

    [[nodiscard]] std::optional<std::uint64_t> address_in(const Mapping& code,
                                                          std::uint64_t address) override {
        std::optional<std::uint64_t> own;
        ask({.op = ImageOp::Address,
             .address = address,
             .start = code.start,
             .end = code.end,
             .offset = code.offset},
            Reading::Nothing, -1, [&](ByteReader& reply) {
                if (!reply.empty()) own = reply.fixed<std::uint64_t>();
            });
        return own;
    }

    [[nodiscard]] bool has_variables() const override { return has_variables_; }

    void load_variables(UniqueFd fd) override {
        has_variables_ = true;
        ask({.op = ImageOp::Variables}, Reading::Nothing, fd.get());
    }

    [[nodiscard]] std::string variable_at(std::uint64_t address) override {
        std::string name;
        ask({.op = ImageOp::Variable, .address = address}, Reading::Nothing, -1,
            [&](ByteReader& reply) { name = read_text(reply); });
        return name;
    }

private:
    UserFrame read_frame(std::uint64_t file_offset, bool return_address) override {
        UserFrame frame;
        frame.offset = file_offset;
        ask({.op = ImageOp::Symbol, .flag = return_address, .address = file_offset},
            Reading::Nothing, -1, [&](ByteReader& reply) {
                frame.offset = reply.fixed<std::uint64_t>();
                frame.symbol = read_text(reply);
            });
        if (has_lines() && !lost())
            ask({.op = ImageOp::Place, .flag = return_address, .address = file_offset},
                Reading::Names, -1, [&](ByteReader& reply) {
                    if (!reply.empty()) set_place(frame, read_place(reply));
                });
        return frame;
    }

    void read_debug_file(UniqueFd fd, AltLink alt_link) override {
        ask({.op = ImageOp::DebugFile, .flag = alt_link == AltLink::Followed}, Reading::Names,
            fd.get());
    }

    [[nodiscard]] std::size_t held() const override { return sizeof(*this) + facts_.bytes; }

    /// `read` takes what is in the reply. Where the reader comes to an end over it, no more than
    /// `less` is read of the file from then on.
    template <typename Read>
    void ask(ImageRequest request, Reading less, int fd, const Read& read) {
        if (closed_ || lost()) return;
        request.image = id_;
        const auto reply = reader_->ask(request, fd);
        if (reply) {
            ByteReader reader(*reply);
            const ImageFacts facts = read_facts(reader);
            read(reader);
            if (reader.ok() && reader.empty()) {
                facts_ = facts;
                return;
            }
            reader_->end();
        }
        read_less(less);
    }
    void ask(ImageRequest request, Reading less, int fd = -1) {
        ask(request, less, fd, [](ByteReader&) {});
    }

    std::shared_ptr<ImageProcess> reader_;
    std::uint64_t number_;
    std::uint32_t id_;
    bool closed_ = false;
    bool has_variables_ = false;
    ImageFacts facts_;
};

class RemoteImages final : public ImageSource {
public:
    explicit RemoteImages(std::vector<std::string> command)
        : reader_(std::make_shared<ImageProcess>(std::move(command))) {}

    std::unique_ptr<ProgramImage> from_file(UniqueFd fd, Reading reading) override {
        if (!reader_->start()) return nullptr;
        auto image = std::make_unique<RemoteImage>(reader_, ++images_);
        image->open(fd, reading);
        return image;
    }

    std::unique_ptr<ProgramImage> from_memory(std::vector<char> bytes, Reading reading) override {
        UniqueFd fd(::memfd_create("image", MFD_CLOEXEC));
        if (!fd ||
            ::write(fd.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
            return nullptr;
        return from_file(std::move(fd), std::max(reading, Reading::Names));
    }

    std::optional<DebugName> name_of(const UniqueFd& fd) override {
        if (!reader_->start()) return std::nullopt;
        const auto reply = reader_->ask({.op = ImageOp::Identify}, fd.get());
        if (!reply) return std::nullopt;
        ByteReader reader(*reply);
        read_facts(reader);
        DebugName name = read_debug_name(reader);
        if (reader.ok() && reader.empty()) return name;
        reader_->end();
        return std::nullopt;
    }

    /// The rest of a reader's memory is for the one that it reads.
    [[nodiscard]] std::size_t budget() const override {
        return reader_->number() == 0 ? SIZE_MAX : reader_->memory() / 4;
    }

    [[nodiscard]] ReadingTime reading_time() const override {
        return [clock = reader_->clock()] { return clock->ns(); };
    }

private:
    std::shared_ptr<ImageProcess> reader_;
    std::uint32_t images_ = 0;
};

}  // namespace

std::shared_ptr<ImageSource> remote_images(std::vector<std::string> command) {
    return std::make_shared<RemoteImages>(std::move(command));
}

std::shared_ptr<ImageSource> program_images() {
    return reader_command().empty() ? local_images() : remote_images(reader_command());
}

}  // namespace lattop
