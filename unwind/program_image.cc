// SPDX-License-Identifier: GPL-2.0-or-later
//
// See program_image.h.
#include "unwind/program_image.h"

#include <algorithm>

#include "unwind/elf_image.h"

namespace lattop {
namespace {

/// Frames that an image remembers; a program blocks in far fewer places.
constexpr std::size_t kMaxKeptFrames = 65536;
constexpr std::size_t kMaxKeptBytes = std::size_t{32} << 20;

class LocalImages final : public ImageSource {
public:
    std::unique_ptr<ProgramImage> from_file(UniqueFd fd, Reading reading) override {
        return reading == Reading::Whole ? ElfImage::from_file(std::move(fd))
                                         : ElfImage::names_of(std::move(fd));
    }
    std::unique_ptr<ProgramImage> from_memory(std::vector<char> bytes, Reading) override {
        return ElfImage::from_memory(std::move(bytes));
    }
    std::optional<DebugName> name_of(const UniqueFd& fd) override { return debug_name(fd); }
};

}  // namespace

std::shared_ptr<ImageSource> local_images() {
    return std::make_shared<LocalImages>();
}

UserFramePtr ProgramImage::frame_at(std::uint64_t file_offset, bool return_address,
                                    const std::string& path) {
    const std::uint64_t key = file_offset << 1 | (return_address ? 1 : 0);
    const auto found = frames_.find(key);
    // One file may be mapped under several paths: the frame keeps the latest.
    if (found != frames_.end() && found->second->path == path) return found->second;
    auto frame = std::make_shared<UserFrame>(read_frame(file_offset, return_address));
    frame->module = module_name(path);
    frame->path = path;
    if (lost()) return frame;
    const std::size_t bytes = bytes_of(*frame);
    if (frames_.size() >= kMaxKeptFrames || frames_bytes_ + bytes > kMaxKeptBytes) {
        frames_.clear();
        frames_bytes_ = 0;
    }
    frames_bytes_ += bytes;
    return frames_[key] = std::move(frame);
}

void ProgramImage::add_debug_file(UniqueFd fd, AltLink alt_link) {
    give_up_debug_file();
    read_debug_file(std::move(fd), alt_link);
    frames_.clear();
    frames_bytes_ = 0;
}

/// A call stands in the line of the function that it was inlined into: lines
/// move up by one function.
void ProgramImage::set_place(UserFrame& frame, SourcePlace place) {
    SourceLine line = std::move(place.line);
    for (InlinedCall& call : place.inlined) {
        frame.inlined.push_back({std::move(call.function), std::move(line.file), line.line});
        line = std::move(call.call);
    }
    frame.file = std::move(line.file);
    frame.line = line.line;
}

}  // namespace lattop
