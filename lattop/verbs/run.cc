// SPDX-License-Identifier: GPL-2.0-or-later
//
// See run.h.
#include "lattop/verbs/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <numeric>
#include <optional>

#include "lattop/live_world.h"
#include "lattop/model/longest_waits.h"
#include "lattop/options.h"
#include "lattop/output.h"
#include "lattop/recording/output_file.h"
#include "lattop/recording/writer.h"
#include "lattop/source/error.h"
#include "lattop/source/passing_errors.h"
#include "lattop/verbs/record.h"
#include "lattop/verbs/report.h"
#include "lattop/verbs/taker.h"

namespace lattop {
namespace {

struct RunOptions {
    std::string file;
    std::chrono::milliseconds delay{100};
    ReportOptions report;
    WantedWaits waits;
    std::vector<std::string> command;
};

std::optional<RunOptions> parse_run(Arguments& arguments) {
    RunOptions options;
    options.report = {.tasks = 10, .stacks = 10};
    std::string delay;
    std::string stacks;
    std::string tasks;
    arguments.text("-o,--output", "FILE", options.file, "record it too, mode 0600");
    arguments.text("-d,--delay", "SECS", delay, "seconds between two looks (default 0.1)");
    arguments.text("--limit", "N", tasks, "at most N tasks, 0 for all (default 10)");
    arguments.text("--stacks", "N", stacks, "at most N stacks, 0 for all (default 10)");
    arguments.waits(options.waits);
    arguments.command(options.command, "what to run (needed)");
    if (!arguments.parse()) return std::nullopt;
    if (options.command.empty())
        throw UsageError("lattop run: which command?", "lattop run -- COMMAND [ARGUMENT...]");
    if (!delay.empty()) options.delay = parse_delay(delay);
    if (!tasks.empty()) options.report.tasks = parse_limit(tasks, "--limit");
    if (!stacks.empty()) options.report.stacks = parse_limit(stacks, "--stacks");
    return options;
}

/// What is seen of the command, look by look.
class Watch {
public:
    Watch(const RunOptions& options, const ChildCommand& child, World world)
        : world_(world), tree_(child.pid()), command_lines_(!options.waits.filter.empty()) {
        Query query;
        query.pids = {static_cast<std::uint32_t>(child.pid())};
        Snapshot snapshot = Taker(query, world_).take_surely();
        if (snapshot.tasks.empty())
            throw Error("the module does not show the command to this user", "run as root");
        before_ = snapshot.tasks.front();
        begin_ = snapshot.header;
        if (options.file.empty()) return;
        file_.emplace(options.file);
        writer_.emplace([this](auto bytes) { file_->append(bytes); },
                        recording_info(options.command), world_.clock.realtime_ns());
        keep_tree(snapshot, TreeMembers(0), before_);
        count_from(begin_, snapshot.header);
        writer_->add(snapshot, names(), world_.clock.realtime_ns());
    }

    void look() {
        failure_.look(world_);
        Query query;
        query.sort = LT_SORT_PID;
        query.traces = LT_TRACES_ALL;
        query.limit = LT_MAX_LIMIT;
        tree_.update();
        // All of a small tree by name; of a large one it is among all tasks.
        const auto& processes = tree_.members().processes();
        if (processes.size() <= LT_MAX_PIDS) query.pids = processes;
        take_objects(world_.objects->take());
        Snapshot snapshot = world_.source.take(query, Moment::Next);
        tree_.update();
        world_.stacks.want(snapshot);
        world_.stacks.collect();
        world_.users.collect();
        if (period_.empty()) forget_if_reset(begin_, before_, snapshot.header);
        keep_tree(snapshot, tree_.members(), before_);
        if (command_lines_) want_command_lines(snapshot, world_.stacks);
        world_.objects->want(snapshot);
        period_.add(snapshot);
        write([&](recording::Writer& writer) {
            writer.add(so_far(), names(), world_.clock.realtime_ns());
        });
        last_ = std::move(snapshot);
    }

    /// The command's figures, counted from its start.
    [[nodiscard]] Snapshot so_far() const {
        Snapshot snapshot = period_.snapshot();
        if (period_.empty()) snapshot.header = begin_;  // no look succeeded
        count_from(begin_, snapshot.header);
        return snapshot;
    }

    void end() {
        take_objects(world_.objects->wait(kObjectsPatience));
        write([&](recording::Writer& writer) {
            writer.add_names(so_far(), names(), world_.clock.realtime_ns());
            writer.end(world_.clock.realtime_ns());
            file_->finish();
        });
    }

    [[nodiscard]] const TreeMembers& members() const { return tree_.members(); }
    [[nodiscard]] const LongestWaits& waits() const { return waits_; }

private:
    [[nodiscard]] recording::NameSources names() const {
        return {world_.stacks, world_.users, world_.cgroups};
    }

    /// What sleepers of the looks before waited for.
    void take_objects(const std::vector<FoundObjects>& all) {
        for (const FoundObjects& found : all) {
            objects_.add(found);
            write([&](recording::Writer& writer) {
                writer.add_objects(found, world_.clock.realtime_ns());
            });
        }
        waits_.add(last_, objects_);
    }

    /// A full disk costs the rest of the recording, and nothing else.
    void write(const std::function<void(recording::Writer&)>& step) {
        if (!writer_) return;
        try {
            step(*writer_);
        } catch (const Error& error) {
            complain(fmt::format("{}: the recording ends here", error.what()));
            writer_.reset();
        }
    }

