// SPDX-License-Identifier: GPL-2.0-or-later
//
// What `lattop doctor` asks of a machine's files, by absolute paths; FolderFiles for those of
// this machine, or below a folder that stands for one. The fuzzer makes up its own.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace lattop {

class MachineFiles {
public:
    MachineFiles() = default;
    MachineFiles(const MachineFiles&) = delete;
    MachineFiles& operator=(const MachineFiles&) = delete;
    virtual ~MachineFiles() = default;

    /// At most kMaxProcText of it (read_proc_text); "" where it cannot be read.
    [[nodiscard]] virtual std::string text(const std::string& path) const = 0;
    [[nodiscard]] virtual bool exists(const std::string& path) const = 0;
    /// What is in a folder, in no order, none of it empty; none where it cannot be read.
    [[nodiscard]] virtual std::vector<std::string> names(const std::string& folder) const = 0;
};

class FolderFiles final : public MachineFiles {
public:
    /// `root` is put before every path; "" for this machine.
    explicit FolderFiles(std::string root) : root_(std::move(root)) {}

    [[nodiscard]] std::string text(const std::string& path) const override;
    [[nodiscard]] bool exists(const std::string& path) const override;
    [[nodiscard]] std::vector<std::string> names(const std::string& folder) const override;

private:
    std::string root_;
};

}  // namespace lattop
