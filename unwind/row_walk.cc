// SPDX-License-Identifier: GPL-2.0-or-later
//
// See row_walk.h.
#include "unwind/row_walk.h"

namespace lattop {
namespace {

WalkEnd end_of(lt_step step) {
    switch (step) {
        case LT_STEP_END: return WalkEnd::Complete;
        case LT_STEP_CANNOT: return WalkEnd::Cannot;
        default: return WalkEnd::Unsound;
    }
}

}  // namespace

const char* walk_end_text(WalkEnd end) {
    switch (end) {
        case WalkEnd::Complete: return "complete";
        case WalkEnd::Cannot: return "code that cannot be unwound";
        case WalkEnd::NoCode: return "an address that is no code";
        case WalkEnd::Unsound: return "a stack that leads nowhere";
        case WalkEnd::TooDeep: return "too many frames";
        case WalkEnd::Stopped: return "stopped";
        case WalkEnd::Count: break;
    }
    return "";
}

Walk walk_rows(ProcessCode& code, lt_uframe frame, std::size_t max_frames,
               const std::atomic<bool>* stop) {
    Walk walk;
    code.forget_memory();
    while (walk.frames.size() < max_frames) {
        if (stop != nullptr && *stop) {
            walk.end = WalkEnd::Stopped;
            return walk;
        }
        const auto placed = code.row_at(frame);
        if (!placed) {
            walk.end = WalkEnd::NoCode;
            walk.stop_pc = frame.pc;
            return walk;
        }
        walk.frames.push_back({frame, *placed});
        const lt_step step = lt_row_step(&placed->built.row, &frame, read_process_word, &code);
        if (step != LT_STEP_OK) {
            walk.end = end_of(step);
            return walk;
        }
    }
    walk.end = WalkEnd::TooDeep;
    return walk;
}

}  // namespace lattop
