// SPDX-License-Identifier: GPL-2.0-or-later
//
// The process that reads images for another one, or walks stacks: started, asked, ended. Used by
// remote_image.cc and remote_unwind.cc, not by two threads at once.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "unwind/image_messages.h"
#include "unwind/reader_clock.h"
#include "unwind/reader_share.h"
#include "unwind/unique_fd.h"

namespace lattop {

/// The command by which program_images() reads and program_unwinder() walks; empty: they do so in
/// this process.
const std::vector<std::string>& reader_command();

/// Called by main(), before there are threads.
void set_reader_command(std::vector<std::string> command);

class ImageProcess {
public:
    /// `command`: a program and its arguments; one more says how many bytes of memory it may take:
    /// its share of what readers may.
    explicit ImageProcess(std::vector<std::string> command) : command_(std::move(command)) {}

    /// With memory of its own. It ends where it lets this process wait for `patience`.
    ImageProcess(std::vector<std::string> command, std::uint64_t memory,
                 std::chrono::milliseconds patience)
        : command_(std::move(command)), own_memory_(memory), patience_(patience) {}
    ImageProcess(const ImageProcess&) = delete;
    ImageProcess& operator=(const ImageProcess&) = delete;
    ~ImageProcess() { end(); }

    /// Starts it where there is none. False where that cannot be done now.
    bool start();

    /// What it answers; nullopt where it came to an end over that. `fd`: a file to go with it.
    std::optional<std::vector<std::uint8_t>> ask(const ImageRequest& request, int fd = -1);

    /// For a request that has no answer.
    void tell(const ImageRequest& request);

    /// Where a request is the first of several messages. Nothing is sent or received where it has
    /// come to an end.
    bool send(std::span<const std::uint8_t> message, int fd = -1);
    std::optional<std::vector<std::uint8_t>> receive();

    /// Ends it: it is in the way, or does not answer as it should.
    void end();

    /// Counts processes, the first is 1; 0 while there is none.
    [[nodiscard]] std::uint64_t number() const { return socket_ ? number_ : 0; }

    /// -1 while there is none.
    [[nodiscard]] pid_t pid() const { return pid_; }

    /// What the process there is may take of what readers may; 0 while there is none.
    [[nodiscard]] std::uint64_t memory() const { return share_ ? share_->memory() : 0; }

    /// CPU time of all of them; any thread may ask it.
    [[nodiscard]] std::shared_ptr<const ReaderClock> clock() const { return clock_; }

private:
    std::vector<std::string> command_;
    std::optional<std::uint64_t> own_memory_;
    std::chrono::milliseconds patience_{};  // 0: any
    UniqueFd socket_;
    pid_t pid_ = -1;
    std::uint64_t number_ = 0;
    std::optional<ReaderShare> share_;
    std::shared_ptr<ReaderClock> clock_ = std::make_shared<ReaderClock>();
};

}  // namespace lattop
