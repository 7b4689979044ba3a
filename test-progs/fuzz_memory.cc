// SPDX-License-Identifier: GPL-2.0-or-later
// See fuzz_memory.h.
#include "fuzz_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "lattop.h"

namespace fuzz {
namespace {

constexpr std::size_t hole_bytes = 16 * Memory::page;
constexpr std::size_t all_bytes = Memory::scratch_bytes + 6 * hole_bytes;

void need(bool done, const char* what) {
    if (done) return;
    std::perror(what);
    std::exit(1);
}

void allow(std::byte* at, std::size_t bytes, int protection) {
    need(mprotect(at, bytes, protection) == 0, "mprotect");
}

/// Words of `from` into `to`, as the kernel may read them meanwhile.
void shift(std::byte* to, const std::byte* from, Random& random) {
    for (std::size_t i = random.below(16); i < Memory::page / 8; i += 1 + random.below(16)) {
        uint64_t word = 0;
        std::memcpy(&word, from + i * 8, 8);
        std::atomic_ref(*reinterpret_cast<uint64_t*>(to + i * 8)).store(word);
    }
}

}  // namespace

uint64_t Random::next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

uint64_t Random::edge() {
    const uint64_t around =
        pick<uint64_t>({0, 4, 16, sizeof(lt_query), sizeof(lt_teach), sizeof(lt_misses),
                        sizeof(lt_regs), 64, 256, 1024, 4096, 65536, LT_MAX_LIMIT, 1ULL << 30,
                        1ULL << 31, 1ULL << 32, 1ULL << 47, 1ULL << 63});
    switch (below(6)) {
        case 0: return around - 1;
        case 1: return around + 1;
        case 2: return next();
        case 3: return next() >> below(64);
        default: return around;
    }
}

Memory::Memory() {
    void* const all = mmap(nullptr, all_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    need(all != MAP_FAILED, "mmap");
    all_ = static_cast<std::byte*>(all);
    flipping_ = all_ + hole_bytes;
    read_only_ = all_ + 2 * hole_bytes;
    shifting_ = all_ + 3 * hole_bytes;
    cut_file_ = all_ + 4 * hole_bytes;
    scratch_ = all_ + 5 * hole_bytes;
    allow(scratch_, scratch_bytes, PROT_READ | PROT_WRITE);
    allow(flipping_, 2 * page, PROT_READ | PROT_WRITE);
    allow(shifting_, 2 * page, PROT_READ | PROT_WRITE);
    allow(read_only_, page, PROT_READ);
    const int file = memfd_create("cut", MFD_CLOEXEC);
    need(file >= 0 && mmap(cut_file_, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                           0) != MAP_FAILED,
         "a file that ends");
    close(file);
}

Memory::~Memory() {
    munmap(all_, all_bytes);
}

std::byte* Memory::bad(Random& random, std::size_t bytes) const {
    const auto at = [](uint64_t address) { return reinterpret_cast<std::byte*>(address); };
    const std::size_t some = random.below(bytes + 1);
    switch (random.below(9)) {
        case 0: return nullptr;
        case 1: return at(random.below(4096));
        case 2: return all_ + random.below(page);
        case 3: return read_only_ + random.below(page);
        case 4: return cut_file_;
        case 5: return scratch_ + scratch_bytes - std::min(some, page);  // its end is not there
        case 6: return at(0x00007ffffffff000 - some);  // the end of user space is within it
        case 7: return at(1ULL << 47 << random.below(17));
        default: return at(0xffffffff81000000 + random.below(1 << 24));
    }
}

std::byte* Memory::any(Random& random, std::size_t bytes) const {
    if (random.one_in(8)) return bad(random, bytes);
    if (random.one_in(16)) return flipping_ + page - std::min(random.below(bytes + 1), page);
    const std::size_t room = scratch_bytes / 2;
    return scratch_ + room + random.below(bytes < room ? room - bytes : 1);
}

std::byte* Memory::put(Random& random, std::span<const std::byte> content) const {
    std::byte* to = any(random, content.size());
    if (random.one_in(8) && content.size() <= page) to = shifting_ + page * random.below(2);
    const bool good = (to >= scratch_ && to + content.size() <= scratch_ + scratch_bytes) ||
                      (to >= shifting_ && to < shifting_ + 2 * page);
    if (good) std::memcpy(to, content.data(), content.size());
    return to;
}

void Memory::disturb(Random& random) const {
    const std::size_t turn = random.below(2);
    shift(shifting_ + page * turn, shifting_ + page * (1 - turn), random);
    const int protection = random.pick({PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE});
    std::byte* const at = flipping_ + page * random.below(2);
    if (random.one_in(2))
        allow(at, page, protection);
    else
        need(mmap(at, page, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
                 MAP_FAILED,
             "mmap again");
}

}  // namespace fuzz
