// SPDX-License-Identifier: GPL-2.0-or-later
// lattop-poke matrix: who sees what, for every pair of one who opens /proc/lattop and one who reads
// by that descriptor, and every kind of task. The kernel's own answer at that moment is the oracle:
// both must pass PTRACE_MODE_READ_FSCREDS, which /proc/PID/cwd and maps ask, and it must have a
// number where the reader is. Then the tasks end, are reaped, and a number comes again: nobody may
// see what he could not see before, and who could, still does where lattop promises it.
#include <fcntl.h>
#include <linux/sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "poke.h"
#include "poke_channel.h"
#include "poke_crowd.h"
#include "poke_people.h"

namespace poke {
namespace {

class Matrix {
public:
    Matrix(Checks& checks, const std::string& folder) : checks_(checks), crowd_(checks, folder) {
        crowd_.begin(Verb::spawn_sleeper);
    }

    void of_living() {
        crowd_.ask_kernel();
        for_all_pairs("alive", [&](const Reader& opener, const Reader& reader, const Sleeper& s,
                                   bool shown, const std::string& who) {
            checks_.expect(shown == crowd_.allowed(opener, reader, s),
                           "{} is {}, the kernel says {}", who, shown ? "shown" : "not shown",
                           shown ? "no" : "yes");
        });
    }

    /// A snapshot that one has taken, read on in by another: never what he would not be shown.
    void of_reading_on() {
        const Reader& root = crowd_.readers.front();
        uint32_t refused = 0;
        for (const Reader& taker : crowd_.readers)
            for (const Reader& reader : crowd_.readers) {
                const auto begun = ask(taker.channel, {Verb::begin_reading, 0, 0, {}}, root.fd);
                checks_.expect(begun.as<int32_t>() == 0, "{} takes a snapshot: {}",
                               taker.person.name, std::strerror(begun.as<int32_t>()));
                const auto error =
                    ask(reader.channel, {Verb::read_on, 0, 0, {}}, root.fd).as<int32_t>();
                const std::string who = fmt::format("{} reads on in what {} has taken",
                                                    reader.person.name, taker.person.name);
                checks_.expect(error == 0 || error == EACCES, "{}: {}", who, std::strerror(error));
                checks_.expect(error != 0 || sees_no_less(reader, taker), "{}", who);
                checks_.expect(error == 0 || &reader != &taker, "{}: {}", who,
                               std::strerror(error));
                refused += error != 0;
            }
        fmt::print("reading on: refused to {} of {}\n", refused,
                   crowd_.readers.size() * crowd_.readers.size());
    }

    /// What needs privileges: for those alone who have them in the first namespaces, by a
    /// descriptor of one who has.
    void of_uses() {
        for (const Reader& opener : crowd_.readers)
            for (const Reader& reader : crowd_.readers) {
                // Of who opened a file his capabilities are known, not his pid namespace
                const bool all = (sees_all(opener) || is_root_in_pids(opener)) && sees_all(reader);
                Request request{Verb::use, 0, 1, {}};
                request.pids[0] = reader.person.space == Space::first ? crowd_.sleepers[0].pid : 1;
                const auto uses = ask(reader.channel, request, opener.fd).as<Uses>();
                const std::string who = fmt::format("{} by the descriptor of {}",
                                                    reader.person.name, opener.person.name);
                checks_.expect(uses.misses == (all ? 0 : EPERM), "misses for {}: {}", who,
                               std::strerror(uses.misses));
                checks_.expect(uses.teach == (all ? EINVAL : EPERM), "lessons of {}: {}", who,
                               std::strerror(uses.teach));
                checks_.expect((uses.registers == EPERM) == !all, "registers for {}: {}", who,
                               std::strerror(uses.registers));
                checks_.expect(uses.write == EBADF, "a write of {}: {}", who,
                               std::strerror(uses.write));
            }
        const int writable = open(LT_PROC_PATH, O_RDWR | O_CLOEXEC);
        need(writable >= 0, LT_PROC_PATH);
        for (const Reader& reader : crowd_.readers) {
            const bool may = resets(reader);
            checks_.expect((uses(reader, writable).write == EPERM) == !may,
                           "a write of {} by root's descriptor", reader.person.name);
            const Answer opened = ask(reader.channel, {Verb::open, O_WRONLY, 0, {}});
            if (opened.fd < 0) continue;
            checks_.expect((uses(crowd_.readers.front(), opened.fd).write == EPERM) == !may,
                           "a write of root by the descriptor of {}", reader.person.name);
            close(opened.fd);
        }
        close(writable);
    }

    void of_exited() {
        crowd_.end();
        for_all_pairs("exited, not reaped",
                      [&](const Reader& opener, const Reader& reader, const Sleeper& s, bool shown,
                          const std::string& who) {
                          checks_.expect(!shown || crowd_.allowed(opener, reader, s),
                                         "{} is shown, and was not before", who);
                      });
        crowd_.reap();
        for_all_pairs("exited", [&](const Reader& opener, const Reader& reader, const Sleeper& s,
                                    bool shown, const std::string& who) {
            checks_.expect(!shown || crowd_.allowed(opener, reader, s),
                           "{} is shown, and was not before", who);
            if (crowd_.stays_seen(opener, reader, s))
                checks_.expect(shown, "{} is not shown any more", who);
        });
    }

