// SPDX-License-Identifier: GPL-2.0-or-later
//
// See perfetto.h. Times are CLOCK_MONOTONIC in microseconds, as the format has
// them, with their nanoseconds behind the point.
#include "lattop/export/perfetto.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lattop/model/format.h"
#include "lattop/model/frames.h"
#include "lattop/source/error.h"
#include "lattop/version.h"

namespace lattop {
namespace {

using Json = nlohmann::ordered_json;

/// About what an element of a map takes.
constexpr std::uint64_t kElementBytes = 128;

std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

double microseconds(std::uint64_t ns) {
    return static_cast<double>(ns) / 1e3;
}

std::string safe(const std::string& name) {
    return printable(name, Charset::Utf8);
}

/// Innermost first, as the screen has them.
std::string joined(const std::vector<std::string>& frames) {
    std::string text;
    for (const std::string& frame : frames)
        text += (text.empty() ? "" : " < ") + safe(frame);
    return text;
}

std::string name_event(const char* what, std::uint32_t pid, std::uint32_t tid,
                       const std::string& name) {
    return dump(
        {{"ph", "M"}, {"name", what}, {"pid", pid}, {"tid", tid}, {"args", {{"name", name}}}});
}

}  // namespace

std::uint64_t PerfettoTrace::bytes() const {
    // Twice: a string that grows is there in both sizes for a moment
    return 2 * events_.size() + held_bytes_ +
           kElementBytes * (named_.size() + counters_.size() + sleeps_.size());
}

void PerfettoTrace::check_room() const {
    if (bytes() <= most_) return;
    throw Error(fmt::format("the timeline of {} snapshots takes {} of memory, which is more than "
                            "the {} that it may have here",
                            with_commas(round_), format_bytes(bytes()), format_bytes(most_)),
                "ask for some tasks with -p or -k, or for some sleeps with --filter; the other "
                "formats are of the sum of all snapshots");
}

/// As text at once: that takes a seventh of what the JSON itself does.
void PerfettoTrace::draw(std::string_view event) {
    if (!events_.empty()) events_ += ',';
    events_ += event;
}

void PerfettoTrace::name_task(const Task& task) {
    if (task.kind != LT_KIND_TASK) return;
    const auto named = named_.find(id_of(task));
    if (named != named_.end() && named->second == task.comm) return;
    const auto its = [&](const Entry& entry) { return wanted(task, entry); };
    if (wanted_ && std::ranges::none_of(model_.snapshot().entries_of(task), its)) return;
    named_[id_of(task)] = task.comm;
    draw(name_event("thread_name", task.tgid, task.pid, safe(task.comm)));
    if (task.pid == task.tgid)
        draw(name_event("process_name", task.tgid, task.tgid, safe(task.comm)));
}

/// What each counter's interval has, from the entries' growth in it.
void PerfettoTrace::count_intervals(std::uint64_t begin_ns) {
    const Snapshot& snapshot = model_.snapshot();
    for (const Task& task : snapshot.tasks) {
        if (stands_for_exited(task)) continue;  // grows by merging, not by sleeping
        for (const Entry& entry : snapshot.entries_of(task)) {
            const auto& delta = model_.delta(entry);
            if (!delta || delta->blocked_ns == 0 || !wanted(task, entry)) continue;
            const Reason& reason = reasons_.of(snapshot, task, entry, names_);
            const auto [at, added] = counters_.try_emplace(CounterId{task.tgid, reason.name});
            if (added) held_bytes_ += reason.name.size();
            at->second.grown_ns += delta->blocked_ns;
        }
    }
    write_counters(begin_ns, model_.interval_ns());
}

/// A counter keeps its value until the next one, so only changes are written, and one at 0 is
/// forgotten.
void PerfettoTrace::write_counters(std::uint64_t at_ns, std::uint64_t interval_ns) {
    constexpr double kThousandths = 1e3;
    for (auto& [id, counter] : counters_) {
        const double tasks = interval_ns == 0 ? 0
                                              : static_cast<double>(counter.grown_ns) /
                                                    static_cast<double>(interval_ns);
        counter.grown_ns = 0;
        const double rounded = std::round(tasks * kThousandths) / kThousandths;
        if (rounded == counter.shown) continue;
        counter.shown = rounded;
        draw(dump({{"ph", "C"},
                   {"name", "waiting: " + safe(id.second)},
                   {"pid", id.first},
                   {"ts", microseconds(at_ns)},
                   {"args", {{"tasks", rounded}}}}));
    }
    std::erase_if(counters_, [this](const auto& one) {
        if (one.second.shown != 0) return false;
        held_bytes_ -= one.first.second.size();
        return true;
    });
}

/// The sleep that a task is in: the one seen before, or a new one.
void PerfettoTrace::see_sleep(const Task& task) {
    const Snapshot& snapshot = model_.snapshot();
    LongSleep& sleep = sleeps_[id_of(task)];
    const bool same = task.asleep() && sleep.times_seen != 0 && sleep.number == task.sleeps;
    if (!same) end_sleep(sleep);
    sleep.round = round_;
    if (!task.asleep()) return;
    sleep.seen_ns = snapshot.header.time_ns;
    ++sleep.times_seen;
    if (same) return;
    const Entry* ongoing = snapshot.ongoing_entry(task);
    if (ongoing == nullptr || !wanted(task, *ongoing)) {
        sleep = {.round = round_};
        return;
    }
    const std::uint64_t began =
        snapshot.header.time_ns - std::min(task.ongoing_ns, snapshot.header.time_ns);
    const Reason& reason = reasons_.of(snapshot, task, *ongoing, names_);
    const Trace* trace = snapshot.trace_of(*ongoing);
    const auto kernel =
        trace == nullptr ? std::vector<std::string>() : kernel_frame_texts(snapshot, *trace);
    sleep.number = task.sleeps;
    sleep.begin_ns = std::max(began, first_ns_);
    sleep.event = dump({{"ph", "X"},
                        {"name", safe(reason.name)},
                        {"cat", reason.idle ? "idle" : "wait"},
                        {"pid", task.tgid},
                        {"tid", task.pid},
                        {"args",
                         {{"kernel", joined(kernel)},
                          {"user", joined(user_frame_texts(snapshot, task, *ongoing, names_))},
                          {"ns before the recording", sleep.begin_ns - began},
                          {"end", "seen last"}}},
                        {"ts", microseconds(sleep.begin_ns)}});
    held_bytes_ += sleep.event.size();
    check_room();
}

void PerfettoTrace::end_sleep(LongSleep& sleep) {
    held_bytes_ -= sleep.event.size();
    if (sleep.times_seen >= 2) {
        sleep.event.pop_back();  // its last brace
        draw(sleep.event + ",\"dur\":" + dump(microseconds(sleep.seen_ns - sleep.begin_ns)) + "}");
    }
    sleep = {};
}

void PerfettoTrace::forget_gone() {
    for (auto at = sleeps_.begin(); at != sleeps_.end();) {
        if (at->second.round == round_) {
            ++at;
            continue;
        }
        end_sleep(at->second);
        named_.erase(at->first);
        at = sleeps_.erase(at);
    }
}

void PerfettoTrace::add(Snapshot snapshot) {
    check_room();
    const std::uint64_t now = snapshot.header.time_ns;
    const bool first = model_.empty();
    const std::uint64_t before = last_ns_;
    model_.update(std::move(snapshot), {.sort = LT_SORT_PID, .traces = LT_TRACES_ALL});
    if (first) first_ns_ = now;
    last_ns_ = now;
    ++round_;
    for (const Task& task : model_.snapshot().tasks) {
        name_task(task);
        if (task.kind == LT_KIND_TASK) see_sleep(task);
    }
    forget_gone();
    if (first) return;
    // Behind a reset figures are of the time since then, and of that before it nothing is known
    const std::uint64_t begin = now - std::min(model_.interval_ns(), now);
    if (begin > before) write_counters(before, 0);
    count_intervals(std::max(begin, before));
}

std::string PerfettoTrace::text(const std::string& title) {
    write_counters(last_ns_, 0);
    for (auto& [id, sleep] : sleeps_)
        end_sleep(sleep);
    const Json about{{"displayTimeUnit", "ns"},
                     {"otherData",
                      {{"exporter", std::string("lattop ") + kVersion},
                       {"title", safe(title)},
                       {"counters", "tasks that waited, on average between two snapshots"},
                       {"slices", "sleeps that two snapshots or more have seen"}}}};
    constexpr std::string_view kBegin = "{\"traceEvents\":[";
    events_.insert(0, kBegin);
    events_ += "],";
    events_ += std::string_view(dump(about)).substr(1);
    events_ += '\n';
    return std::move(events_);
}

}  // namespace lattop
