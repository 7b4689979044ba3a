// SPDX-License-Identifier: GPL-2.0-or-later
//
// A source, a clock and a terminal that do what a test says. Time goes on only
// where a command waits for it.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lattop/clock.h"
#include "lattop/model/cgroup_names.h"
#include "lattop/model/learning.h"
#include "lattop/model/user_stacks.h"
#include "lattop/model/users.h"
#include "lattop/source/error.h"
#include "lattop/source/select.h"
#include "lattop/source/source.h"
#include "lattop/term/terminal.h"

namespace lattop::test {

/// Gives what `make` makes, for the number of the snapshot from 0 on.
class FakeSource final : public Source {
public:
    explicit FakeSource(std::function<Snapshot(std::uint64_t)> make) : make_(std::move(make)) {}

    Snapshot take(const Query& query, Moment moment) override {
        queries.push_back(query);
        if (moment == Moment::Next) ++taken;
        Snapshot snapshot = make_(taken - 1);
        apply_query(snapshot, query);
        return snapshot;
    }
    void reset() override {
        if (!may_reset) throw Error("cannot reset: no", "only an administrator may");
        ++resets;
    }
    [[nodiscard]] bool live() const override { return true; }
    [[nodiscard]] bool more() const override { return taken < most; }

    std::uint64_t taken = 0;
    std::uint64_t most = UINT64_MAX;
    int resets = 0;
    bool may_reset = true;
    std::vector<Query> queries;

private:
    std::function<Snapshot(std::uint64_t)> make_;
};

/// Is in the state that a test gives it.
class FakeLearning final : public Learning {
public:
    [[nodiscard]] LearningState state() const override { return now; }

    LearningState now;
};

class FakeClock final : public Clock {
public:
    [[nodiscard]] Time now() const override { return now_; }
    void sleep_until(Time time) override {
        slept.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(time - now_));
        now_ = std::max(now_, time);
    }
    [[nodiscard]] std::uint64_t realtime_ns() const override { return 1'700'000'000'000'000'000; }
    [[nodiscard]] std::uint64_t cpu_ns() const override { return cpu_used_ns; }
    [[nodiscard]] std::string local_time() const override { return "12:34:56"; }

    void advance(std::chrono::milliseconds by) { now_ += by; }

    std::vector<std::chrono::milliseconds> slept;
    std::uint64_t cpu_used_ns = 0;

private:
    Time now_ = Time(std::chrono::hours(1));
};

/// Plays events; a Timeout lets the clock go on to the time waited for. Quits
/// at the end of the script.
class FakeTerminal final : public Terminal {
public:
    FakeTerminal(FakeClock& clock, std::deque<Event> script)
        : clock_(clock), script_(std::move(script)) {}

    [[nodiscard]] Size size() const override { return window; }
    [[nodiscard]] Charset charset() const override { return Charset::Utf8; }
    void show(const Canvas& canvas) override { screens.push_back(canvas.text()); }
    void redraw() override { ++redraws; }
    void copy(const std::string& text) override { copied = text; }
    Event wait(std::optional<Clock::Time> until, const ReadyFds& /*ready*/) override {
        deadlines.push_back(until);
        if (script_.empty()) return {Event::Kind::Quit, {}};
        const Event event = script_.front();
        script_.pop_front();
        if (event.kind == Event::Kind::Timeout && until) clock_.sleep_until(*until);
        return event;
    }

    Size window{80, 24};
    int redraws = 0;
    std::string copied;
    std::vector<std::string> screens;
    std::vector<std::optional<Clock::Time>> deadlines;

private:
    FakeClock& clock_;
    std::deque<Event> script_;
};

/// Knows the cgroups that a test says; others are called by their paths.
class FakeCgroups final : public CgroupNames {
public:
    void call(const std::string& path, const std::string& name) { known_[path] = name; }
    const std::string& name(const std::string& path) override {
        ++asked;
        return known_.try_emplace(path, path).first->second;
    }

    int asked = 0;

private:
    std::map<std::string, std::string> known_;
};

/// Calls them "user-UID": before that by the number, until they are waited for.
class LateUsers final : public Users {
public:
    const std::string& name(std::uint32_t uid) override {
        asked.insert(uid);
        name_ = (come ? "user-" : "") + std::to_string(uid);
        return name_;
    }
    [[nodiscard]] bool known(std::uint32_t uid) const override {
        return come && asked.contains(uid);
    }
    bool collect() override {
        const bool now = ++collected == comes_at;
        come = come || now;
        return now;
    }
    std::size_t wait(std::chrono::milliseconds patience) override {
        waited.push_back(patience);
        come = come || answers;
        return come ? 0 : asked.size();
    }

    bool come = false;
    bool answers = true;  ///< when waited for
    int collected = 0;
    int comes_at = 0;  ///< with which call of collect(); 0: with none
    std::set<std::uint32_t> asked;
    std::vector<std::chrono::milliseconds> waited;

private:
    std::string name_;
};

/// Has the names of one stack, or gives one for all.
class OneStack final : public UserStacks {
public:
    explicit OneStack(const UserFrame& frame, std::optional<StackId> only = std::nullopt,
                      std::size_t own = UserStack::kNone)
        : only_(only) {
        stack_.frames = {std::make_shared<const UserFrame>(frame)};
        stack_.own = own;
    }
    void want(const Snapshot& /*snapshot*/) override {}
    bool collect() override { return false; }
    void want_live(const Task& /*task*/) override {}
    [[nodiscard]] int ready_fd() const override { return -1; }
    [[nodiscard]] const UserStack* find(const StackId& id) const override {
        return !only_ || id == *only_ ? &stack_ : nullptr;
    }
    [[nodiscard]] const LiveNames* find_live(const Task& /*task*/) const override {
        return nullptr;
    }

private:
    UserStack stack_;
    std::optional<StackId> only_;
};

}  // namespace lattop::test
