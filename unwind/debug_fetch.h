// SPDX-License-Identifier: GPL-2.0-or-later
//
// Debug files from a debuginfod server, fetched in the background. Asked by the
// symbolizer, whose caller asks again later; the screen shows how far it is.
// There is one only where the environment names a server.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "unwind/bounded_cache.h"
#include "unwind/unique_fd.h"

namespace lattop {

/// Told how many bytes of how many there are; false to give up.
using FetchProgress = std::function<bool(long done, long all)>;

/// Fetches the debug file of a build id (lower-case hex); no descriptor where
/// there is none. May take long.
using Fetcher = std::function<UniqueFd(const std::string& build_id, const FetchProgress&)>;

class DebugFetch {
public:
    enum class State {
        Waiting,  ///< asked for
        Here,     ///< take() it
        None,     ///< no server has it
    };

    explicit DebugFetch(Fetcher fetcher);
    DebugFetch(const DebugFetch&) = delete;
    DebugFetch& operator=(const DebugFetch&) = delete;

    /// Does not wait for a server: the thread is left behind then.
    ~DebugFetch();

    /// Asks for the debug file of a build id, once; `label` is its file's name,
    /// for people.
    State want(const std::string& build_id, const std::string& label);

    /// The file, where want() said that it is here; once.
    UniqueFd take(const std::string& build_id);

    /// One line while something is fetched: "debuginfod: libc.so.6 34%, 3 more
    /// to fetch"; "" otherwise.
    [[nodiscard]] std::string progress() const;

private:
    struct Result {
        State state = State::Waiting;
        UniqueFd file{};
    };
    struct Wanted {
        std::string build_id, label;
    };
    /// Shared with the thread; `lock` guards all but the fetcher.
    struct Shared {
        Fetcher fetcher;
        mutable std::mutex lock;
        std::condition_variable changed;
        std::deque<Wanted> wanted;  // the first one is being fetched
        BoundedCache<std::string, Result> results;
        long done = 0, all = 0;  // bytes of the first one
        bool stop = false;
        bool stopped = false;

        Shared(Fetcher made, std::size_t budget) : fetcher(std::move(made)), results(budget) {}
    };

    static void work(const std::shared_ptr<Shared>& shared);

    std::shared_ptr<Shared> shared_;
    std::thread thread_;
};

/// The fetcher that asks the servers in DEBUGINFOD_URLS, by libdebuginfod;
/// nothing where the variable is empty or there is no such library.
Fetcher debuginfod_fetcher();

}  // namespace lattop
