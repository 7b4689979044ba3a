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
#include <map>
#include <optional>
#include <stdexcept>

#include "kernel.h"
#include "poke.h"
#include "poke_channel.h"
#include "poke_people.h"

namespace poke {
namespace {

constexpr std::size_t n_spaces = 4;

struct Answer {
    std::vector<std::byte> bytes;
    int fd = -1;

    template <typename T>
    [[nodiscard]] T as(std::size_t at = 0) const {
        if (bytes.size() < at + sizeof(T)) throw std::runtime_error("a short answer");
        T value;
        std::memcpy(&value, bytes.data() + at, sizeof(T));
        return value;
    }
};

Answer ask(const Channel& channel, const Request& request, int fd = -1) {
    channel.send(std::as_bytes(std::span(&request, 1)), fd);
    Answer answer;
    if (!channel.receive(answer.bytes, answer.fd)) throw std::runtime_error("a process has gone");
    return answer;
}

struct Sleeper {
    const Person& person;
    std::string name;
    uint32_t pid = 0;        // in the first pid namespace
    uint32_t inner_pid = 0;  // in its own
    uint64_t start_ns = 0;
};

struct Reader {
    const Person& person;
    Channel channel;
    int fd = -1;                   // of /proc/lattop, opened by it
    std::vector<bool> may_read{};  // the kernel's answers, by sleeper
};

/// The last number on the line NSpid.
uint32_t inner_pid(uint32_t pid) {
    const auto status = oracle::read_file(fmt::format("/proc/{}/status", pid));
    const std::size_t at = status ? status->find("\nNSpid:") : std::string::npos;
    if (at == std::string::npos) throw std::runtime_error(fmt::format("no NSpid of {}", pid));
    const std::string line = status->substr(at + 7, status->find('\n', at + 7) - at - 7);
    return static_cast<uint32_t>(std::stoul(line.substr(line.find_last_of(" \t") + 1)));
}

class Matrix {
public:
    Matrix(Checks& checks, const std::string& folder) : checks_(checks) {
        for (std::size_t i = 0; i < n_spaces; ++i) {
            auto [ours, theirs] = Channel::pair();
            run_in(static_cast<Space>(i), folder + "/lattop-poke", "host", theirs.fd());
            hosts_.push_back(std::move(ours));
        }
        for (uint32_t i = 0; i < sleepers().size(); ++i)
            begin_sleeper(i);
        find_sleepers();
        for (uint32_t i = 0; i < readers().size(); ++i)
            begin_reader(i);
    }

    void of_living() {
        ask_kernel();
        for_all_pairs("alive", [&](const Reader& opener, const Reader& reader, const Sleeper& s,
                                   bool shown, const std::string& who) {
            checks_.expect(shown == allowed(opener, reader, s), "{} is {}, the kernel says {}", who,
                           shown ? "shown" : "not shown", shown ? "no" : "yes");
        });
    }

    /// A snapshot that one has taken, read on in by another: never what he would not be shown.
    void of_reading_on() {
        const Reader& root = readers_.front();
        uint32_t refused = 0;
        for (const Reader& taker : readers_)
            for (const Reader& reader : readers_) {
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
                   readers_.size() * readers_.size());
    }

