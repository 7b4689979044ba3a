// SPDX-License-Identifier: GPL-2.0-or-later
//
// See live.h. One loop: what is due is done, what has changed is drawn, then it
// waits for a key, for names, or for the next refresh, whichever is first.
#include "lattop/live.h"

#include <fmt/format.h>

#include <algorithm>

#include "lattop/freed_memory.h"
#include "lattop/model/own_cost.h"
#include "lattop/source/error.h"
#include "lattop/source/passing_errors.h"
#include "lattop/view/screen.h"

namespace lattop {
namespace {

/// What the screen showed last time, and shows this time.
class KeptChoice {
public:
    explicit KeptChoice(std::string path) : path_(std::move(path)) {
        try {
            if (!path_.empty()) kept_ = load_screen_choice(path_);
        } catch (const Error& error) {
            complaint_ = error.what();
            path_.clear();  // what was not understood is not written over
        }
    }

    /// What of it is not understood; "" for nothing.
    [[nodiscard]] const std::string& complaint() const { return complaint_; }

    RowOptions begin(const Options& options) {
        RowOptions rows = row_options(options);
        if (!path_.empty()) begin_with(kept_, options.sort_given, rows);
        begun_ = choice_of(rows);
        return rows;
    }

    /// Why it could not be kept; "" where there was nothing to keep, or it is.
    std::string end(const ScreenChoice& ended) {
        const ScreenChoice next = to_keep(kept_, begun_, ended);
        if (path_.empty() || next == kept_) return "";
        try {
            save_screen_choice(next, path_);
        } catch (const Error& error) {
            return std::string("what the screen showed is not kept: ") + error.what();
        }
        return "";
    }

private:
    std::string path_, complaint_;
    ScreenChoice kept_, begun_;
};

ScreenSetup make_setup(const Options& options, KeptChoice& kept) {
    ScreenSetup setup;
    setup.rows = kept.begin(options);
    setup.delay = options.delay;
    if (options.limit)
        setup.limit = *options.limit == 0 ? std::uint32_t{LT_MAX_LIMIT} : *options.limit;
    setup.pids = options.selection.pids;
    return setup;
}

class Live {
public:
    Live(const Options& options, World world, Terminal& terminal)
        : columns_file_(options.columns_file),
          kept_(options.screen_file),
          world_(world),
          terminal_(terminal),
          meter_(world.clock, world.learning),
          screen_(make_setup(options, kept_), world.stacks, world.users, world.cgroups,
                  world.reasons) {
        try {
            screen_.choose_columns(load_column_choice(columns_file_));
        } catch (const Error& error) {
            screen_.say(error.what());
            columns_file_.clear();  // what was not understood is not written over
        }
        if (!kept_.complaint().empty()) screen_.say(kept_.complaint());
    }

    std::string run() {
        while (!quit_) {
            if (!screen_.paused() && world_.clock.now() >= next_) go_on();
            draw();
            obey(terminal_.wait(deadline(), {world_.stacks.ready_fd(), world_.users.ready_fd()}));
        }
        return kept_.end(screen_.choice());
    }

private:
    [[nodiscard]] std::optional<Clock::Time> deadline() const {
        if (screen_.paused()) return std::nullopt;
        return next_;
    }

    /// A recording stops at its end.
    void go_on() {
        if (world_.source.more()) return refresh();
        screen_.pause();
        screen_.say("the recording ends here; , and [ go back");
    }

    /// The same snapshot of a recording, for a view that needs more of it: the next one comes when
    /// it would have come.
    void look_again() {
        const Clock::Time next = next_;
        take(world_.source.travel(0));
        next_ = next;
    }

    /// What a journey of the source says is to be taken.
    void take(int takes) {
        if (takes == 1) screen_.forget();  // nothing came before the first one
        for (; takes > 0; --takes)
            refresh();
    }

    /// Shows the snapshot so many on, and what happened since the one before it.
    void travel(std::int64_t snapshots) {
        const int takes = world_.source.travel(snapshots);
        if (takes == 0) return screen_.say("there is no going back: this is now, not a recording");
        screen_.pause();
        take(takes);
    }

    /// The screen stays as it is while there is no module, and where a read
    /// fails in passing.
    void refresh() {
        try {
            look();
            if (errors_.none()) screen_.say("");
            if (away_) screen_.say("the module is loaded again: all figures begin anew");
            away_ = false;
        } catch (const NoModuleError& error) {
            wait_for_module(error);
        } catch (const PassingError& error) {
            if (!shown_) throw;
            keep_picture(error);
        }
        // From start to start; what was missed is not caught up with.
        next_ = std::max(next_ + screen_.delay(), world_.clock.now());
    }

    void wait_for_module(const NoModuleError& error) {
        away_ = true;
        screen_.say(fmt::format("{}: waiting for it", error.what()));
    }

    void keep_picture(const PassingError& error) {
        errors_.add(error, world_.clock.now());
        screen_.say(fmt::format("still the last picture: {}", error.what()));
    }

    void look() {
        const Query query = screen_.query();
        Snapshot snapshot = world_.source.take(query, Moment::Next);
        world_.stacks.want(snapshot);
        world_.reasons.forget_unseen(snapshot);
        const OwnCost cost = meter_.measure(snapshot.header);
        screen_.update(std::move(snapshot), query);
        shown_ = true;
        show_cost(cost);
        refresh_detail();
        collect_names();
        freed_.give_back(world_.clock.now());
    }

