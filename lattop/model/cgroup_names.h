// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a cgroup is called: the container or the systemd unit that it is, where
// its path says so, and the container's name where its runtime keeps one that
// this user may read. Each path is looked up once. Called by cells, rows and
// the pane.
#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>

namespace lattop {

class CgroupNames {
public:
    /// `root`: below which the runtimes' files are.
    explicit CgroupNames(std::filesystem::path root = "/") : root_(std::move(root)) {}

    /// "docker:web", "docker:0123456789ab" where it has no name, "nginx.service",
    /// "/a/path" of what is neither; "-" for "", a cgroup that is not known.
    /// Valid until the next call.
    const std::string& name(const std::string& path);

private:
    std::filesystem::path root_;
    std::unordered_map<std::string, std::string> names_;
};

}  // namespace lattop
