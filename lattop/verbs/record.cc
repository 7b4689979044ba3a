// SPDX-License-Identifier: GPL-2.0-or-later
//
// See record.h.
#include "lattop/verbs/record.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>

#include "lattop/child_command.h"
#include "lattop/freed_memory.h"
#include "lattop/live_world.h"
#include "lattop/options.h"
#include "lattop/output.h"
#include "lattop/recording/output_file.h"
#include "lattop/source/error.h"
#include "lattop/verbs/taker.h"
#include "lattop/version.h"

namespace lattop {
namespace {

struct RecordCommand {
    RecordPlan plan;
    std::string file;
    std::vector<std::string> command;
    bool learn = true;
};

std::optional<RecordCommand> parse_record(Arguments& arguments) {
    RecordCommand result;
    std::string delay;
    std::string duration;
    bool no_learn = false;
    arguments.text("-o,--output", "FILE", result.file, "where to (needed); mode 0600");
    arguments.text("-d,--delay", "SECS", delay, "seconds between snapshots (default 1)");
    arguments.text("--duration", "SECS", duration, "end after so many seconds");
    arguments.flag("--no-learn", no_learn, "do not teach the module to walk user stacks");
    arguments.tasks(result.plan.selection);
    arguments.refuse("--filter,--no-idle", "a recording keeps all sleeps of its tasks",
                     "-p and -k choose the tasks; report, export, diff, chain and replay take "
                     "--filter and --no-idle when they read it");
    arguments.command(result.command, "end when this command, started here, has ended");
    if (!arguments.parse()) return std::nullopt;
    if (result.file.empty()) throw UsageError("lattop record: where to?", "give -o FILE");
    if (!delay.empty()) result.plan.delay = parse_delay(delay);
    if (!duration.empty()) result.plan.duration = parse_duration(duration, "--duration");
    result.learn = !no_learn;
    return result;
}

/// A line that replaces itself; for terminals only.
void show_progress(const recording::Writer& writer) {
    if (::isatty(STDERR_FILENO) == 0) return;
    std::fputs(fmt::format("\rlattop record: {} snapshots, {}; ^C ends it ", writer.snapshots(),
                           format_bytes(writer.bytes()))
                   .c_str(),
               stderr);
}

recording::NameSources names_of(const World& world) {
    return {world.stacks, world.users, world.cgroups};
}

void write_objects(const std::vector<FoundObjects>& all, const World& world,
                   recording::Writer& writer) {
    for (const FoundObjects& found : all)
        writer.add_objects(found, world.clock.realtime_ns());
}

/// Names that were slow to find delayed no snapshot: they come behind them. Those of `last`, the
/// last one, may not have been asked for yet.
void end_whole(const World& world, recording::Writer& writer, const Snapshot& last) {
    if (world.objects != nullptr)
        write_objects(world.objects->wait(kObjectsPatience), world, writer);
    find_last_names(last, world);
    wait_for_users(world.users);
    writer.add_names(last, names_of(world), world.clock.realtime_ns());
    writer.end(world.clock.realtime_ns());
}

/// Without a module, or where it cannot be read, there is no more to come: a
/// recording ends there, whole.
std::optional<Snapshot> take_or_end(Taker& taker, bool last, const World& world,
                                    recording::Writer& writer, const Snapshot& written) {
    try {
        return last ? taker.take_surely() : taker.take();
    } catch (const Error&) {
        if (writer.snapshots() != 0) end_whole(world, writer, written);
        throw;
    }
}

/// Names and objects of the snapshots before that were found meanwhile. Before the next snapshot,
/// which may show that a process runs another program by now.
void write_late_names(const World& world, recording::Writer& writer) {
    if (world.objects != nullptr) write_objects(world.objects->take(), world, writer);
    if (world.stacks.collect()) writer.add_late_names(names_of(world), world.clock.realtime_ns());
}

void write_down(const Snapshot& snapshot, const World& world, recording::Writer& writer) {
    const std::uint64_t now = world.source.realtime_ns().value_or(world.clock.realtime_ns());
    world.stacks.want(snapshot);
    if (world.objects != nullptr) world.objects->want(snapshot);
    world.stacks.collect();
    world.users.collect();
    writer.add(snapshot, names_of(world), now);
}

/// Behind an error that ended the recording, which is the one to end with.
void store_what_there_is(recording::OutputFile& file) {
    try {
        file.finish();
    } catch (const Error& error) {
        complain(fmt::format("{}: its end may be missing", error.what()));
    }
}

}  // namespace

recording::Info recording_info(const std::vector<std::string>& command) {
    utsname names{};
    ::uname(&names);
    recording::Info info{{"host", names.nodename}, {"kernel", names.release}, {"lattop", kVersion}};
    for (const std::string& word : command)
        info["command"] += (info["command"].empty() ? "" : " ") + word;
    return info;
}

void record(const RecordPlan& plan, World world, recording::Writer& writer, const WaitForEnd& wait,
            const Progress& progress) {
    Taker taker(plan.selection.query(), world);
    const Clock::Time begin = world.clock.now();
    const Clock::Time end = plan.duration ? begin + *plan.duration : Clock::Time::max();
    Clock::Time next = begin;
    Snapshot written;
    FreedMemory freed;
    for (bool last = false;;) {
        write_late_names(world, writer);
        if (auto snapshot = take_or_end(taker, last, world, writer, written)) {
            write_down(*snapshot, world, writer);
            written = std::move(*snapshot);
            progress(writer);
        }
        freed.give_back(world.clock.now());
        if (last || !world.source.more()) break;
        next = std::min(std::max(next + plan.delay, world.clock.now()), end);
        last = wait(next) || next >= end;
    }
    end_whole(world, writer, written);
}

int record_command(Arguments& arguments) {
    const auto command = parse_record(arguments);
    if (!command) return 0;
    EndSignals signals;
    std::optional<ChildCommand> child;
    if (!command->command.empty()) child.emplace(command->command, signals);
    std::optional<Clock::Time> names_until;
    LiveWorld live(command->learn,
                   stop_naming_at(names_until, stop_naming_by(signals, [] { return true; })));
    recording::OutputFile file(command->file);
    SystemClock clock;
    recording::Writer writer([&](auto bytes) { file.append(bytes); },
                             recording_info(command->command), clock.realtime_ns());
    std::exception_ptr not_run;  // why the command could not be
    const WaitForEnd wait = [&](Clock::Time until) {
        for (;;) {
            if (not_run) return true;
            const int signal = signals.wait_until(until);
            if (child && child->status()) return true;
            if (signal == 0) return false;
            if (signal == SIGCHLD) continue;
            names_until = clock.now() + kNamesAfterSignal;
            return true;
        }
    };
    const Progress progress = [&](const recording::Writer& written) {
        if (child && written.snapshots() == 1) {
            try {
                child->release();
            } catch (const Error&) {
                not_run = std::current_exception();  // the recording ends whole all the same
            }
        }
        show_progress(written);
    };
    const auto say_what_there_is = [&] {
        if (::isatty(STDERR_FILENO) != 0) std::fputs("\n", stderr);
        complain(fmt::format("{} snapshots, {}, in {}", writer.snapshots(),
                             format_bytes(writer.bytes()), file.path()));
    };
    try {
        record(command->plan, live.world(), writer, wait, progress);
    } catch (const Error& error) {
        if (writer.snapshots() == 0) throw;
        say_what_there_is();
        store_what_there_is(file);
        if (child && !child->status()) {
            complain(fmt::format("{}: no more is recorded, the command goes on", error.what()));
            wait(Clock::Time::max());
            child->end(signals);
        }
        throw;
    }
    file.finish();
    say_what_there_is();
    if (child) child->end(signals);
    if (not_run) std::rethrow_exception(not_run);
    return 0;
}

}  // namespace lattop
