// SPDX-License-Identifier: GPL-2.0-or-later
//
// The seam between a resolver and who looks after its thread: a program whose
// memory or files lie on a file system that does not answer keeps whoever looks
// at it, for ever and not even to be killed; one whose call-frame information takes
// long to go by keeps it for as long. Used by Resolver; ResolverWorker leaves such a
// thread behind and goes on with another.
#pragma once

#include <atomic>
#include <cstddef>

#include "lattop/model/program_id.h"
#include "unwind/process_code.h"

namespace lattop {

class ResolverWatch {
public:
    ResolverWatch() = default;
    ResolverWatch(const ResolverWatch&) = delete;
    ResolverWatch& operator=(const ResolverWatch&) = delete;
    virtual ~ResolverWatch() = default;

    /// The process is looked at from now on. False: it is to be left alone.
    virtual bool begin(const ProgramId& process) = 0;
    /// Whose it is, as is known before its memory and files are looked at. False as above.
    virtual bool is_of(Payer payer) = 0;
    /// And no longer.
    virtual void end() = 0;

    /// Whether nobody waits for this thread any more: it ends behind the row that it is at.
    [[nodiscard]] const std::atomic<bool>& left() const { return left_; }
    void leave() { left_ = true; }

    /// What the resolver holds, in bytes, as it goes: who is left behind goes on holding it.
    struct Holds {
        std::atomic<std::size_t> files = 0;      ///< call-frame information
        std::atomic<std::size_t> processes = 0;  ///< their maps
    };
    Holds holds;

private:
    std::atomic<bool> left_ = false;
};

/// A look at a process: it ends with this, however that ends.
class WatchedLook {
public:
    /// `watch`: may be null, and is not asked then.
    WatchedLook(ResolverWatch* watch, const ProgramId& process)
        : watch_(watch), allowed_(watch == nullptr || watch->begin(process)) {}
    WatchedLook(const WatchedLook&) = delete;
    WatchedLook& operator=(const WatchedLook&) = delete;
    ~WatchedLook() {
        if (watch_ != nullptr && allowed_) watch_->end();
    }
    [[nodiscard]] bool allowed() const { return allowed_; }

private:
    ResolverWatch* watch_;
    bool allowed_;
};

}  // namespace lattop
