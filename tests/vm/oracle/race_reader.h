// SPDX-License-Identifier: GPL-2.0-or-later
// The reading side of lattop-poke race: a reader takes one snapshot after the other, in both views,
// and looks for what is secret in it. Used by poke_race.cpp alone.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace poke {

constexpr std::string_view secret = "secret-sleeper", public_name = "public-sleeper";

/// So many reads have one of the text among them.
constexpr uint64_t one_text_in = 4;

/// What the processes of a race share: there before the first of them is forked.
struct Shared {
    std::atomic<bool> ready, stop;
    std::atomic<pid_t> container;  // its first process, by the number it has outside
    std::atomic<uint64_t> state;   // credentials, drop: odd while the target certainly is hidden
    std::atomic<uint32_t> target;  // its pid
    std::atomic<uint64_t> reads;
    std::atomic<uint64_t> texts;    // of them, in the text view
    std::atomic<uint64_t> changes;  // to what must not be seen
    std::atomic<uint64_t> over;     // reads during which the state changed
    std::atomic<uint64_t> hidden;   // reads that had to show nothing
    std::atomic<uint64_t> sights;   // of public programs
    std::atomic<uint64_t> public_frames;
    std::atomic<uint64_t> public_files;  // frames of it with the file that they lie in
    std::atomic<uint64_t> named_wakers;  // public programs among those who woke somebody
    std::atomic<uint64_t> waker_frames;  // of them
    std::atomic<uint64_t> hidden_wakers;
    std::atomic<uint64_t> leaks;
};

/// The same for all who are forked behind the first call.
Shared& shared();

/// Counts one, and says the first few.
void leak(const std::string& what);

/// What the reader looks for.
struct Sought {
    uint32_t uid;      ///< whose tasks the reader asks for: fewer to look at are more looks
    bool wakers_tell;  ///< who woke somebody must not have the secret name, either
};

/// Until told to stop, by descriptors that the caller opens here; does `then` when they are open.
void read_all_the_time(const Sought& sought, const std::function<void()>& then);

}  // namespace poke
