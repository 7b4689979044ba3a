// SPDX-License-Identifier: GPL-2.0-or-later
// lattop-poke hold: descriptors that outlive the module. Some lie still, with a snapshot half read,
// or in an epoll(7); some are read, polled and mapped all the time by threads while the module
// goes, and one thread is in a poll(2) that nothing ends, another waits for misses.
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "poke.h"
#include "poke_people.h"

namespace poke {
namespace {

/// Closed in the end.
struct Fd {
    int fd;
    explicit Fd(int from, const char* what) : fd(from) { need(fd >= 0, what); }
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    ~Fd() { close(fd); }
};

/// Those that are ready at once, of what an epoll has; -1: an error.
int ready(const Fd& epoll) {
    std::array<epoll_event, 4> events{};
    return epoll_wait(epoll.fd, events.data(), events.size(), 0);
}

void watch(const Fd& epoll, const Descriptor& descriptor) {
    epoll_event event{};
    event.events = EPOLLIN;
    need(epoll_ctl(epoll.fd, EPOLL_CTL_ADD, descriptor.fd(), &event) == 0, "EPOLL_CTL_ADD");
}

/// A page of it, for as long as this lives, where it lets itself be mapped.
class Mapping {
public:
    explicit Mapping(const Descriptor& descriptor)
        : page_(mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor.fd(), 0)) {}
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping() {
        if (is_there()) munmap(page_, bytes);
    }
    [[nodiscard]] bool is_there() const { return page_ != MAP_FAILED; }

private:
    static constexpr size_t bytes = 4096;
    void* page_;
};

/// What the threads found, which end by the error that the unloading gives them, or are told to.
struct Found {
    std::atomic<uint64_t> reads, polls, invalid;
    std::atomic<unsigned> readers_gone;
    std::atomic<int> without_misses, forever;
};

void read_until_it_fails(const Descriptor& descriptor, Found& found) {
    std::vector<char> buffer(1 << 16);
    while (pread(descriptor.fd(), buffer.data(), buffer.size(), 0) > 0)
        ++found.reads;
    ++found.readers_gone;
}

/// Whether it can be read is asked of the module, or of what is left of it.
void poll_and_map(const std::stop_token& stop, const Descriptor& descriptor, Found& found) {
    while (!stop.stop_requested()) {
        pollfd one{descriptor.fd(), POLLIN, 0};
        if (poll(&one, 1, 0) != 1 || (one.revents & POLLNVAL)) ++found.invalid;
        ++found.polls;
        const Mapping mapping(descriptor);
        usleep(100);
    }
}

/// For what it never has: 1 when the other one ended it.
void poll_forever(const Descriptor& descriptor, const Fd& end, Found& found) {
    std::array<pollfd, 2> both{{{descriptor.fd(), POLLPRI, 0}, {end.fd, POLLIN, 0}}};
    const int n = poll(both.data(), both.size(), -1);
    found.forever = n == 1 && both[1].revents == POLLIN ? 1 : -1;
}

/// As resolvers do, but leaves the misses to them. With which error that ends.
void wait_for_misses(const Descriptor& descriptor, const Fd& event, Found& found) {
    lt_misses misses{};
    misses.size = sizeof(misses);
    misses.event_fd = event.fd;
    uint64_t times = 0;
    while (ioctl(descriptor.fd(), LT_IOC_MISSES, &misses) == 0)
        if (read(event.fd, &times, sizeof(times)) != sizeof(times)) return;
    found.without_misses = errno;
}

void expect_nothing_works(Checks& checks, const Descriptor& descriptor) {
    std::array<char, 256> some{};
    for (const off_t offset : {0, 256}) {
        errno = 0;
        checks.expect(pread(descriptor.fd(), some.data(), some.size(), offset) < 0,
                      "a read at {} works without the module", offset);
    }
    checks.expect(descriptor.query(plain_query()) != 0, "an ioctl works without the module");
    checks.expect(!Mapping(descriptor).is_there(), "it can be mapped without the module");
}

}  // namespace

void hold(Checks& checks) {
    // What is not there yet, or no more, ends it here, before it says that it holds
    const Descriptor untouched(O_RDONLY), text(O_RDWR), records(O_RDONLY), busy(O_RDONLY),
        polled(O_RDONLY), resolver(O_RDONLY), registered(O_RDONLY);
    const Fd epoll(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    const Descriptor closed_before_it(O_RDWR);
    const Fd event(eventfd(0, EFD_CLOEXEC), "eventfd"), end(eventfd(0, EFD_CLOEXEC), "eventfd");
    const auto all = {&untouched, &text,     &records,    &busy,
                      &polled,    &resolver, &registered, &closed_before_it};
    std::array<char, 256> some{};
    lt_query query = plain_query();
    query.traces = LT_TRACES_ALL;
    need(records.query(query) == 0 && busy.query(query) == 0, "a good query");
    need(pread(text.fd(), some.data(), some.size(), 0) == ssize_t{some.size()}, "a text read");
    need(pread(records.fd(), some.data(), some.size(), 0) == ssize_t{some.size()}, "a record read");
    watch(epoll, registered);
    watch(epoll, closed_before_it);
    const int at_first = ready(epoll);
    const Mapping mapping(registered);

    Found found{};
    std::vector<std::jthread> readers;
    for (int i = 0; i < 2; ++i)
        readers.emplace_back([&] { read_until_it_fails(busy, found); });
    std::jthread waiter([&] { wait_for_misses(resolver, event, found); });
    std::jthread poller([&](const std::stop_token& stop) { poll_and_map(stop, polled, found); });
    std::jthread sleeper([&] { poll_forever(polled, end, found); });
    while (found.reads == 0 && found.readers_gone < readers.size())
        usleep(1000);

    if (found.reads > 0) fmt::print("held\n");
    std::fflush(stdout);
    std::string line;
    std::getline(std::cin, line);
    // They end by the error that the unloading gives them, else this hangs and the case fails
    for (std::jthread& reader : readers)
        reader.join();
    waiter.join();
    poller.request_stop();
    poller.join();
    const uint64_t one = 1;
    const int before = found.forever;
    need(write(end.fd, &one, sizeof(one)) == sizeof(one), "write to an eventfd");
    sleeper.join();
    checks.expect(found.reads > 0, "nothing was read while the module was there");
    checks.expect(found.without_misses == ENOTTY, "who waits for misses is told '{}'",
                  std::strerror(found.without_misses));
    checks.expect(found.polls > 0 && found.invalid == 0, "{} of {} polls are not answered",
                  found.invalid.load(), found.polls.load());
    checks.expect(before == 0 && found.forever == 1, "poll(2) for what never is has ended with {}",
                  before);
    checks.expect(at_first == 2 && ready(epoll) == 2, "epoll has {} that are ready, then {}",
                  at_first, ready(epoll));
    for (const Descriptor* descriptor : all)
        expect_nothing_works(checks, *descriptor);
    checks.expect(write(text.fd(), "reset", 5) < 0, "a write works without the module");
    fmt::print("{} reads and {} polls while it was unloaded, then {}\n", found.reads.load(),
               found.polls.load(), std::strerror(errno));
}

}  // namespace poke
