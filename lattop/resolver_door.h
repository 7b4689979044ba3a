// SPDX-License-Identifier: GPL-2.0-or-later
//
// The seam between the resolver and the module that asks it: the ioctls of
// /proc/lattop, or a test's fake.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "module/uapi/lattop.h"
#include "unwind/unique_fd.h"

namespace lattop {

class ResolverDoor {
public:
    ResolverDoor() = default;
    ResolverDoor(const ResolverDoor&) = delete;
    ResolverDoor& operator=(const ResolverDoor&) = delete;
    virtual ~ResolverDoor() = default;

    /// The misses there are now, at most LT_MAX_MISSES. Never waits. Throws
    /// NotUsableError where the module does not let this user resolve,
    /// NoModuleError where it was unloaded, PassingError where it may do so later.
    virtual std::vector<lt_miss> take() = 0;

    /// Behind a NoModuleError: becomes a resolver of the module that is loaded
    /// by now; false where none is, or in passing none can be asked. Throws
    /// NotUsableError where it cannot.
    virtual bool reopen() = 0;

    /// Tasks asleep under a stack that is not whole, as misses of which only
    /// the pc is known (sp and bp 0): they may not wake up to miss themselves.
    /// Throws as take() does.
    virtual std::vector<lt_miss> sleepers() = 0;

    /// Teaches rows to the address space of the task that `miss` is of. 0, or
    /// an errno as struct lt_teach lists them.
    virtual int teach(const lt_miss& miss, std::span<const lt_row> rows,
                      std::span<const lt_row_range> ranges) = 0;

    /// Another door to the same module, for another thread. Throws as opening one does.
    [[nodiscard]] virtual std::unique_ptr<ResolverDoor> another() const = 0;

    /// Readable when take() may have something, or the module was unloaded;
    /// take() clears it.
    [[nodiscard]] virtual int ready_fd() const = 0;
};

/// The module's. Held open for as long as it resolves.
class ProcResolverDoor final : public ResolverDoor {
public:
    /// Opens `path` and becomes a resolver. Throws NotUsableError, saying what
    /// to do: no module (NoModuleError), not permitted, a module without learned
    /// rows.
    explicit ProcResolverDoor(std::string path = LT_PROC_PATH);

    std::vector<lt_miss> take() override;
    bool reopen() override;
    std::vector<lt_miss> sleepers() override;
    int teach(const lt_miss& miss, std::span<const lt_row> rows,
              std::span<const lt_row_range> ranges) override;
    [[nodiscard]] std::unique_ptr<ResolverDoor> another() const override {
        return std::make_unique<ProcResolverDoor>(path_);
    }
    [[nodiscard]] int ready_fd() const override { return ready_.get(); }

private:
    void open();

    std::string path_;
    UniqueFd ready_;  // eventfd
    UniqueFd fd_;
};

}  // namespace lattop
