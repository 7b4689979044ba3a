// SPDX-License-Identifier: GPL-2.0-or-later
//
// See live_unwind.h.
#include "unwind/live_unwind.h"

#include <fmt/format.h>
#include <libunwind.h>

#include <utility>

#include "unwind/walked_code.h"

namespace lattop {
namespace {

class LocalUnwinder final : public LiveUnwinder {
public:
    LiveWalk walk(ProcessCode& code, const ThreadRegisters& registers) override {
        WalkedCode process(code);
        return live_walk(walk_stack(process, registers));
    }
};

std::string why_ended(const StackWalk& walk) {
    switch (walk.end) {
        case StackEnd::Complete: break;
        case StackEnd::TooManyFrames: return "too many frames";
        case StackEnd::TooManyReads: return "its unwind table makes no sense";
        case StackEnd::BpWanted:
            return "the next frame is found by bp, which /proc does not tell; root with the module "
                   "loaded sees it";
        case StackEnd::NoTable: return "no unwind table says anything about this code";
        case StackEnd::Failed: return fmt::format("libunwind: {}", unw_strerror(-walk.error));
    }
    return "";
}

}  // namespace

std::shared_ptr<LiveUnwinder> local_unwinder() {
    return std::make_shared<LocalUnwinder>();
}

LiveWalk live_walk(StackWalk walk) {
    std::string why = why_ended(walk);
    return {std::move(walk.frames), walk.end == StackEnd::Complete, std::move(why)};
}

}  // namespace lattop
