// SPDX-License-Identifier: GPL-2.0-or-later
//
// See stoppable_namer.h.
#include "lattop/model/stoppable_namer.h"

#include <poll.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace lattop {
namespace {

/// How late a wish to stop is seen.
constexpr int kLookMs = 50;

/// Names that are answered and not taken: a stack's may be 12 MB, and thousands are asked for.
constexpr std::size_t kMaxAnswered = std::size_t{16} << 20;

std::size_t bytes_of_names(const NameAnswer& answer) {
    std::size_t bytes = 0;
    for (const UserFramePtr& frame : answer.naming.stack.frames)
        bytes += bytes_of(*frame);
    return bytes;
}

}  // namespace

void StoppableNamer::submit(std::vector<NameRequest> requests) {
    missing_ += requests.size();
    worker_->submit(std::move(requests));
}

bool StoppableNamer::wait() {
    const auto some_may_come = [&] { return missing_ > worker_->silent().size(); };
    for (collect(); some_may_come(); collect()) {
        if (stop_(missing_)) return false;
        if (bytes_ > kMaxAnswered) return true;
        pollfd ready{worker_->ready_fd(), POLLIN, 0};
        ::poll(&ready, 1, kLookMs);
    }
    return false;
}

void StoppableNamer::collect() {
    std::vector<NameAnswer> found = worker_->take();
    missing_ -= std::min(missing_, found.size());
    for (const NameAnswer& answer : found)
        bytes_ += bytes_of_names(answer);
    std::ranges::move(found, std::back_inserter(answers_));
}

std::vector<NameAnswer> StoppableNamer::take() {
    collect();
    bytes_ = 0;
    return std::exchange(answers_, {});
}

}  // namespace lattop
