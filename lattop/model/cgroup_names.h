// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a cgroup is called: the container or the systemd unit that it is, where
// its path says so, and the container's name where its runtime keeps one. Called
// by cells, rows, the pane, exports and the writer of recordings.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "unwind/bounded_cache.h"

namespace lattop {

class CgroupNames {
public:
    CgroupNames() = default;
    CgroupNames(const CgroupNames&) = delete;
    CgroupNames& operator=(const CgroupNames&) = delete;
    virtual ~CgroupNames() = default;

    /// "docker:web", "docker:0123456789ab" where it has no name, "nginx.service",
    /// "/a/path" of what is neither; "-" for "", a cgroup that is not known.
    /// Valid until the next call.
    virtual const std::string& name(const std::string& path) = 0;
};

/// By what runtimes on this machine keep and this user may read. Each path is
/// looked up once, as long as all of them and their names have no more than 16 MiB; one that was
/// not asked for in `idle`, some of the longest refreshes, is forgotten when another comes.
class SystemCgroups final : public CgroupNames {
public:
    using Clock = std::chrono::steady_clock;

    /// `root`: below which the runtimes' files are.
    explicit SystemCgroups(std::filesystem::path root = "/",
                           Clock::duration idle = std::chrono::hours(6));

    const std::string& name(const std::string& path) override;

private:
    struct Name {
        std::string text;
        Clock::time_point used;
    };

    std::filesystem::path root_;
    Clock::duration idle_;
    BoundedCache<std::string, Name> names_;  // by path; in bytes
};

}  // namespace lattop
