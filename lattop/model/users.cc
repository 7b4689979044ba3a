// SPDX-License-Identifier: GPL-2.0-or-later
//
// See users.h.
#include "lattop/model/users.h"

#include <pwd.h>

#include <vector>

namespace lattop {
namespace {

/// More uids than a machine has users; containers may bring many.
constexpr std::size_t kMaxUsers = 65536;

std::string look_up(std::uint32_t uid) {
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
        if (found == nullptr || found->pw_name == nullptr || *found->pw_name == '\0')
            return std::to_string(uid);
        return found->pw_name;
    }
}

}  // namespace

const std::string& SystemUsers::name(std::uint32_t uid) {
    if (const auto found = names_.find(uid); found != names_.end()) return found->second;
    if (names_.size() >= kMaxUsers) names_.clear();
    return names_.emplace(uid, look_up(uid)).first->second;
}

}  // namespace lattop
