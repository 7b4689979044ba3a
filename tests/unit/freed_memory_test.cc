// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/freed_memory.h"

#include <malloc.h>

#include <cstddef>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/support/catch.h"

namespace lattop::test {

#if !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)  // these have a malloc of theirs
/// Whether blocks of so many bytes are mapped by themselves, once the heap has no free room left
/// that holds one: what other tests freed serves the first of them.
bool mapped_by_themselves(std::size_t bytes) {
    constexpr std::size_t kFreeAtMost = std::size_t{512} << 20;
    std::vector<std::vector<char>> held;
    for (std::size_t taken = 0; taken < kFreeAtMost; taken += bytes) {
        const std::size_t before = mallinfo2().hblkhd;
        held.emplace_back(bytes, 'x');
        if (mallinfo2().hblkhd - before >= bytes) return true;
    }
    return false;
}

TEST_CASE("large blocks are mapped by themselves, also when larger ones were freed before") {
    give_back_large_blocks();
    CHECK(mapped_by_themselves(std::size_t{16} << 20));
    CHECK(mapped_by_themselves(std::size_t{1} << 20));
    CHECK(!mapped_by_themselves(std::size_t{64} << 10));
}

std::size_t resident_kib() {
    std::ifstream status("/proc/self/status");
    std::string word;
    while (status >> word && word != "RssAnon:") {
    }
    std::size_t kib = 0;
    status >> kib;
    return kib;
}

TEST_CASE("what a thread took and freed is given back, though some of it stays, once a minute") {
    constexpr std::size_t kBlocks = 20'000;
    FreedMemory memory;
    const FreedMemory::Time now = std::chrono::steady_clock::now();
    memory.give_back(now);
    std::unique_ptr<std::string> stays;
    const std::size_t before = resident_kib();
    std::thread([&] {
        std::vector<std::unique_ptr<std::string>> blocks;
        for (std::size_t i = 0; i < kBlocks; ++i)
            blocks.push_back(std::make_unique<std::string>(1'000, 'x'));
        stays = std::move(blocks.back());
    }).join();
    CHECK(resident_kib() > before + kBlocks / 2);
    CHECK(!memory.give_back(now + std::chrono::seconds(59)));
    CHECK(memory.give_back(now + std::chrono::seconds(60)));
    CHECK(resident_kib() < before + kBlocks / 4);
    CHECK(stays->size() == 1'000);
}
#endif

}  // namespace lattop::test
