// SPDX-License-Identifier: GPL-2.0-or-later
//
// See objects.h.
#include "lattop/recording/objects.h"

#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "lattop/recording/bytes.h"
#include "lattop/source/error.h"
#include "unwind/byte_reader.h"

namespace lattop::recording {
namespace {

/// Tasks of which the last object is remembered: on a machine that forks, others come without
/// end. One that was forgotten is written again.
constexpr std::size_t kMaxTasks = std::size_t{1} << 16;

std::string object_item(const FoundObjects::Object& object) {
    const std::string_view text = std::string_view(object.text).substr(0, kMaxObjectText);
    std::string item;
    put(item, object.sleep.task.pid);
    put(item, object.sleep.task.tgid);
    put(item, object.sleep.task.start_ns);
    put(item, object.sleep.begin_ns);
    put(item, static_cast<std::uint32_t>(text.size()));
    item += text;
    std::string result;
    put(result, static_cast<std::uint32_t>(item.size()));
    return result + item;
}

}  // namespace

std::vector<std::byte> ObjectBook::news(const FoundObjects& found) {
    if (written_.size() > kMaxTasks) written_.clear();
    std::string payload;
    for (const FoundObjects::Object& object : found.objects) {
        const std::size_t text = std::hash<std::string>()(object.text);
        const auto [known, fresh] = written_.try_emplace(object.sleep.task);
        Written& last = known->second;
        if (!fresh && last.begin_ns == object.sleep.begin_ns && last.text == text) continue;
        const std::string item = object_item(object);
        last = {object.sleep.begin_ns, text};
        if (bytes_ + item.size() > most_) {
            ++left_out_;
            continue;
        }
        bytes_ += item.size();
        payload += item;
    }
    const auto bytes = std::as_bytes(std::span(payload));
    return {bytes.begin(), bytes.end()};
}

void RecordedObjects::expect(std::size_t bytes) const {
    if (bytes_ + bytes > most_)
        throw RecordingError(
            fmt::format("objects of {} bytes in all, {} is the most", bytes_ + bytes, most_));
}

void RecordedObjects::add(std::uint64_t time_ns, std::span<const std::byte> payload) {
    expect(payload.size());
    bytes_ += payload.size();
    ByteReader reader = reader_of(payload);
    while (!reader.empty()) {
        const auto bytes = reader.fixed<std::uint32_t>();
        const auto rest = reader.rest();
        reader.skip(bytes);
        if (!reader.ok()) throw RecordingError("objects: the last item is not whole");
        ByteReader item(rest.first(bytes));
        SleepId sleep;
        sleep.task.pid = item.fixed<std::uint32_t>();
        sleep.task.tgid = item.fixed<std::uint32_t>();
        sleep.task.start_ns = item.fixed<std::uint64_t>();
        sleep.begin_ns = item.fixed<std::uint64_t>();
        const auto length = item.fixed<std::uint32_t>();
        const auto text = item.rest();
        item.skip(length);
        if (!item.ok() || length > kMaxObjectText)
            throw RecordingError("objects: an item is shorter than its text, or too long");
        if (!objects_.add(time_ns, sleep,
                          std::string(reinterpret_cast<const char*>(text.data()), length)))
            throw RecordingError("objects: too many, or they go back in time");
    }
}

}  // namespace lattop::recording
