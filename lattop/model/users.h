// SPDX-License-Identifier: GPL-2.0-or-later
//
// User names by uid. The system's name service may ask a server that does not
// answer, so the real one asks it on a thread of its own, once for each uid: until
// the answer is there a user is called by the number. Nobody who looks at tasks or
// draws them waits for it; who prints once may, for a while.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lattop/source/snapshot.h"
#include "unwind/unique_fd.h"

namespace lattop {

/// How long a name service may be silent before what is printed or written last has
/// numbers in place of names.
inline constexpr std::chrono::milliseconds kUsersPatience{2000};

class Users {
public:
    Users() = default;
    Users(const Users&) = delete;
    Users& operator=(const Users&) = delete;
    virtual ~Users() = default;

    /// The name, or the number where there is no name, or none yet. Never waits, and
    /// asks for it where nobody has. Valid until the next call.
    virtual const std::string& name(std::uint32_t uid) = 0;

    /// Whether it is known what name() gives; no where it has not been asked.
    [[nodiscard]] virtual bool known(std::uint32_t /*uid*/) const { return true; }

    /// Takes over the names that have come; whether any has.
    virtual bool collect() { return false; }

    /// Waits for those asked for until there was no answer for `patience`; of how many
    /// the name is not known then.
    virtual std::size_t wait(std::chrono::milliseconds /*patience*/) { return 0; }

    /// Readable when collect() has something; -1 where there is nothing to wait for.
    [[nodiscard]] virtual int ready_fd() const { return -1; }
};

/// Asks for the names of all users of a snapshot.
void want_users(Users& users, const Snapshot& snapshot);

/// The name of a user, "" where he has none. May take for ever.
using FindUser = std::function<std::string(std::uint32_t uid)>;

/// By getpwuid_r(3).
std::string find_system_user(std::uint32_t uid);

/// Remembers them, the uids without a name too. Its destructor does not wait for a
/// name service that hangs: the thread is left behind then, with what it works on.
class SystemUsers final : public Users {
public:
    /// Throws std::system_error where there can be no thread or descriptor.
    explicit SystemUsers(FindUser find = find_system_user);
    ~SystemUsers() override;

    const std::string& name(std::uint32_t uid) override;
    [[nodiscard]] bool known(std::uint32_t uid) const override;
    bool collect() override;
    std::size_t wait(std::chrono::milliseconds patience) override;
    [[nodiscard]] int ready_fd() const override { return shared_->ready.get(); }

private:
    /// Shared with the thread. `lock` guards all but the descriptor.
    struct Shared {
        std::mutex lock;
        std::condition_variable changed;
        std::deque<std::uint32_t> asked;
        std::vector<std::pair<std::uint32_t, std::string>> found;
        bool stop = false;
        bool stopped = false;
        UniqueFd ready;  // eventfd
    };
    struct User {
        std::string name;
        bool known = false;
    };

    static void work(const std::shared_ptr<Shared>& shared, const FindUser& find);

    std::unordered_map<std::uint32_t, User> users_;
    std::size_t missing_ = 0;  ///< asked for, without an answer
    std::shared_ptr<Shared> shared_;
    std::thread thread_;
};

/// Numbers only: for snapshots of other machines.
class NumericUsers final : public Users {
public:
    const std::string& name(std::uint32_t uid) override {
        number_ = std::to_string(uid);
        return number_;
    }

private:
    std::string number_;
};

}  // namespace lattop
