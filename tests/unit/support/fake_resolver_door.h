// SPDX-License-Identifier: GPL-2.0-or-later
//
// A module for resolvers: it misses what it is told to and keeps what it is taught.
// Used by resolver_test and resolver_worker_test.
#pragma once

#include <sys/eventfd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lattop/resolver_door.h"
#include "lattop/source/error.h"
#include "tests/unit/support/child.h"
#include "unwind/unique_fd.h"

namespace lattop::test {

/// A program that says so many lines and then waits, and is to be resolved.
inline const std::string kResolvedProgram = std::string(LATTOP_TEST_PROGRAMS) + "/stack_O2";
constexpr int kResolvedLines = 13;

/// Where the thread of the child that waits is asleep, as the module would miss it.
lt_miss miss_of(const Child& child);

class FakeDoor final : public ResolverDoor {
public:
    struct Lesson {
        lt_miss miss;
        std::vector<lt_row> rows;
        std::vector<lt_row_range> ranges;
    };

    ~FakeDoor() override {
        if (destroyed) destroyed();
    }
    std::vector<lt_miss> take() override {
        const std::lock_guard guard(lock);
        ++takes;
        fail_in_passing();
        eventfd_t ignored = 0;
        ::eventfd_read(ready_.get(), &ignored);
        if (fail) throw Error("the module is broken");
        if (gone) throw NoModuleError("the module was unloaded", "");
        return std::exchange(misses, {});
    }
    bool reopen() override {
        const std::lock_guard guard(lock);
        ++looks_for_module;
        gone = gone && !loaded_again;
        introduced = false;
        return !gone;
    }
    std::vector<lt_miss> sleepers() override {
        const std::lock_guard guard(lock);
        fail_in_passing();
        if (std::exchange(introduced, true)) return {};
        return asleep;
    }
    int teach(const lt_miss& miss, std::span<const lt_row> rows,
              std::span<const lt_row_range> ranges) override {
        if (miss.tgid == keeper) keeps.get_future().wait();
        while (miss.tgid == burner && others == 0) {
        }
        const std::lock_guard guard(lock);
        if (fail) throw Error("the module is broken");
        lessons.push_back({miss, {rows.begin(), rows.end()}, {ranges.begin(), ranges.end()}});
        if (lessons.size() == gone_behind_lesson) gone = loaded_again = true;
        if (answers.empty()) return 0;
        const int answer = answers.front();
        answers.pop_front();
        return answer;
    }
    [[nodiscard]] std::unique_ptr<ResolverDoor> another() const override;
    [[nodiscard]] int ready_fd() const override { return ready_.get(); }

    /// It was unloaded, and is loaded again by the time it is looked for, or never.
    void unload(bool load_again) {
        const std::lock_guard guard(lock);
        gone = true;
        loaded_again = load_again;
        ::eventfd_write(ready_.get(), 1);
    }
    void miss(const lt_miss& what) {
        const std::lock_guard guard(lock);
        misses.push_back(what);
        ::eventfd_write(ready_.get(), 1);
    }
    /// Rows of each lesson so far.
    std::vector<std::size_t> lesson_rows() {
        const std::lock_guard guard(lock);
        std::vector<std::size_t> rows;
        for (const Lesson& lesson : lessons)
            rows.push_back(lesson.rows.size());
        return rows;
    }
    std::size_t lesson_count() {
        const std::lock_guard guard(lock);
        return lessons.size();
    }

    std::mutex lock;
    std::atomic<std::uint32_t> keeper = 0;  // whose lesson takes until `keeps` is kept
    std::promise<void> keeps;
    std::atomic<std::uint32_t> burner = 0;  // whose lesson takes a CPU until there is another door
    std::function<void()> destroyed;
    std::vector<lt_miss> misses, asleep;
    std::vector<Lesson> lessons;
    std::deque<int> answers;
    std::size_t takes = 0;
    mutable std::atomic<int> others = 0;  // doors to it
    std::size_t looks_for_module = 0;
    bool fail = false;
    int passing = 0;  // so many reads fail in passing
    bool gone = false;
    bool loaded_again = false;
    bool introduced = false;  // once after each load: a slow machine comes to the next looks too
    std::size_t gone_behind_lesson = 0;  // unloaded once so many were taught, and loaded again

private:
    void fail_in_passing() {
        if (passing == 0) return;
        --passing;
        throw PassingError("no memory");
    }

    UniqueFd ready_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

}  // namespace lattop::test
