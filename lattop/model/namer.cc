// SPDX-License-Identifier: GPL-2.0-or-later
//
// See namer.h.
#include "lattop/model/namer.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "lattop/model/name_finder.h"
#include "unwind/background_thread.h"

namespace lattop {
InlineNamer::InlineNamer(std::shared_ptr<DebugFetch> fetch)
    : finder_(std::make_unique<NameFinder>(std::move(fetch))) {}
InlineNamer::~InlineNamer() = default;

void InlineNamer::submit(std::vector<NameRequest> requests) {
    for (const NameRequest& request : requests)
        answers_.push_back(finder_->answer(request));
}

std::vector<NameAnswer> InlineNamer::take() {
    return std::exchange(answers_, {});
}

WorkerNamer::WorkerNamer(std::shared_ptr<DebugFetch> fetch)
    : fetch_(std::move(fetch)), shared_(std::make_shared<Shared>()) {
    shared_->ready = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!shared_->ready) throw std::system_error(errno, std::generic_category(), "eventfd");
    thread_ = std::thread([shared = shared_, files = fetch_] { work(shared, files); });
}

WorkerNamer::~WorkerNamer() {
    std::unique_lock lock(shared_->lock);
    shared_->stop = true;
    shared_->changed.notify_all();
    join_or_leave(thread_, lock, shared_->changed, shared_->stopped);
}

void WorkerNamer::work(const std::shared_ptr<Shared>& shared,
                       const std::shared_ptr<DebugFetch>& fetch) {
    NameFinder finder(fetch);
    std::unique_lock lock(shared->lock);
    for (;;) {
        shared->changed.wait(lock, [&] { return shared->stop || !shared->requests.empty(); });
        if (shared->stop) break;
        const NameRequest request = std::move(shared->requests.front());
        shared->requests.pop_front();
        lock.unlock();
        NameAnswer answer = finder.answer(request);
        lock.lock();
        shared->answers.push_back(std::move(answer));
        // Once for each batch of answers: take() clears it.
        if (shared->answers.size() == 1) ::eventfd_write(shared->ready.get(), 1);
    }
    shared->stopped = true;
    shared->changed.notify_all();
}

void WorkerNamer::submit(std::vector<NameRequest> requests) {
    if (requests.empty()) return;
    const std::lock_guard lock(shared_->lock);
    for (NameRequest& request : requests)
        if (request.live || request.command_line)
            shared_->requests.push_front(std::move(request));
        else
            shared_->requests.push_back(std::move(request));
    shared_->changed.notify_all();
}

std::vector<NameAnswer> WorkerNamer::take() {
    const std::lock_guard lock(shared_->lock);
    eventfd_t ignored = 0;
    ::eventfd_read(shared_->ready.get(), &ignored);
    return std::exchange(shared_->answers, {});
}

int WorkerNamer::ready_fd() const {
    return shared_->ready.get();
}

}  // namespace lattop
