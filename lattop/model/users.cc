// SPDX-License-Identifier: GPL-2.0-or-later
//
// See users.h.
#include "lattop/model/users.h"

#include <pwd.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <exception>
#include <system_error>

#include "unwind/background_thread.h"

namespace lattop {
namespace {

/// More uids than a machine has users; containers may bring many.
constexpr std::size_t kMaxUsers = 65536;

}  // namespace

void want_users(Users& users, const Snapshot& snapshot) {
    for (const Task& task : snapshot.tasks)
        users.name(task.uid);
    for (const UserHoldings& holder : snapshot.header.users)
        users.name(holder.uid);
}

std::string find_system_user(std::uint32_t uid) {
    std::vector<char> buffer(1024);
    constexpr std::size_t kMaxEntry = std::size_t{1} << 20;
    for (;;) {
        passwd entry{};
        passwd* found = nullptr;
        const int error = ::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found);
        if (error == ERANGE && buffer.size() < kMaxEntry) {
            buffer.resize(buffer.size() * 4);
            continue;
        }
        return found == nullptr || found->pw_name == nullptr ? "" : found->pw_name;
    }
}

SystemUsers::SystemUsers(FindUser find) : shared_(std::make_shared<Shared>()) {
    shared_->ready = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!shared_->ready) throw std::system_error(errno, std::generic_category(), "eventfd");
    thread_ = std::thread([shared = shared_, find = std::move(find)] { work(shared, find); });
}

SystemUsers::~SystemUsers() {
    std::unique_lock lock(shared_->lock);
    shared_->stop = true;
    shared_->changed.notify_all();
    join_or_leave(thread_, lock, shared_->changed, shared_->stopped);
}

void SystemUsers::work(const std::shared_ptr<Shared>& shared, const FindUser& find) {
    block_signals();
    std::unique_lock lock(shared->lock);
    for (;;) {
        shared->changed.wait(lock, [&] { return shared->stop || !shared->asked.empty(); });
        if (shared->stop) break;
        const std::uint32_t uid = shared->asked.front();
        shared->asked.pop_front();
        lock.unlock();
        std::string name;
        try {
            name = find(uid);
        } catch (const std::exception&) {
            // Out of memory: he is called by his number.
        }
        lock.lock();
        shared->found.emplace_back(uid, std::move(name));
        // Once for each batch of answers: collect() clears it.
        if (shared->found.size() == 1) ::eventfd_write(shared->ready.get(), 1);
        shared->changed.notify_all();
    }
    shared->stopped = true;
    shared->changed.notify_all();
}

const std::string& SystemUsers::name(std::uint32_t uid) {
    if (const auto found = users_.find(uid); found != users_.end()) return found->second.name;
    if (users_.size() >= kMaxUsers) users_.clear();
    ++missing_;
    {
        const std::lock_guard lock(shared_->lock);
        shared_->asked.push_back(uid);
        shared_->changed.notify_all();
    }
    return users_.emplace(uid, User{std::to_string(uid)}).first->second.name;
}

bool SystemUsers::known(std::uint32_t uid) const {
    const auto found = users_.find(uid);
    return found != users_.end() && found->second.known;
}

bool SystemUsers::collect() {
    if (missing_ == 0) return false;
    std::vector<std::pair<std::uint32_t, std::string>> found;
    {
        const std::lock_guard lock(shared_->lock);
        eventfd_t ignored = 0;
        ::eventfd_read(shared_->ready.get(), &ignored);
        found.swap(shared_->found);
    }
    missing_ -= found.size();
    for (auto& [uid, name] : found)
        users_.insert_or_assign(uid,
                                User{name.empty() ? std::to_string(uid) : std::move(name), true});
    return !found.empty();
}

std::size_t SystemUsers::wait(std::chrono::milliseconds patience) {
    for (collect(); missing_ != 0; collect()) {
        std::unique_lock lock(shared_->lock);
        if (!shared_->changed.wait_for(lock, patience, [&] { return !shared_->found.empty(); }))
            break;
    }
    return missing_;
}

}  // namespace lattop
