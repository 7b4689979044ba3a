// SPDX-License-Identifier: GPL-2.0-or-later
//
// A C++ program with threads, built as a distribution builds: -O2, no frame
// pointers. Workers wait for jobs on a condition variable, take turns at a
// mutex, and nap in a job that a std::function holds. Runs until it is killed.
// cxx-workers [THREADS]
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
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

int main(int argc, char** argv) {
    const int threads = argc > 1 ? std::atoi(argv[1]) : 4;
    if (threads < 1 || threads > 10000) {
        std::fputs("usage: cxx-workers [THREADS]\n", stderr);
        return 2;
    }
    std::printf("%d workers nap 2 ms a job, one at a time at every third\n", threads);
    std::fflush(stdout);
    Workers workers(threads);
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
