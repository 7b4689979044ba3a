// SPDX-License-Identifier: GPL-2.0-or-later
//
// A C++ program with threads, built as a distribution builds: -O2, no frame
// pointers. Workers wait for jobs on a condition variable, take turns at a
// mutex, and nap in a job that a std::function holds. Runs until it is killed.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

namespace {

class Workers {
public:
    explicit Workers(int count) {
        for (int i = 0; i < count; ++i)
            threads_.emplace_back([this] { work(); });
    }
    void post(std::function<void()> job) {
        const std::lock_guard lock(mutex_);
        jobs_.push_back(std::move(job));
        posted_.notify_one();
    }

private:
    [[noreturn]] void work() {
        for (;;) {
            std::unique_lock lock(mutex_);
            posted_.wait(lock, [this] { return !jobs_.empty(); });
            const auto job = std::move(jobs_.front());
            jobs_.pop_front();
            lock.unlock();
            job();
        }
    }

    std::mutex mutex_;
    std::condition_variable posted_;
    std::deque<std::function<void()>> jobs_;
    std::vector<std::thread> threads_;
};

std::mutex turn;

void nap(int ms) {
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

}  // namespace

int main() {
    std::puts("four workers nap 2 ms a job, one at a time at every third");
    std::fflush(stdout);
    Workers workers(4);
    for (int i = 0;; ++i) {
        std::promise<void> done;
        workers.post([&done, i] {
            if (i % 3 == 0) {
                const std::lock_guard mine(turn);
                nap(2);
            } else {
                nap(2);
            }
            done.set_value();
        });
        workers.post([] { const std::lock_guard mine(turn); nap(1); });
        done.get_future().wait();
    }
}
