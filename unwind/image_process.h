// SPDX-License-Identifier: GPL-2.0-or-later
//
// The process that reads images for another one: started, asked, ended. Used by
// remote_image.cc, not by two threads at once.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "unwind/image_messages.h"
#include "unwind/reader_clock.h"
#include "unwind/reader_share.h"
#include "unwind/unique_fd.h"

namespace lattop {

class ImageProcess {
public:
    /// `command`: a program and its arguments; one more says how many bytes of memory it may take.
    explicit ImageProcess(std::vector<std::string> command) : command_(std::move(command)) {}
    ImageProcess(const ImageProcess&) = delete;
    ImageProcess& operator=(const ImageProcess&) = delete;
    ~ImageProcess() { end(); }

    /// Starts it where there is none. False where that cannot be done now.
    bool start();

    /// What it answers; nullopt where it came to an end over that. `fd`: a file to go with it.
    std::optional<std::vector<std::uint8_t>> ask(const ImageRequest& request, int fd = -1);

    /// For a request that has no answer.
    void tell(const ImageRequest& request);

    /// Ends it: it is in the way, or does not answer as it should.
    void end();

    /// Counts processes, the first is 1; 0 while there is none.
    [[nodiscard]] std::uint64_t number() const { return socket_ ? number_ : 0; }

    /// -1 while there is none.
    [[nodiscard]] pid_t pid() const { return pid_; }

    /// What the process there is may take; 0 while there is none.
    [[nodiscard]] std::uint64_t memory() const { return share_ ? share_->memory() : 0; }

    /// CPU time of all of them; any thread may ask it.
    [[nodiscard]] std::shared_ptr<const ReaderClock> clock() const { return clock_; }

private:
    std::vector<std::string> command_;
    UniqueFd socket_;
    pid_t pid_ = -1;
    std::uint64_t number_ = 0;
    std::optional<ReaderShare> share_;
    std::shared_ptr<ReaderClock> clock_ = std::make_shared<ReaderClock>();
};

}  // namespace lattop
