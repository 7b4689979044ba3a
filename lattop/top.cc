// SPDX-License-Identifier: GPL-2.0-or-later
//
// See top.h.
#include "lattop/top.h"

#include <unistd.h>

#include <algorithm>
#include <memory>

#include "lattop/batch.h"
#include "lattop/debug_cache.h"
#include "lattop/environment.h"
#include "lattop/live.h"
#include "lattop/model/column_choice.h"
#include "lattop/model/object_worker.h"
#include "lattop/model/screen_choice.h"
#include "lattop/model/stack_names.h"
#include "lattop/model/stoppable_namer.h"
#include "lattop/model/worker_namer.h"
#include "lattop/output.h"
#include "lattop/reasons/load.h"
#include "lattop/recorded_world.h"
#include "lattop/resolver_worker.h"
#include "lattop/source/error.h"
#include "lattop/term/curses_terminal.h"

namespace lattop {
namespace {

CursesTerminal open_terminal(const Options& options) {
    return CursesTerminal(locale_charset(), environment("NO_COLOR").empty(), options.mouse);
}

/// Teaches the module while `options` run. A single report would end before
/// anything learned shows in it.
std::unique_ptr<Learning> make_learning(const Options& options) {
    if (options.batch && options.refreshes == 1) return std::make_unique<NoLearning>();
    if (!options.learn) return std::make_unique<NoLearning>(LearningState::Kind::Off);
    return start_learning();
}

/// Each refresh waits for its names, also for those of large programs.
std::unique_ptr<Namer> batch_namer() {
    return std::make_unique<StoppableNamer>(std::make_unique<WorkerNamer>(make_fetch(complain)),
                                            [](std::size_t) { return false; });
}

/// What there is to say when the terminal is the user's again.
std::string run_here(const Options& options) {
    ProcSource source;
    SystemCgroups cgroups;
    SystemClock clock;
    Reasons reasons(load_user_reasons());
    if (options.batch) {
        StackNames stacks(batch_namer(), StackNames::Keep::Shown);
        SystemUsers users;
        const auto learning = make_learning(options);
        ObjectWorker objects(ObjectChoice::all());
        run_batch(options, {source, stacks, users, cgroups, clock, *learning, reasons, &objects},
                  locale_charset(), write_output);
        return "";
    }
    // Before the threads: they must not get the signals.
    CursesTerminal terminal = open_terminal(options);
    StackNames stacks(std::make_unique<WorkerNamer>(make_fetch()), StackNames::Keep::Shown);
    SystemUsers users;
    const auto learning = make_learning(options);
    return run_live(options, {source, stacks, users, cgroups, clock, *learning, reasons}, terminal);
}

/// As fast as it was recorded, unless -d says otherwise.
std::chrono::milliseconds pace(const recording::Reader& reader) {
    if (reader.size() < 2) return Options{}.delay;
    const std::uint64_t ns = reader.time_ns(reader.size() - 1) - reader.time_ns(0);
    const std::uint64_t ms = ns / (reader.size() - 1) / 1'000'000;
    return std::clamp(std::chrono::milliseconds(ms), kMinDelay, kMaxDelay);
}

/// The same.
std::string run_recorded(Options options) {
    RecordedWorld recorded(options.input);
    if (!options.delay_given) options.delay = pace(recorded.reader());
    if (options.batch) {
        run_batch(options, recorded.world(), locale_charset(), write_output);
        return "";
    }
    CursesTerminal terminal = open_terminal(options);
    return run_live(options, recorded.world(), terminal);
}

}  // namespace

void run_top(Options options) {
    if (!options.batch && (::isatty(STDOUT_FILENO) == 0 || ::isatty(STDIN_FILENO) == 0))
        throw UsageError("the live table needs a terminal", "use lattop -b, or lattop --json");
    if (!options.batch) {
        options.columns_file = column_choice_path();
        options.screen_file = screen_choice_path();
    }
    const std::string said = options.input.empty() ? run_here(options) : run_recorded(options);
    if (!said.empty()) complain(said);
}

}  // namespace lattop
