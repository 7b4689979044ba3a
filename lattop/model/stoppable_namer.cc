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

}  // namespace

void StoppableNamer::submit(std::vector<NameRequest> requests) {
    missing_ += requests.size();
    worker_->submit(std::move(requests));
}

void StoppableNamer::wait() {
    const auto some_may_come = [&] { return missing_ > worker_->silent().size(); };
    for (collect(); some_may_come() && !stop_(missing_); collect()) {
        pollfd ready{worker_->ready_fd(), POLLIN, 0};
        ::poll(&ready, 1, kLookMs);
    }
}

void StoppableNamer::collect() {
    std::vector<NameAnswer> found = worker_->take();
    missing_ -= std::min(missing_, found.size());
    std::ranges::move(found, std::back_inserter(answers_));
}

std::vector<NameAnswer> StoppableNamer::take() {
    collect();
    return std::exchange(answers_, {});
}

}  // namespace lattop
