// SPDX-License-Identifier: GPL-2.0-or-later
//
// User names by uid. The real one asks the system's name service once for each
// uid; a refresh in steady state asks nothing.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace lattop {

class Users {
public:
    Users() = default;
    Users(const Users&) = delete;
    Users& operator=(const Users&) = delete;
    virtual ~Users() = default;

    /// The name, or the number where there is no name. Valid until the next call.
    virtual const std::string& name(std::uint32_t uid) = 0;
};

/// getpwuid_r(3), remembered, the uids without a name too.
class SystemUsers final : public Users {
public:
    const std::string& name(std::uint32_t uid) override;

private:
    std::unordered_map<std::uint32_t, std::string> names_;
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
