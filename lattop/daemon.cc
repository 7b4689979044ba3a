// SPDX-License-Identifier: GPL-2.0-or-later
//
// See daemon.h.
#include "lattop/daemon.h"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>

#include "lattop/end_signals.h"
#include "lattop/freed_memory.h"
#include "lattop/least_privilege.h"
#include "lattop/resolver_worker.h"
#include "lattop/source/error.h"

namespace lattop {
namespace {

constexpr double kNsPerMs = 1e6;

/// Waits a second; true when asked to end.
bool asked_to_end(EndSignals& signals) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    const int signal = signals.wait_until(until);
    return signal != 0 && signal != SIGCHLD;
}

void say(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
}

}  // namespace

std::string describe(const ResolverWorker::State& state) {
    const ResolverStats& stats = state.stats;
    return fmt::format(
        "{} misses, {} stacks walked, {} frames, {} rows taught ({} at first sight); {} files, {} "
        "processes held; "
        "{:.1f} ms of CPU\n",
        stats.misses, stats.walks, stats.frames, stats.rows, stats.inherited, stats.files,
        stats.processes, static_cast<double>(state.cpu_ns) / kNsPerMs);
}

std::string describe_trouble(const ResolverStats& stats) {
    std::string text;
    const auto add = [&](std::uint64_t count, const std::string& what) {
        if (count != 0) text += fmt::format("  {} {}\n", count, what);
    };
    for (std::size_t i = 1; i < stats.ends.size(); ++i)
        add(stats.ends.at(i),
            std::string("walks ended at ") + walk_end_text(static_cast<WalkEnd>(i)));
    for (std::size_t i = 1; i < stats.causes.size(); ++i)
        add(stats.causes.at(i),
            std::string("rows say cannot: ") + cannot_text(static_cast<CannotCause>(i)));
    add(stats.gone, "misses of processes that had ended or may not be read");
    add(stats.left_alone, "misses of processes that kept who looked at them waiting");
    add(stats.unopened,
        "frames not taught: no descriptor or memory to open their process or file, tried again "
        "later");
    add(stats.failed_reads, "reads of the module failed in passing, tried again later");
    add(stats.stale, "lessons came too late: the program had changed or ended");
    add(stats.full, "lessons refused: max_rows reached");
    add(stats.refused,
        fmt::format("lessons refused, the last one: {}", std::strerror(stats.last_error)));
    return text;
}

namespace {

/// Says, a line each, what cannot be had.
void say_lost(const std::string& lines) {
    std::istringstream text(lines);
    for (std::string line; std::getline(text, line);)
        if (!line.empty()) say(fmt::format("lattop daemon: {}\n", line));
}

/// Becomes a resolver, as soon as there is a module, and memory; nothing when asked to end
/// before. Started with the machine, a daemon may be there before the module.
std::unique_ptr<ResolverDoor> open_door(const DaemonOptions& options, EndSignals& signals) {
    std::string said;
    const auto say_once = [&](const std::string& text) {
        if (text != said) say(said = text);
    };
    for (;;) {
        try {
            return std::make_unique<ProcResolverDoor>();
        } catch (const NoModuleError& error) {
            if (options.once) throw;
            say_once(
                fmt::format("lattop daemon: {}: waiting for it\n{}\n", error.what(), error.hint()));
        } catch (const PassingError& error) {
            if (options.once) throw;
            say_once(fmt::format("lattop daemon: {}: trying again\n", error.what()));
        }
        if (asked_to_end(signals)) return nullptr;
    }
}

/// Says where the module went and that it came back, and who is looked at no more; once each.
class WorkerWatch {
public:
    void look(const ResolverWorker::State& state) {
        if (state.waiting && !waiting_)
            say("lattop daemon: the module was unloaded: waiting for it\n");
        if (state.loads != loads_) say("lattop daemon: the module is loaded again\n");
        for (; keepers_ < state.keepers.size(); ++keepers_)
            say(
                fmt::format("lattop daemon: process {} keeps who looks at it waiting, as memory or "
                            "files do whose file system does not answer, or call-frame information "
                            "that takes long to go by: it is left alone. Behind a file system this "
                            "daemon cannot end before that answers\n",
                            state.keepers[keepers_]));
        waiting_ = state.waiting;
        loads_ = state.loads;
    }

private:
    bool waiting_ = false;
    unsigned loads_ = 1;
    std::size_t keepers_ = 0;
};

}  // namespace

void run_daemon(const DaemonOptions& options) {
    const ResolverLimits limits = limits_here();  // before no call may ask for them
    // All of it before the worker's thread, which inherits it.
    EndSignals signals;
    hurry();
    say_lost(keep_least_privilege());
    auto door = open_door(options, signals);
    if (door == nullptr) return;
    ResolverWorker worker(std::move(door), limits);
    say("lattop daemon: learning user stacks; ends with SIGINT or SIGTERM\n");
    WorkerWatch watch;
    FreedMemory freed;
    std::uint64_t said = 0;
    for (bool end = false; !end;) {
        end = asked_to_end(signals);
        freed.give_back(std::chrono::steady_clock::now());
        const ResolverWorker::State state = worker.state();
        if (!state.running) throw Error("the resolver failed: " + state.failure);
        watch.look(state);
        if (options.once && state.waiting) throw NoModuleError("the module was unloaded", "");
        const bool news = state.stats.walks != said;
        if (options.verbose && news) say(describe(state));
        end = end || (options.once && state.idle && !news);
        said = state.stats.walks;
    }
    const ResolverWorker::State state = worker.state();
    say("lattop daemon: " + describe(state) + describe_trouble(state.stats));
}

}  // namespace lattop
