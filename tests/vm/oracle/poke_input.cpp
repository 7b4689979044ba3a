// SPDX-License-Identifier: GPL-2.0-or-later
// lattop-poke input: module/uapi/lattop.h says which errno each wrong use gets. After an error the
// descriptor's query is what it was.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "poke.h"

namespace poke {
namespace {

struct BadQuery {
    const char* what;
    int error;
    std::function<void(lt_query&)> spoil;
};

/// The call that gave `result` must have failed with `expected`, or worked where that is 0.
void expect_error(Checks& checks, const std::string& what, long result, int expected) {
    const int error = result < 0 ? errno : 0;
    checks.expect(error == expected, "{}: {}, not {}", what, std::strerror(error),
                  std::strerror(expected));
}

void* unmapped() {
    void* page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(page, 4096);
    return page;
}

const std::vector<BadQuery>& bad_queries() {
    static const std::vector<BadQuery> all{
        {"an unknown view", EINVAL, [](lt_query& q) { q.view = 2; }},
        {"a view of all ones", EINVAL, [](lt_query& q) { q.view = ~0U; }},
        {"an unknown sort key", EINVAL, [](lt_query& q) { q.sort = LT_SORT_NR; }},
        {"an unknown choice of traces", EINVAL, [](lt_query& q) { q.traces = LT_TRACES_NR; }},
        {"too high a limit", EINVAL, [](lt_query& q) { q.limit = LT_MAX_LIMIT + 1; }},
        {"an unknown flag", EINVAL, [](lt_query& q) { q.flags = LT_Q_ALL + 1; }},
        {"a size of 0", EINVAL, [](lt_query& q) { q.size = 0; }},
        {"a size of 4", EINVAL, [](lt_query& q) { q.size = 4; }},
        {"a size that ends within a field", EINVAL, [](lt_query& q) { q.size -= 4; }},
        {"a size beyond all reason", EINVAL, [](lt_query& q) { q.size = ~0U; }},
        {"too many pids", E2BIG, [](lt_query& q) { q.n_pids = LT_MAX_PIDS + 1; }},
        {"more pids than fit into 32 bits of bytes", E2BIG,
         [](lt_query& q) { q.n_pids = 0x40000001; }},
        {"pids at NULL", EFAULT, [](lt_query& q) { q.n_pids = 1; }},
        {"pids at an unmapped page", EFAULT,
         [](lt_query& q) {
             q.n_pids = LT_MAX_PIDS;
             q.pids = reinterpret_cast<uintptr_t>(unmapped());
         }},
        {"pids at a kernel address", EFAULT,
         [](lt_query& q) {
             q.n_pids = 1;
             q.pids = 0xffffffff81000000;
         }},
    };
    return all;
}

/// What a query with fields of a newer version gets: refused when they say something.
void check_newer_query(Checks& checks, const Descriptor& descriptor) {
    struct Newer {
        lt_query query;
        uint64_t more;
    } newer{plain_query(), 0};
    newer.query.size = sizeof(newer);
    expect_error(checks, "a newer query that says nothing new",
                 ioctl(descriptor.fd(), LT_IOC_QUERY, &newer), 0);
    newer.more = 1;
    expect_error(checks, "a newer query with a new field set",
                 ioctl(descriptor.fd(), LT_IOC_QUERY, &newer), E2BIG);
}

void check_ioctls(Checks& checks) {
    const Descriptor descriptor(O_RDONLY);
    lt_query good = plain_query();
    good.sort = LT_SORT_PID;
    good.limit = 3;
    checks.expect(descriptor.query(good) == 0, "a good query is refused");
    for (const BadQuery& bad : bad_queries()) {
        lt_query query = good;
        query.sort = LT_SORT_BLOCKED;
        query.limit = 5;
        bad.spoil(query);
        const int error = descriptor.query(query);
        checks.expect(error == bad.error, "{}: {}, not {}", bad.what, std::strerror(error),
                      std::strerror(bad.error));
        const auto snapshot = descriptor.records();
        checks.expect(snapshot.count(LT_SEC_TASKS) == 3 &&
                          snapshot.task(0).pid < snapshot.task(1).pid &&
                          snapshot.task(1).pid < snapshot.task(2).pid,
                      "{}: the query before is not what it was", bad.what);
    }
    for (const unsigned long number : {0UL, LT_IOC_QUERY + 100UL, LT_IOC_QUERY ^ (1UL << 30),
                                       LT_IOC_QUERY ^ (1UL << 8), 0x5401UL})
        expect_error(checks, fmt::format("ioctl {:#x}", number),
                     ioctl(descriptor.fd(), number, &good), ENOTTY);
    expect_error(checks, "a query at NULL", ioctl(descriptor.fd(), LT_IOC_QUERY, nullptr), EFAULT);
    expect_error(checks, "a query at an unmapped page",
                 ioctl(descriptor.fd(), LT_IOC_QUERY, unmapped()), EFAULT);
    check_newer_query(checks, descriptor);
}

void check_reads(Checks& checks) {
    const Descriptor descriptor(O_RDONLY);
    const int fd = descriptor.fd();
    std::array<char, 64> some{};
    expect_error(checks, "a read into an unmapped page", pread(fd, unmapped(), 64, 0), EFAULT);
    checks.expect(pread(fd, some.data(), some.size(), 0) == 64 && some[0] == '#',
                  "a read after a failed one");
    checks.expect(pread(fd, some.data(), some.size(), 1L << 40) == 0,
                  "a read far behind the end is not at the end");
    expect_error(checks, "a read at -1", pread(fd, some.data(), some.size(), -1), EINVAL);
    checks.expect(pread(fd, some.data(), 0, 0) == 0, "a read of nothing");
}

void check_writes(Checks& checks) {
    const Descriptor descriptor(O_RDWR);
    const int fd = descriptor.fd();
    const std::string long_word(1 << 16, 'r');
    const auto since = [&] { return descriptor.records().header().since_ns; };
    checks.expect(descriptor.query(plain_query()) == 0, "a good query is refused");
    const uint64_t before = since();
    for (const std::string& word :
         {std::string("rese"), std::string("resett"), std::string("RESET"), std::string("x"),
          std::string("\n"), std::string("reset reset"), std::string("reset\0x", 7),
          std::string(7, '\0'), long_word})
        expect_error(checks, fmt::format("writing {} bytes '{}'", word.size(), word.substr(0, 12)),
                     write(fd, word.data(), word.size()), EINVAL);
    expect_error(checks, "writing from an unmapped page", write(fd, unmapped(), 5), EFAULT);
    checks.expect(since() == before, "a bad write has reset the figures");
    expect_error(checks, "reset", write(fd, "reset\n", 6), 0);
    checks.expect(since() > before, "reset does not move since_ns");
}

}  // namespace

void input(Checks& checks) {
    check_ioctls(checks);
    check_reads(checks);
    check_writes(checks);
    void* map = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, Descriptor(O_RDONLY).fd(), 0);
    checks.expect(map == MAP_FAILED, "it can be mapped");
}

}  // namespace poke
