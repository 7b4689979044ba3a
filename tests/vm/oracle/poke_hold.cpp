// SPDX-License-Identifier: GPL-2.0-or-later
// lattop-poke hold: descriptors that outlive the module. Some lie still, with a snapshot half read,
// and some are read all the time by threads while the module goes.
#include <fcntl.h>
#include <sys/ioctl.h>
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

namespace poke {

void hold(Checks& checks) {
    const Descriptor untouched(O_RDONLY), text(O_RDWR), records(O_RDONLY), busy(O_RDONLY);
    std::array<char, 256> some{};
    lt_query query = plain_query();
    query.traces = LT_TRACES_ALL;
    checks.expect(records.query(query) == 0 && busy.query(query) == 0, "a good query is refused");
    checks.expect(pread(text.fd(), some.data(), some.size(), 0) == ssize_t{some.size()},
                  "a text read");
    checks.expect(pread(records.fd(), some.data(), some.size(), 0) == ssize_t{some.size()},
                  "a record read");

    std::atomic<uint64_t> reads = 0;
    std::vector<std::thread> readers;
    for (int i = 0; i < 2; ++i)
        readers.emplace_back([&busy, &reads] {
            std::vector<char> buffer(1 << 16);
            while (pread(busy.fd(), buffer.data(), buffer.size(), 0) > 0)
                ++reads;
        });

    fmt::print("held\n");
    std::fflush(stdout);
    std::string line;
    std::getline(std::cin, line);
    // They end by the error that the unloading gives them, else this hangs and the case fails
    for (std::thread& reader : readers)
        reader.join();
    checks.expect(reads > 0, "nothing was read while the module was there");
    for (const Descriptor* descriptor : {&untouched, &text, &records, &busy}) {
        for (const off_t offset : {0, 256}) {
            errno = 0;
            checks.expect(pread(descriptor->fd(), some.data(), some.size(), offset) < 0,
                          "a read at {} works without the module", offset);
        }
        checks.expect(descriptor->query(query) != 0, "an ioctl works without the module");
    }
    checks.expect(write(text.fd(), "reset", 5) < 0, "a write works without the module");
    fmt::print("{} reads while it was unloaded, then {}\n", reads.load(), std::strerror(errno));
}

}  // namespace poke
