// SPDX-License-Identifier: GPL-2.0-or-later
//
// A child program that prints "name address" lines and then waits for the end
// of its standard input. For tests that need a live process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

#include "unwind/symbolizer.h"
#include "unwind/unique_fd.h"

namespace lattop::test {

class Child {
public:
    /// Starts it and reads `lines` lines.
    Child(const std::string& path, int lines, const std::string& argument = {});
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child();

    /// Ends it and waits for that.
    void finish();

    [[nodiscard]] std::uint64_t address(const std::string& name) const {
        return addresses_.at(name);
    }
    [[nodiscard]] TaskRef task() const { return task_; }

private:
    pid_t pid_ = -1;
    UniqueFd input_;
    std::map<std::string, std::uint64_t> addresses_;
    TaskRef task_;
};

/// Start of a live process in ns, as precisely as /proc says it.
std::uint64_t start_ns_of(pid_t pid);

/// A folder that is removed with everything in it.
class TempFolder {
public:
    TempFolder();
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
    ~TempFolder();
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

/// All bytes of a file; "" where there is none.
std::string content_of(const std::string& path);

}  // namespace lattop::test