    /// What needs privileges: for those alone who have them in the first namespaces, by a
    /// descriptor of one who has.
    void of_uses() {
        for (const Reader& opener : readers_)
            for (const Reader& reader : readers_) {
                // Of who opened a file his capabilities are known, not his pid namespace
                const bool all = (sees_all(opener) || is_root_in_pids(opener)) && sees_all(reader);
                Request request{Verb::use, 0, 1, {}};
                request.pids[0] = reader.person.space == Space::first ? sleepers_[0].pid : 1;
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
        for (const Reader& reader : readers_) {
            const bool may = resets(reader);
            checks_.expect((uses(reader, writable).write == EPERM) == !may,
                           "a write of {} by root's descriptor", reader.person.name);
            const Answer opened = ask(reader.channel, {Verb::open, O_WRONLY, 0, {}});
            if (opened.fd < 0) continue;
            checks_.expect((uses(readers_.front(), opened.fd).write == EPERM) == !may,
                           "a write of root by the descriptor of {}", reader.person.name);
            close(opened.fd);
        }
        close(writable);
    }

    void of_exited() {
        for (const Sleeper& s : sleepers_)
            kill(static_cast<pid_t>(s.pid), SIGKILL);
        usleep(100'000);
        for_all_pairs("exited, not reaped",
                      [&](const Reader& opener, const Reader& reader, const Sleeper& s, bool shown,
                          const std::string& who) {
                          checks_.expect(!shown || allowed(opener, reader, s),
                                         "{} is shown, and was not before", who);
                      });
        for (const Channel& host : hosts_)
            static_cast<void>(ask(host, {Verb::reap, 0, 0, {}}));
        for_all_pairs("exited", [&](const Reader& opener, const Reader& reader, const Sleeper& s,
                                    bool shown, const std::string& who) {
            checks_.expect(!shown || allowed(opener, reader, s), "{} is shown, and was not before",
                           who);
            if (stays_seen(opener, reader, s))
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
        for (const Reader& reader : readers_) {
            bool sees_old = false, sees_new = false;
            for (const Seen& seen : read(reader, reader)) {
                if (seen.pid != old.pid) continue;
                sees_old |= seen.start_ns == old.start_ns;
                sees_new |= seen.name() == "i-reborn";
            }
            const std::string name = reader.person.name;
            checks_.expect(sees_old == stays_seen(reader, reader, old),
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
    void begin_sleeper(uint32_t i) {
        const Person& person = sleepers()[i];
        static_cast<void>(ask(host_of(person), {Verb::spawn_sleeper, i, 0, {}}));
        sleepers_.push_back({person, fmt::format("i-{}", person.name)});
    }

    void begin_reader(uint32_t i) {
        const Person& person = readers()[i];
        auto [ours, theirs] = Channel::pair();
        static_cast<void>(ask(host_of(person), {Verb::spawn_reader, i, 0, {}}, theirs.fd()));
        readers_.push_back({person, std::move(ours)});
        const Answer opened = ask(readers_.back().channel, {Verb::open, O_RDONLY, 0, {}});
        checks_.expect(opened.as<int32_t>() == 0, "{} may not open", person.name);
        readers_.back().fd = opened.fd;
        const Answer to_write = ask(readers_.back().channel, {Verb::open, O_WRONLY, 0, {}});
        if (to_write.fd >= 0) close(to_write.fd);
    }

    [[nodiscard]] const Channel& host_of(const Person& person) const {
        return hosts_[static_cast<std::size_t>(person.space)];
    }

    [[nodiscard]] const Sleeper& sleeper(const std::string& name) const {
        return *std::find_if(sleepers_.begin(), sleepers_.end(),
                             [&](const Sleeper& s) { return s.name == name; });
    }

    /// Waits until all are asleep under their names.
    void find_sleepers() {
        const Descriptor descriptor(O_RDONLY);
        need(descriptor.query(plain_query()) == 0, "query");
        std::size_t found = 0;
        for (int tries = 0; found < sleepers_.size(); ++tries) {
            if (tries == 300) throw std::runtime_error("not every sleeper has come to sleep");
            usleep(50'000);
            const auto snapshot = descriptor.records();
            found = 0;
            for (Sleeper& s : sleepers_)
                for (uint32_t i = 0; i < snapshot.count(LT_SEC_TASKS); ++i) {
                    const lt_task_rec& task = snapshot.task(i);
                    if (s.name.compare(0, LT_COMM_BYTES, task.comm,
                                       strnlen(task.comm, LT_COMM_BYTES)) ||
                        !(task.flags & LT_T_ASLEEP))
                        continue;
                    s.pid = task.pid;
                    s.start_ns = task.start_ns;
                    s.inner_pid = inner_pid(task.pid);
                    ++found;
                }
        }
    }

    /// Asked once, of people who do not change: it holds while the sleepers live.
    void ask_kernel() {
        Request request{Verb::may_read, 0, 0, {}};
        for (const Sleeper& s : sleepers_)
            request.pids[request.n_pids++] = s.pid;
        uint32_t yes = 0, no = 0;
        for (Reader& reader : readers_) {
            const Answer answer = ask(reader.channel, request);
            for (std::size_t i = 0; i < sleepers_.size(); ++i) {
                const auto error = answer.as<int32_t>(i * sizeof(int32_t));
                checks_.expect(error == 0 || error == EACCES, "{}, maps of {}: {}",
                               reader.person.name, sleepers_[i].name, std::strerror(error));
                reader.may_read.push_back(error == 0);
                (error == 0 ? yes : no) += 1;
            }
        }
        checks_.expect(yes > readers_.size() && no > readers_.size(),
                       "the kernel says yes {} times and no {} times: no test", yes, no);
    }

    [[nodiscard]] bool allowed(const Reader& opener, const Reader& reader, const Sleeper& s) const {
        const auto i = static_cast<std::size_t>(&s - sleepers_.data());
        return opener.may_read[i] && reader.may_read[i] && has_number(reader, s);
    }

    [[nodiscard]] bool sees_no_less(const Reader& reader, const Reader& taker) const {
        if (sees_all(taker) && !sees_all(reader)) return false;
        return std::ranges::all_of(sleepers_, [&](const Sleeper& s) {
            return !allowed(taker, taker, s) ||
                   (allowed(reader, reader, s) && reader.person.space == taker.person.space);
        });
    }

    static bool has_number(const Reader& reader, const Sleeper& s) {
        return reader.person.space == Space::first || reader.person.space == s.person.space;
    }

    static Uses uses(const Reader& reader, int fd) {
        return ask(reader.channel, {Verb::use, 0, 1, {}}, fd).as<Uses>();
    }

    static bool resets(const Reader& reader) {
        return is_root(reader) || is_root_in_pids(reader);
    }

    static bool is_root(const Reader& reader) {
        const std::string name = reader.person.name;
        return name == "root" || name == "root with a's fsuid" || name == "setuid program of a" ||
               name == "root without CAP_SYS_PTRACE";
    }

    static bool is_root_in_pids(const Reader& reader) {
        return reader.person.name == std::string("root in a pid namespace");
    }

    static bool sees_all(const Reader& reader) {
        const std::string name = reader.person.name;
        return name == "root" || name == "root with a's fsuid" || name == "setuid program of a";
    }

    /// Those who were nothing but their owner's are his when they have ended; all is root's.
    [[nodiscard]] bool stays_seen(const Reader& opener, const Reader& reader,
                                  const Sleeper& s) const {
        if (sees_all(opener) && sees_all(reader)) return true;
        const bool plain = s.name == "i-a" || s.name == "i-b" || s.name == "i-a-group";
        return plain && !sees_all(opener) && !is_root_in_pids(opener) && !sees_all(reader) &&
               reader.person.space == Space::first && allowed(opener, reader, s);
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
        for (const Reader& opener : readers_)
            for (const Reader& reader : readers_) {
                const auto seen = read(opener, reader);
                for (const Sleeper& s : sleepers_) {
                    const auto found = std::find_if(seen.begin(), seen.end(), [&](const Seen& one) {
                        return one.start_ns == s.start_ns && one.name() == s.name;
                    });
                    const bool shown = found != seen.end();
                    (shown ? n_shown : n_hidden) += 1;
                    judge(opener, reader, s, shown,
                          fmt::format("{}: {} to {} by the descriptor of {}", when, s.name,
                                      reader.person.name, opener.person.name));
                    const uint32_t number =
                        reader.person.space == Space::first ? s.pid : s.inner_pid;
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
                   readers_.size() * readers_.size(), sleepers_.size(), n_shown, n_hidden);
    }

    Checks& checks_;
    std::vector<Channel> hosts_;
    std::vector<Sleeper> sleepers_;
    std::vector<Reader> readers_;
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
