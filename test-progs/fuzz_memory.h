// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers and addresses that fuzz-proc gives to the kernel: at the edges of what is right, and
// beyond. One Random and one Memory a thread; all follows from the seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>

namespace fuzz {

/// splitmix64.
class Random {
public:
    explicit Random(uint64_t seed) : state_(seed) {}
    uint64_t next();
    uint64_t below(uint64_t n) { return next() % n; }
    bool one_in(uint64_t n) { return below(n) == 0; }
    /// 0, 1, sizes and limits of the contract, one more, one less, all ones, anything.
    uint64_t edge();
    uint32_t edge32() { return static_cast<uint32_t>(edge()); }
    template <typename T>
    T pick(std::initializer_list<T> from) {
        return from.begin()[below(from.size())];
    }

private:
    uint64_t state_;
};

/// Where a thread's arguments lie. Whatever the kernel writes by an address from here hits nothing
/// that somebody needs: all areas are mappings of their own, with holes around them.
class Memory {
public:
    static constexpr std::size_t page = 4096, scratch_bytes = 1 << 20;

    Memory();
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory();

    /// A MiB that can be read and written, a hole behind it.
    [[nodiscard]] std::byte* scratch() const { return scratch_; }
    /// An address for `bytes` bytes: good mostly, or a bad one of any kind.
    [[nodiscard]] std::byte* any(Random& random, std::size_t bytes) const;
    /// As `any`, with `content` there where there is room for it. Some of these places change under
    /// the kernel's eyes, to other bytes that were put there.
    std::byte* put(Random& random, std::span<const std::byte> content) const;
    template <typename T>
    T* put(Random& random, const T& content) const {
        return reinterpret_cast<T*>(put(random, std::as_bytes(std::span(&content, 1))));
    }

    /// What another thread does all the time: changes protections, and words of the shifting place.
    void disturb(Random& random) const;

private:
    [[nodiscard]] std::byte* bad(Random& random, std::size_t bytes) const;

    std::byte* all_;
    std::byte* scratch_;    // good
    std::byte* flipping_;   // two pages, there or not
    std::byte* read_only_;  // a page
    std::byte* shifting_;  // two pages; what was put in either comes to stand in both, word by word
    std::byte* cut_file_;  // a page of a file that has ended: SIGBUS for a program
};

}  // namespace fuzz