    /// b's process gets the number that a's had.
    void of_reborn() {
        const Sleeper& old = sleeper("i-a");
        auto pid = static_cast<pid_t>(old.pid);
        clone_args args{};
        args.exit_signal = SIGCHLD;
        args.set_tid = reinterpret_cast<uintptr_t>(&pid);
        args.set_tid_size = 1;
        const long child = syscall(SYS_clone3, &args, sizeof(args));
        need(child >= 0, "clone3 with set_tid");
        if (child == 0) {
            become_user(user_b);
            set_dumpable(true);
            sleep_as("i-reborn");
        }
        usleep(100'000);
        for (const Reader& reader : crowd_.readers) {
            bool sees_old = false, sees_new = false;
            for (const Seen& seen : read(reader, reader)) {
                if (seen.pid != old.pid) continue;
                sees_old |= seen.start_ns == old.start_ns;
                sees_new |= seen.name() == "i-reborn";
            }
            const std::string name = reader.person.name;
            checks_.expect(sees_old == crowd_.stays_seen(reader, reader, old),
                           "of two with one number {} sees the first: {}", name, sees_old);
            const bool may =
                ask(reader.channel, {Verb::may_read, 0, 1, {old.pid}}).as<int32_t>() == 0;
            checks_.expect(sees_new == (may && reader.person.space == Space::first),
                           "of two with one number {} sees the second: {}", name, sees_new);
        }
        kill(static_cast<pid_t>(child), SIGKILL);
        waitpid(static_cast<pid_t>(child), nullptr, 0);
    }

private:
    [[nodiscard]] const Sleeper& sleeper(const std::string& name) const {
        return *std::find_if(crowd_.sleepers.begin(), crowd_.sleepers.end(),
                             [&](const Sleeper& s) { return s.name == name; });
    }

    [[nodiscard]] bool sees_no_less(const Reader& reader, const Reader& taker) const {
        if (sees_all(taker) && !sees_all(reader)) return false;
        return std::ranges::all_of(crowd_.sleepers, [&](const Sleeper& s) {
            return !crowd_.allowed(taker, taker, s) ||
                   (crowd_.allowed(reader, reader, s) && reader.person.space == taker.person.space);
        });
    }

    static Uses uses(const Reader& reader, int fd) {
        return ask(reader.channel, {Verb::use, 0, 1, {}}, fd).as<Uses>();
    }

    static bool resets(const Reader& reader) { return is_root(reader) || is_root_in_pids(reader); }

    static bool is_root(const Reader& reader) {
        const std::string name = reader.person.name;
        return name == "root" || name == "root with a's fsuid" || name == "setuid program of a" ||
               name == "root without CAP_SYS_PTRACE";
    }

    std::vector<Seen> read(const Reader& opener, const Reader& reader) {
        const Answer answer = ask(reader.channel, {Verb::read, 0, 0, {}}, opener.fd);
        const auto reading = answer.as<Reading>();
        const std::string who =
            fmt::format("{} by the descriptor of {}", reader.person.name, opener.person.name);
        checks_.expect(reading.error == 0, "{}: {}", who, std::strerror(reading.error));
        checks_.expect(reading.same_as_text, "{}: text and records differ", who);
        checks_.expect(reading.matched_is_shown, "{}: the header counts others", who);
        std::vector<Seen> seen((answer.bytes.size() - sizeof(reading)) / sizeof(Seen));
        for (std::size_t i = 0; i < seen.size(); ++i)
            seen[i] = answer.as<Seen>(sizeof(reading) + i * sizeof(Seen));
        return seen;
    }

    template <typename Judge>
    void for_all_pairs(const char* when, Judge&& judge) {
        uint32_t n_shown = 0, n_hidden = 0;
        for (const Reader& opener : crowd_.readers)
            for (const Reader& reader : crowd_.readers) {
                const auto seen = read(opener, reader);
                for (const Sleeper& s : crowd_.sleepers) {
                    const auto found = std::find_if(seen.begin(), seen.end(), [&](const Seen& one) {
                        return one.start_ns == s.start_ns && one.name() == s.name;
                    });
                    const bool shown = found != seen.end();
                    (shown ? n_shown : n_hidden) += 1;
                    judge(opener, reader, s, shown,
                          fmt::format("{}: {} to {} by the descriptor of {}", when, s.name,
                                      reader.person.name, opener.person.name));
                    const uint32_t number = Crowd::number_of(s, reader);
                    if (shown)
                        checks_.expect(found->pid == number && found->tgid == number,
                                       "{} is {} of {} to {}, not {}", s.name, found->pid,
                                       found->tgid, reader.person.name, number);
                }
                if (reader.person.space == Space::first) continue;
                for (const Seen& one : seen)
                    checks_.expect(one.pid != 0 && one.pid < 1000,
                                   "{} in a pid namespace sees {} {}", reader.person.name, one.pid,
                                   one.name());
            }
        fmt::print("{}: {} openers and readers, {} tasks: {} times shown, {} times hidden\n", when,
                   crowd_.readers.size() * crowd_.readers.size(), crowd_.sleepers.size(), n_shown,
                   n_hidden);
    }

    Checks& checks_;
    Crowd crowd_;
};

}  // namespace

void matrix(Checks& checks, const std::string& folder) {
    Matrix matrix(checks, folder);
    matrix.of_living();
    matrix.of_reading_on();
    matrix.of_uses();
    matrix.of_exited();
    matrix.of_reborn();
}

}  // namespace poke
