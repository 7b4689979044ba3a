// SPDX-License-Identifier: GPL-2.0-or-later
// See poke_crowd.h.
#include "poke_crowd.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <span>

#include "kernel.h"

namespace poke {
namespace {

constexpr std::size_t n_spaces = 4;

/// The last number on the line NSpid.
uint32_t inner_pid(uint32_t pid) {
    const auto status = oracle::read_file(fmt::format("/proc/{}/status", pid));
    const std::size_t at = status ? status->find("\nNSpid:") : std::string::npos;
    if (at == std::string::npos) throw std::runtime_error(fmt::format("no NSpid of {}", pid));
    const std::string line = status->substr(at + 7, status->find('\n', at + 7) - at - 7);
    return static_cast<uint32_t>(std::stoul(line.substr(line.find_last_of(" \t") + 1)));
}

bool has_number(const Reader& reader, const Sleeper& s) {
    return reader.person.space == Space::first || reader.person.space == s.person.space;
}

/// Finds it in the snapshot, asleep.
bool find_asleep(const oracle::Snapshot& snapshot, Sleeper& s) {
    for (uint32_t i = 0; i < snapshot.count(LT_SEC_TASKS); ++i) {
        const lt_task_rec& task = snapshot.task(i);
        if (s.name.compare(0, LT_COMM_BYTES, task.comm, strnlen(task.comm, LT_COMM_BYTES)) ||
            !(task.flags & LT_T_ASLEEP))
            continue;
        s.pid = task.pid;
        s.start_ns = task.start_ns;
        s.inner_pid = inner_pid(task.pid);
        return true;
    }
    return false;
}

}  // namespace

Answer ask(const Channel& channel, const Request& request, int fd) {
    try {
        channel.send(std::as_bytes(std::span(&request, 1)), fd);
        Answer answer;
        if (!channel.receive(answer.bytes, answer.fd)) throw std::runtime_error("it has gone");
        return answer;
    } catch (const std::exception& error) {
        throw std::runtime_error(fmt::format("who was asked to do {} for {}: {}",
                                             static_cast<int>(request.verb), request.number,
                                             error.what()));
    }
}

bool is_root_in_pids(const Reader& reader) {
    return reader.person.name == std::string("root in a pid namespace");
}

bool sees_all(const Reader& reader) {
    const std::string name = reader.person.name;
    return name == "root" || name == "root with a's fsuid" || name == "setuid program of a";
}

Crowd::Crowd(Checks& checks, const std::string& folder) : checks_(checks) {
    for (std::size_t i = 0; i < n_spaces; ++i) {
        auto [ours, theirs] = Channel::pair();
        run_in(static_cast<Space>(i), folder + "/lattop-poke", "host", theirs.fd());
        hosts_.push_back(std::move(ours));
    }
}

void Crowd::begin(Verb verb) {
    for (uint32_t i = 0; i < poke::sleepers().size(); ++i) {
        const Person& person = poke::sleepers()[i];
        static_cast<void>(ask(host_of(person), {verb, i, 0, {}}));
        sleepers.push_back({person, fmt::format("i-{}", person.name)});
    }
    find(sleepers);
    for (uint32_t i = 0; i < poke::readers().size(); ++i)
        begin_reader(i);
}

void Crowd::begin_reader(uint32_t i) {
    const Person& person = poke::readers()[i];
    auto [ours, theirs] = Channel::pair();
    static_cast<void>(ask(host_of(person), {Verb::spawn_reader, i, 0, {}}, theirs.fd()));
    readers.push_back({person, std::move(ours)});
    const Answer opened = ask(readers.back().channel, {Verb::open, O_RDONLY, 0, {}});
    checks_.expect(opened.as<int32_t>() == 0, "{} may not open", person.name);
    readers.back().fd = opened.fd;
    const Answer to_write = ask(readers.back().channel, {Verb::open, O_WRONLY, 0, {}});
    if (to_write.fd >= 0) close(to_write.fd);
}

const Channel& Crowd::host_of(const Person& person) const {
    return hosts_[static_cast<std::size_t>(person.space)];
}

void Crowd::find(std::vector<Sleeper>& asleep) const {
    const Descriptor descriptor(O_RDONLY);
    need(descriptor.query(plain_query()) == 0, "query");
    std::size_t found = 0;
    for (int tries = 0; found < asleep.size(); ++tries) {
        if (tries == 300) throw std::runtime_error("not every sleeper has come to sleep");
        usleep(50'000);
        const auto snapshot = descriptor.records();
        found = 0;
        for (Sleeper& s : asleep)
            found += find_asleep(snapshot, s);
    }
}

void Crowd::ask_kernel() {
    Request request{Verb::may_read, 0, 0, {}};
    for (const Sleeper& s : sleepers)
        request.pids[request.n_pids++] = s.pid;
    uint32_t yes = 0, no = 0;
    for (Reader& reader : readers) {
        const Answer answer = ask(reader.channel, request);
        for (std::size_t i = 0; i < sleepers.size(); ++i) {
            const auto error = answer.as<int32_t>(i * sizeof(int32_t));
            checks_.expect(error == 0 || error == EACCES, "{}, maps of {}: {}", reader.person.name,
                           sleepers[i].name, std::strerror(error));
            reader.may_read.push_back(error == 0);
            (error == 0 ? yes : no) += 1;
        }
    }
    checks_.expect(yes > readers.size() && no > readers.size(),
                   "the kernel says yes {} times and no {} times: no test", yes, no);
}

void Crowd::end() {
    for (const Sleeper& s : sleepers)
        kill(static_cast<pid_t>(s.pid), SIGKILL);
    usleep(100'000);
}

void Crowd::reap() const {
    for (const Channel& host : hosts_)
        static_cast<void>(ask(host, {Verb::reap, 0, 0, {}}));
}

bool Crowd::allowed(const Reader& opener, const Reader& reader, const Sleeper& s) const {
    const auto i = static_cast<std::size_t>(&s - sleepers.data());
    return opener.may_read[i] && reader.may_read[i] && has_number(reader, s);
}

bool Crowd::stays_seen(const Reader& opener, const Reader& reader, const Sleeper& s) const {
    if (sees_all(opener) && sees_all(reader)) return true;
    const bool plain = s.name == "i-a" || s.name == "i-b" || s.name == "i-a-group";
    return plain && !sees_all(opener) && !is_root_in_pids(opener) && !sees_all(reader) &&
           reader.person.space == Space::first && allowed(opener, reader, s);
}

uint32_t Crowd::number_of(const Sleeper& s, const Reader& reader) {
    return reader.person.space == Space::first ? s.pid : s.inner_pid;
}

}  // namespace poke
