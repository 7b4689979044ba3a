// SPDX-License-Identifier: GPL-2.0-or-later
// lattop-poke wakers: who is told by whom a task was woken. Tasks of a few owners are woken from a
// read, each by somebody of its own: every kind of task that matrix has. To every pair of one who
// opens /proc/lattop and one who reads by that descriptor, who sees the woken task sees its waker
// where the kernel would let both see that one, under the number that it has for the reader; else
// that there was one, and nothing of it. So again when the wakers have exited.
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "poke.h"
#include "poke_channel.h"
#include "poke_crowd.h"
#include "poke_people.h"

namespace poke {
namespace {

/// Whose tasks are woken.
constexpr std::array<const char*, waiters_of_each> woken{"a", "ca-root", "cp-root"};

struct Waiter {
    uint32_t waker, which;
};

class Wakers {
public:
    Wakers(Checks& checks, const std::string& folder) : checks_(checks), crowd_(checks, folder) {
        std::vector<Sleeper> waiters;
        for (uint32_t waker = 0; waker < sleepers().size(); ++waker)
            for (uint32_t which = 0; which < waiters_of_each; ++which) {
                const std::string name = waiter_name(waker, which);
                const std::string path = folder + "/pipes/" + name;
                need(mkfifo(path.c_str(), 0666) == 0 && chmod(path.c_str(), 0666) == 0, path);
                waiters.push_back({begin_waiter(waker, which), name});
                waiters_[name] = {waker, which};
            }
        crowd_.find(waiters);
        crowd_.begin(Verb::spawn_waker);
        crowd_.ask_kernel();
    }

    void of_living() {
        for_all_pairs("alive", [&](bool named, bool allowed, bool, const std::string& who) {
            checks_.expect(named == allowed, "{} is {}, the kernel says {}", who,
                           named ? "named" : "hidden", allowed ? "yes" : "no");
        });
    }

    void of_exited() {
        const auto judge = [&](bool named, bool allowed, bool stays, const std::string& who) {
            checks_.expect(!named || allowed, "{} is named, and was not before", who);
            checks_.expect(named || !stays, "{} is not named any more", who);
        };
        crowd_.end();
        for_all_pairs("exited, not reaped",
                      [&](bool named, bool allowed, bool, const std::string& who) {
                          judge(named, allowed, false, who);
                      });
        crowd_.reap();
        for_all_pairs("exited", judge);
    }

private:
    const Person& begin_waiter(uint32_t waker, uint32_t which) {
        const auto all = sleepers();
        const auto person = std::find_if(all.begin(), all.end(), [&](const Person& one) {
            return one.name == std::string(woken[which]);
        });
        Request request{Verb::spawn_waiter, static_cast<uint32_t>(person - all.begin()), 2, {}};
        request.pids[0] = waker;
        request.pids[1] = which;
        static_cast<void>(ask(crowd_.host_of(*person), request));
        return *person;
    }

    /// Of whom nothing is to be said: what the sleeps were alone.
    static bool says_nothing(const lt_waker_rec& by) {
        lt_waker_rec nobody{};
        nobody.trace = nobody.waited_trace = LT_TRACE_OTHER;
        nobody.kind = LT_WAKER_HIDDEN;
        nobody.blocked_ns = by.blocked_ns;
        nobody.max_ns = by.max_ns;
        nobody.sleeps = by.sleeps;
        return std::memcmp(&nobody, &by, sizeof(by)) == 0;
    }

    template <typename Judge>
    void of_pair(const char* when, const Reader& opener, const Reader& reader, Judge&& judge) {
        const Answer answer = ask(reader.channel, {Verb::read_wakers, 0, 0, {}}, opener.fd);
        std::map<std::string, bool> seen;
        for (std::size_t at = 0; at + sizeof(SeenWaker) < answer.bytes.size();
             at += sizeof(SeenWaker)) {
            const auto one = answer.as<SeenWaker>(at);
            if (one.by.kind == LT_WAKER_INTERRUPT) continue;
            const std::string name(one.waiter, strnlen(one.waiter, sizeof(one.waiter)));
            const auto found = waiters_.find(name);
            if (found == waiters_.end()) throw std::runtime_error("no waiter " + name);
            const Sleeper& waker = crowd_.sleepers[found->second.waker];
            const std::string who = fmt::format(
                "{}: {}, who woke {} of {}, to {} by the descriptor of {}", when, waker.name, name,
                woken[found->second.which], reader.person.name, opener.person.name);
            const bool named = one.by.kind == LT_WAKER_TASK;
            seen[name] = true;
            (named ? n_named_ : n_hidden_) += 1;
            judge(named, crowd_.allowed(opener, reader, waker),
                  crowd_.stays_seen(opener, reader, waker), who);
            if (!named) {
                checks_.expect(says_nothing(one.by), "{} is hidden, and something is said", who);
                continue;
            }
            const uint32_t number = Crowd::number_of(waker, reader);
            checks_.expect(one.by.pid == number && one.by.tgid == number, "{} is {} of {}, not {}",
                           who, one.by.pid, one.by.tgid, number);
            checks_.expect(one.by.start_ns == waker.start_ns && one.by.trace != LT_TRACE_OTHER,
                           "{} is another, or woke from nowhere", who);
        }
        // Who are shown at all is for matrix to say; these are some of each
        const std::string name = reader.person.name;
        const bool sees_every = sees_all(opener) && sees_all(reader);
        const bool sees_some =
            &opener == &reader && (name == "a" || name == "root of a's container");
        const std::size_t least = sees_every  ? waiters_.size()
                                  : sees_some ? crowd_.sleepers.size()
                                              : 0;
        checks_.expect(seen.size() >= least, "{}: {} sees {} woken tasks, not {}", when, name,
                       seen.size(), least);
    }

    template <typename Judge>
    void for_all_pairs(const char* when, Judge&& judge) {
        n_named_ = n_hidden_ = 0;
        for (const Reader& opener : crowd_.readers)
            for (const Reader& reader : crowd_.readers)
                of_pair(when, opener, reader, judge);
        fmt::print("{}: {} openers and readers, {} wakers: {} times named, {} times hidden\n", when,
                   crowd_.readers.size() * crowd_.readers.size(), crowd_.sleepers.size(), n_named_,
                   n_hidden_);
        checks_.expect(n_named_ > 0 && n_hidden_ > 0, "{}: no test", when);
    }

    Checks& checks_;
    Crowd crowd_;
    std::map<std::string, Waiter> waiters_;
    uint64_t n_named_ = 0, n_hidden_ = 0;
};

}  // namespace

void wakers(Checks& checks, const std::string& folder) {
    Wakers wakers(checks, folder);
    wakers.of_living();
    wakers.of_exited();
}

}  // namespace poke
