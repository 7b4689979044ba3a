// SPDX-License-Identifier: GPL-2.0-or-later
//
// Debug files from a debuginfod server, fetched in the background. Asked by the
// symbolizer, whose caller asks again later; the screen shows how far it is.
// There is one only where the environment names a server.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "unwind/bounded_cache.h"
#include "unwind/unique_fd.h"

namespace lattop {

/// Told how many bytes of how many there are; false to give up.
using FetchProgress = std::function<bool(long done, long all)>;

struct Fetched {
    UniqueFd file{};    ///< none where no server has it
    int error = 0;      ///< an errno value where no server could say
    std::string why{};  ///< says more than that one's name; may be empty
};

/// Fetches the debug file of a build id (lower-case hex). May take long.
using Fetcher = std::function<Fetched(const std::string& build_id, const FetchProgress&)>;

class DebugFetch {
public:
    enum class State {
        Waiting,  ///< asked for
        Here,     ///< take() it
        None,     ///< no server has it
        Failed,   ///< no server could say; want() asks again after a while
    };
    using Clock = std::chrono::steady_clock;
    static constexpr Clock::duration kFirstRetry = std::chrono::seconds(30);

    /// A file whose fetch failed is asked for again after `retry`, then after
    /// twice as long, and so on, to a quarter of an hour.
    explicit DebugFetch(Fetcher fetcher, Clock::duration retry = kFirstRetry);
    DebugFetch(const DebugFetch&) = delete;
    DebugFetch& operator=(const DebugFetch&) = delete;

    /// Does not wait for a server: the thread is left behind then.
    ~DebugFetch();

    /// Asks for the debug file of a build id, once, and again where that failed;
    /// `label` is its file's name, for people.
    State want(const std::string& build_id, const std::string& label);

    /// The file, where want() said that it is here; once.
    UniqueFd take(const std::string& build_id);

    /// When want() asks again for one whose fetch failed; nothing of others.
    [[nodiscard]] std::optional<Clock::time_point> retry_at(const std::string& build_id) const;

    /// One line while something is fetched: "debuginfod: libc.so.6 34%, 3 more
    /// to fetch"; "debuginfod: libc.so.6: Connection refused" where one failed
    /// lately, or both; "" otherwise.
    [[nodiscard]] std::string progress() const;

private:
    struct Result {
        State state = State::Waiting;
        UniqueFd file{};
        Clock::duration wait{};        ///< from the last try to the next
        Clock::time_point retry_at{};  ///< where it failed
    };
    struct Wanted {
        std::string build_id, label;
    };
    /// The last one that failed, until it is fetched or nobody has asked for long.
    struct Failure {
        std::string build_id, text;
        Clock::time_point until{};
    };
    /// Shared with the thread; `lock` guards all but the fetcher.
    struct Shared {
        Fetcher fetcher;
        mutable std::mutex lock;
        std::condition_variable changed;
        std::deque<Wanted> wanted;  // the first one is being fetched
        BoundedCache<std::string, Result> results;
        long done = 0, all = 0;  // bytes of the first one
        long all_bytes = 0;      // of those before it
        bool too_large = false;  // the first one is
        Failure failure;
        Clock::duration retry;
        bool stop = false;
        bool stopped = false;

        Shared(Fetcher made, std::size_t budget, Clock::duration first_retry)
            : fetcher(std::move(made)), results(budget), retry(first_retry) {}
        void finish(Fetched fetched);
    };

    static void work(const std::shared_ptr<Shared>& shared);

    std::shared_ptr<Shared> shared_;
    std::thread thread_;
};

/// The fetcher that asks the servers in DEBUGINFOD_URLS, by libdebuginfod;
/// nothing where the variable is empty or there is no such library.
Fetcher debuginfod_fetcher();

}  // namespace lattop
