// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/recording/objects.h"

#include <map>
#include <string>

#include "lattop/recording/reader.h"
#include "lattop/source/error.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/recordings.h"

namespace lattop::test {
namespace {

using recording::ObjectBook;
using recording::RecordedObjects;

constexpr TaskId kWorker{LT_KIND_TASK, 7, 6, 1000};

FoundObjects one(std::uint64_t time_ns, std::uint64_t begin_ns, std::string text) {
    return {time_ns, {{{kWorker, begin_ns}, std::move(text)}}};
}

std::vector<std::byte> bytes_of(const std::vector<unsigned char>& numbers) {
    const auto bytes = std::as_bytes(std::span(numbers));
    return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("an object is written as it is drawn") {
    const std::vector<unsigned char> drawn = {
        0x28, 0, 0,   0,   7,   0,   0,    0,    6,    0,   0,   0,   0xe8, 3,  0,
        0,    0, 0,   0,   0,   0,   0xca, 0x9a, 0x3b, 0,   0,   0,   0,    12, 0,
        0,    0, 'f', 'd', ' ', '3', ':',  ' ',  '/',  't', 'm', 'p', '/',  'a'};
    CHECK(ObjectBook().news(one(2'000'000'000, 1'000'000'000, "fd 3: /tmp/a")) == bytes_of(drawn));
}

TEST_CASE("an object is written once, and again where it has changed or another sleep begun") {
    ObjectBook book;
    RecordedObjects read;
    const auto news = [&](const FoundObjects& found) {
        const auto payload = book.news(found);
        read.add(found.time_ns, payload);
        return !payload.empty();
    };
    CHECK(news(one(2000, 1000, "mutex a, held by 8 x (S)")));
    CHECK(!news(one(3000, 1000, "mutex a, held by 8 x (S)")));
    CHECK(news(one(4000, 1000, "mutex a, held by 9 y (S)")));
    CHECK(news(one(5000, 4500, "mutex a, held by 9 y (S)")));
    CHECK(!news({6000, {}}));
    const auto text = [&](std::uint64_t begin_ns, std::uint64_t time_ns) {
        const std::string* found = read.objects().find({kWorker, begin_ns}, time_ns);
        return found == nullptr ? "-" : *found;
    };
    CHECK(text(1000, 3000) == "mutex a, held by 8 x (S)");
    CHECK(text(1000, 4000) == "mutex a, held by 9 y (S)");
    CHECK(text(4500, 5000) == "mutex a, held by 9 y (S)");
    CHECK(text(4600, 5000) == "-");
    CHECK(book.left_out() == 0);
}

TEST_CASE("a recording says of each snapshot what its sleepers waited for") {
    constexpr std::size_t kCount = 40;
    recording::Reader reader(read_from(sample_recording(kCount)), "r");
    CHECK(reader.damage().empty());
    for (std::size_t i = 0; i < kCount; ++i) {
        const Snapshot snapshot = reader.snapshot(i);
        std::map<std::uint32_t, std::string> said;
        for (const Task& task : snapshot.tasks)
            if (const std::string* object = reader.names().object(snapshot, task))
                said[task.pid] = *object;
        CHECK(said == std::map<std::uint32_t, std::string>{
                          {1200, "mutex buffer_lock, held by 1201 db-worker/1 (D)"},
                          {1201, "fd 7: /srv/db/log"},
                          {1202, "mutex buffer_lock, held by 1201 db-worker/1 (D)"},
                          {2001, "fd 3: /tmp/\x1b[2J\xff"}});
    }
}

TEST_CASE("objects that have no room are counted, texts that are too long cut") {
    ObjectBook book(200);
    RecordedObjects read(200);
    for (std::uint64_t n = 1; n <= 5; ++n) {
        const auto payload = book.news(one(n * 1000, n * 1000 - 1, std::string(20, 'x')));
        read.expect(payload.size());
        read.add(n * 1000, payload);
    }
    CHECK(book.left_out() == 2);
    CHECK(read.objects().find({kWorker, 2999}, 3000) != nullptr);
    CHECK(read.objects().find({kWorker, 3999}, 4000) == nullptr);
    CHECK_THROWS_WITH(read.expect(100), has_text("in all, 200 is the most"));

    RecordedObjects cut;
    cut.add(2, ObjectBook().news(one(2, 1, std::string(recording::kMaxObjectText + 5, 'x'))));
    CHECK(cut.objects().find({kWorker, 1}, 2)->size() == recording::kMaxObjectText);
}

TEST_CASE("what a later version says more of an object is stepped over") {
    auto payload = ObjectBook().news(one(2000, 1000, "fd 3: /tmp/a"));
    payload.insert(payload.end(), 8, std::byte{0xee});
    payload[0] = std::byte{0x30};
    const auto next = ObjectBook().news(one(2000, 1500, "fd 4: /tmp/b"));
    payload.insert(payload.end(), next.begin(), next.end());
    RecordedObjects read;
    read.add(2000, payload);
    CHECK(*read.objects().find({kWorker, 1000}, 2000) == "fd 3: /tmp/a");
    CHECK(*read.objects().find({kWorker, 1500}, 2000) == "fd 4: /tmp/b");
}

TEST_CASE("damaged objects are refused; what stands before them counts") {
    const auto whole = ObjectBook().news(one(2000, 1000, "fd 3: /tmp/a"));
    auto two = whole;
    const auto next = ObjectBook().news(one(2000, 1500, "fd 4: /tmp/b"));
    two.insert(two.end(), next.begin(), next.end());
    for (std::size_t end = 1; end < two.size(); ++end) {
        if (end == whole.size()) continue;
        INFO("cut at " << end);
        RecordedObjects read;
        CHECK_THROWS_AS(read.add(2000, std::span(two).first(end)), RecordingError);
        CHECK((read.objects().find({kWorker, 1000}, 2000) != nullptr) == (end > whole.size()));
    }
    const auto refuses = [](std::vector<std::byte> bytes, std::size_t at, unsigned char value) {
        bytes[at] = std::byte{value};
        CHECK_THROWS_AS(RecordedObjects().add(2000, bytes), RecordingError);
    };
    refuses(whole, 0, 0x27);   // shorter than its text
    refuses(whole, 0, 0);      // than all
    refuses(whole, 3, 0xff);   // longer than the payload
    refuses(whole, 31, 0xff);  // a text longer than the item
    RecordedObjects read;
    read.add(2000, whole);
    CHECK_THROWS_WITH(read.add(1000, whole), has_text("back in time"));
}

}  // namespace lattop::test
