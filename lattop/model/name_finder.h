// SPDX-License-Identifier: GPL-2.0-or-later
//
// Finds what a NameRequest asks for: the names of a recorded stack, or the
// stack of a thread as it is now and its names, or the command line of a task. Called by
// WorkerNamer; not for two threads at once.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "lattop/model/namer.h"
#include "lattop/source/sleep_registers.h"
#include "unwind/live_unwind.h"
#include "unwind/process_code.h"
#include "unwind/symbolizer.h"

namespace lattop {

/// A command line as people write it, of arguments that end in NULs.
std::string command_line_text(std::string bytes);

class NameFinder {
public:
    /// `fetch` gets debug files that are not installed; nullptr for none. `images` reads files,
    /// `unwinder` walks stacks.
    NameFinder(std::shared_ptr<DebugFetch> fetch, std::shared_ptr<ImageSource> images,
               std::shared_ptr<LiveUnwinder> unwinder)
        : symbolizer_({.fetch = std::move(fetch)}, "/proc", {}, std::move(images)),
          unwinder_(std::move(unwinder)) {}

    /// Never throws: what cannot be looked at (out of memory, say) costs its
    /// own names only.
    NameAnswer answer(const NameRequest& request);

private:
    /// Unwind information of the files that the walked thread's process maps.
    static constexpr std::size_t kCodeBytes = std::size_t{64} << 20;

    LiveNames walk(const NameRequest& request);
    static std::string command_line(const TaskRef& task);
    ProcessCode* open_code(const TaskRef& task);

    Symbolizer symbolizer_;
    // One process: the pane shows one task, and asks for it again and again.
    CodeFiles code_files_{kCodeBytes};
    std::shared_ptr<LiveUnwinder> unwinder_;
    RegisterReader registers_ = module_registers();
    std::optional<ProcessCode> code_;
    TaskRef code_of_;
};

}  // namespace lattop
