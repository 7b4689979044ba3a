// SPDX-License-Identifier: GPL-2.0-or-later
//
// See recordings.h.
#include "tests/unit/support/recordings.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>

#include "lattop/recording/writer.h"

namespace lattop::test {

FoundObjects sample_objects(const Snapshot& snapshot) {
    static const std::map<std::uint32_t, std::string> texts = {
        {1200, "mutex buffer_lock, held by 1201 db-worker/1 (D)"},
        {1201, "fd 7: /srv/db/log"},
        {1202, "mutex buffer_lock, held by 1201 db-worker/1 (D)"},
        {2001, "fd 3: /tmp/\x1b[2J\xff"}};
    FoundObjects found{snapshot.header.time_ns, {}};
    for (const Task& task : snapshot.tasks)
        if (const auto sleep = sleep_of(snapshot, task); sleep && texts.contains(task.pid))
            found.objects.push_back({*sleep, texts.at(task.pid)});
    return found;
}

std::vector<std::byte> make_recording(std::size_t count,
                                      const std::function<SnapshotBuilder(std::size_t)>& make,
                                      bool ended) {
    std::vector<std::byte> bytes;
    SampleStacks stacks;
    SampleUsers users;
    SystemCgroups cgroups;
    recording::Writer writer(
        [&](std::span<const std::byte> more) {
            bytes.insert(bytes.end(), more.begin(), more.end());
        },
        {{"host", "sample"}, {"kernel", "6.1"}}, kRecordedAt);
    for (std::size_t i = 0; i < count; ++i) {
        const Snapshot snapshot = make(i).snapshot();
        writer.add(snapshot, {stacks, users, cgroups}, kRecordedAt + i * 2'000'000'000);
        writer.add_objects(sample_objects(snapshot), kRecordedAt + i * 2'000'000'000);
    }
    if (ended) writer.end(kRecordedAt + count * 2'000'000'000);
    return bytes;
}

std::vector<std::byte> sample_recording(std::size_t count, bool ended) {
    return make_recording(
        count, [](std::size_t i) { return sample_machine(10 + 2 * i); }, ended);
}

recording::ReadAt read_from(std::vector<std::byte> bytes) {
    const auto kept = std::make_shared<std::vector<std::byte>>(std::move(bytes));
    return [kept](std::uint64_t offset, std::span<std::byte> into) -> std::size_t {
        if (offset >= kept->size()) return 0;
        const std::size_t n = std::min<std::size_t>(into.size(), kept->size() - offset);
        std::memcpy(into.data(), kept->data() + offset, n);
        return n;
    };
}

void write_file(const std::string& path, const std::vector<std::byte>& bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

}  // namespace lattop::test