    World world_;
    LearningFailure failure_;
    ProcessTree tree_;
    bool command_lines_;  // are asked for by a filter
    Period period_{Period::Begin::AtNothing};
    Snapshot last_;  // look
    SleepObjects objects_;
    LongestWaits waits_;
    Task before_;
    Header begin_;
    std::optional<recording::OutputFile> file_;
    std::optional<recording::Writer> writer_;
};

std::string describe(const RunOptions& options, const Snapshot& snapshot,
                     const TreeMembers& members, int status) {
    std::uint64_t blocked = 0;
    std::uint64_t runq = 0;
    for (const Task& task : snapshot.tasks) {
        blocked += task.blocked_ns;
        runq += task.runq_ns;
    }
    std::string text = fmt::format(
        "{}: status {} after {}; {} tasks were blocked for {}, and waited {} for a CPU\n",
        printable(options.command.front(), locale_charset()), status,
        format_duration(snapshot.header.time_ns - snapshot.header.since_ns), members.size(),
        format_duration(blocked), format_duration(runq));
    if (!options.waits.all())
        text += fmt::format("Below is a part of it{}\n",
                            printable(wanted_text(options.waits), locale_charset()));
    if (members.lost() != 0)
        text += fmt::format("{} forks were not seen: some tasks are missing\n", members.lost());
    return text;
}

/// Looks until a look fails, or so many in a row do in passing; both are said.
class CarefulLook {
public:
    CarefulLook(const std::function<void()>& look, Clock& clock, std::chrono::milliseconds patience)
        : look_(look), clock_(clock), errors_(patience) {}

    void operator()() { try_to(false); }

    /// Until it succeeds: there is no other behind it.
    void last() { try_to(true); }

private:
    void try_to(bool again) {
        if (failed_) return;
        try {
            while (!look() && again)
                clock_.sleep_until(clock_.now() + kTryAgainAfter);
        } catch (const std::exception& error) {
            failed_ = true;
            complain(fmt::format("{}: the command goes on, no more of it is seen", error.what()));
        }
    }

    bool look() {
        try {
            look_();
            errors_.none();
            return true;
        } catch (const PassingError& error) {
            if (errors_.add(error, clock_.now())) complain(passing_error_text(error));
            return false;
        }
    }

    const std::function<void()>& look_;
    Clock& clock_;
    PassingErrors errors_;
    bool failed_ = false;
};

}  // namespace

int watch_to_end(ChildCommand& child, EndSignals& signals, std::chrono::milliseconds delay,
                 Clock& clock, const std::function<void()>& look,
                 std::chrono::milliseconds patience) {
    CarefulLook careful_look(look, clock, patience);
    for (Clock::Time next = clock.now();;) {
        next = std::max(next + delay, clock.now());
        for (int signal = -1; signal != 0;) {
            signal = signals.wait_until(next);
            if (const auto status = child.status()) {
                careful_look.last();
                return *status;
            }
            if (signal != 0 && signal != SIGCHLD) child.pass_on(signal, signals);
        }
        careful_look();
    }
}

void count_from(const Header& begin, Header& header) {
    header.since_ns = begin.time_ns;
    header.hooks_ns -= std::min(begin.hooks_ns, header.hooks_ns);
    for (std::size_t i = 0; i < begin.lost.size(); ++i)
        header.lost[i] -= std::min(begin.lost[i], header.lost[i]);
}

void forget_if_reset(Header& begin, Task& before, const Header& looked) {
    if (begin.since_ns == looked.since_ns) return;
    begin.hooks_ns = 0;
    begin.lost = {};
    before.runq_ns = before.runs = 0;
}

void keep_tree(Snapshot& snapshot, const TreeMembers& tree, const Task& before) {
    std::erase_if(snapshot.tasks, [&](const Task& task) { return !tree.contains(task); });
    for (Task& task : snapshot.tasks) {
        if (id_of(task) != id_of(before)) continue;
        task.runq_ns -= std::min(task.runq_ns, before.runq_ns);
        task.runs -= std::min(task.runs, before.runs);
        task.max_ns = 0;
        for (Entry& entry : std::span(snapshot.entries).subspan(task.first_entry, task.n_entries)) {
            if (entry.exec_id != before.exec_id) {
                task.max_ns = std::max(task.max_ns, entry.max_ns);
                continue;
            }
            task.blocked_ns -= std::min(task.blocked_ns, entry.blocked_ns);
            task.sleeps -= std::min(task.sleeps, entry.sleeps);
            task.ongoing_ns -= std::min(task.ongoing_ns, entry.ongoing_ns);
            entry.blocked_ns = entry.ongoing_ns = entry.max_ns = entry.sleeps = 0;
            entry.hist = {};
        }
    }
}

int run_command_verb(Arguments& arguments) {
    const auto options = parse_run(arguments);
    if (!options) return 0;
    EndSignals signals;
    ChildCommand child(options->command, signals);
    LiveWorld live(true, stop_naming_by(signals, [] { return true; }));
    const World world = live.world();
    Watch watch(*options, child, world);
    child.release();
    const int status =
        watch_to_end(child, signals, options->delay, world.clock, [&] { watch.look(); });
    Snapshot snapshot = watch.so_far();
    find_last_names(snapshot, world);
    want_users(world.users, snapshot);
    wait_for_users(world.users);
    watch.end();
    std::string text = "\n" + describe(*options, snapshot, watch.members(), status) + "\n";
    const ProcessNames processes(snapshot);
    keep_wanted(snapshot, options->waits, world.stacks, world.users, world.reasons, world.cgroups);
    text +=
        report_text(snapshot, world.stacks, world.users, world.reasons, world.clock.local_time(),
                    options->report, locale_charset(), &processes, &watch.waits());
    std::fputs(text.c_str(), stderr);
    return status;
}

}  // namespace lattop
