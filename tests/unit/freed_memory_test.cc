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
namespace {

/// Bytes of `blocks` blocks of `bytes` that were mapped by themselves: the first ones may be served
/// from what others freed. None is touched.
std::size_t mapped_of(std::size_t blocks, std::size_t bytes) {
    std::vector<std::unique_ptr<char[]>> held;
    const std::size_t before = mallinfo2().hblkhd;
    for (std::size_t i = 0; i < blocks; ++i)
        held.emplace_back(new char[bytes]);
    const std::size_t after = mallinfo2().hblkhd;
    return after > before ? after - before : 0;
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

}  // namespace

TEST_CASE("large blocks are mapped by themselves, also when larger ones were freed before") {
    give_back_large_blocks();
    constexpr std::size_t kMiB = std::size_t{1} << 20;
    CHECK(mapped_of(32, 16 * kMiB) >= 16 * kMiB);
    CHECK(mapped_of(512, kMiB) >= 64 * kMiB);
    CHECK(mapped_of(512, 64 << 10) < kMiB);
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
