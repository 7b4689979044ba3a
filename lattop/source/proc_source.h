// SPDX-License-Identifier: GPL-2.0-or-later
//
// The module's door, /proc/lattop: one descriptor and one buffer, held for the
// whole run, so that a refresh opens nothing. Where the module was unloaded,
// each refresh looks whether it is loaded again.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "lattop/source/source.h"
#include "unwind/unique_fd.h"

namespace lattop {

class ProcSource final : public Source {
public:
    /// Opens `path`. Throws NotUsableError, each time saying what to do: the
    /// module is not loaded, this user may not, the file is not lattop's, the
    /// module speaks another version.
    explicit ProcSource(std::string path = LT_PROC_PATH);

    /// Throws NoModuleError while the module is not loaded, PassingError where
    /// it may succeed next time.
    Snapshot take(const Query& query, Moment moment) override;
    void reset() override;
    [[nodiscard]] bool live() const override { return true; }

private:
    void open();
    void select(const Query& query);
    Snapshot read();
    [[nodiscard]] bool gone() const;

    std::string path_;
    UniqueFd fd_;                    ///< none while the module is not loaded
    std::uint64_t loads_ = 0;        ///< modules met
    std::optional<Query> selected_;  ///< what the descriptor yields now
    std::vector<std::byte> buffer_;
};

}  // namespace lattop