    void show_cost(const OwnCost& of_now) {
        if (const std::string position = world_.source.position(); !position.empty())
            return screen_.show_cost("Recording: " + position + "; , . [ ] go back and on");
        const std::string cost = own_cost_text(of_now);
        if (cost.empty()) return;
        const std::string fetching = world_.stacks.progress();
        screen_.show_cost(fetching.empty() ? "Own cost: " + cost
                                           : fetching + "; own cost: " + cost);
    }

    void refresh_detail() {
        if (const auto query = screen_.detail_query()) {
            Snapshot snapshot = world_.source.take(*query, Moment::Same);
            // Of a process's first thread all others came as well: nobody asks for their names
            if (query->pids.size() == 1)
                std::erase_if(snapshot.tasks, [&](const Task& task) {
                    return task.pid != query->pids.front() && task.pid != 0;
                });
            world_.stacks.want_more(snapshot);
            screen_.update_detail(std::move(snapshot));
        }
        want_live(true);
    }

    /// Asks where the task that the pane shows stands now: with new figures again, else where
    /// that is another task.
    void want_live(bool again) {
        const Task* task = screen_.live_wanted();
        const std::optional<TaskId> id =
            task == nullptr ? std::nullopt : std::optional(id_of(*task));
        if (task != nullptr && (again || id != live_of_)) world_.stacks.want_live(*task);
        live_of_ = id;
    }

    void show_detail() {
        try {
            refresh_detail();
        } catch (const NoModuleError& error) {
            wait_for_module(error);
        } catch (const PassingError& error) {
            keep_picture(error);
        }
    }

    void reset() {
        try {
            world_.source.reset();
        } catch (const Error& error) {
            return screen_.say(std::string(error.what()) +
                               (error.hint().empty() ? "" : ": " + error.hint()));
        }
        screen_.say("all figures are reset");
        refresh();
    }

    void save_columns() {
        if (columns_file_.empty()) return;
        try {
            save_column_choice(screen_.columns(), columns_file_);
        } catch (const Error& error) {
            screen_.say(error.what());
        }
    }

    void obey(const Event& event) {
        switch (event.kind) {
            case Event::Kind::Timeout: break;
            case Event::Kind::Resize: terminal_.redraw(); break;
            case Event::Kind::Quit: quit_ = true; break;
            case Event::Kind::Ready: collect_names(); break;
            case Event::Kind::Key:
            case Event::Kind::Mouse: {
                const bool paused = screen_.paused();
                const Query before = screen_.query();
                const auto delay = screen_.delay();
                Wish wish = event.kind == Event::Kind::Key ? screen_.handle(event.key)
                                                           : screen_.handle(event.mouse);
                // A recording goes on with time alone, or when it is let go on.
                if (!world_.source.live()) {
                    wish.refresh = paused && !screen_.paused();
                    if (screen_.query() != before) look_again();
                    if (screen_.delay() != delay)
                        next_ = std::min(next_, world_.clock.now() + screen_.delay());
                }
                grant(wish);
                break;
            }
        }
    }

    void collect_names() {
        const bool stacks = world_.stacks.collect();
        const bool users = world_.users.collect();
        if (stacks || users) screen_.names_changed();
    }

    void grant(const Wish& wish) {
        quit_ = wish.quit;
        if (wish.redraw) terminal_.redraw();
        if (!wish.copy.empty()) {
            terminal_.copy(wish.copy);
            terminal_.redraw();  // a terminal may have shown it instead
        }
        if (wish.keep_columns) save_columns();
        if (wish.reset) reset();
        if (wish.step != 0) travel(wish.step);
        if (wish.jump != 0) {
            const auto tenth = static_cast<std::int64_t>(world_.source.size() / 10);
            travel(wish.jump * std::max<std::int64_t>(tenth, 1));
        }
        if (wish.refresh)
            next_ = world_.clock.now();
        else if (wish.detail)
            show_detail();
        else
            want_live(false);
        // A paused screen is refreshed only when asked for.
        if (wish.refresh && screen_.paused()) refresh();
    }

    void draw() {
        Canvas canvas(terminal_.size(), terminal_.charset());
        const auto recorded = world_.source.realtime_ns();
        screen_.draw(canvas, recorded ? local_time_at(*recorded) : world_.clock.local_time());
        terminal_.show(canvas);
        world_.stacks.want_command_lines(screen_.command_lines_wanted());
    }

    std::string columns_file_;
    KeptChoice kept_;
    World world_;
    Terminal& terminal_;
    CostMeter meter_;
    FreedMemory freed_;
    Screen screen_;
    Clock::Time next_ = world_.clock.now();
    bool quit_ = false;
    bool away_ = false;   ///< the module is not loaded, as seen last
    bool shown_ = false;  ///< there is a picture to keep
    PassingErrors errors_;
    std::optional<TaskId> live_of_;  ///< asked for last
};

}  // namespace

std::string run_live(const Options& options, World world, Terminal& terminal) {
    return Live(options, world, terminal).run();
}

}  // namespace lattop
