// SPDX-License-Identifier: GPL-2.0-or-later
// The watched side of lattop-poke race: what becomes, again and again, something that the reader
// must not see. Used by poke_race.cpp, each in a process of its own that begins as root.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace poke {

/// Whatever reads from its other end is woken by whom runs now; also in
/// test-progs/marked-sleeper.c.
constexpr int wake_fd = 100;

/// How many reads may go to one change.
constexpr uint64_t reads_a_change = 50;

/// Each goes on until there were as many reads as `attempts`, and changes enough to race with;
/// `folder` has the programs. poke_race.cpp says what each is.
void change_credentials(uint64_t attempts, const std::string& folder);
void drop_privileges(uint64_t attempts, const std::string& folder);
void exec_setuid(uint64_t attempts, const std::string& folder);
void exec_unreadable(uint64_t attempts, const std::string& folder);
void exit_hidden(uint64_t attempts, const std::string& folder);
void reuse_pid(uint64_t attempts, const std::string& folder);
void become_public(uint64_t attempts, const std::string& folder);
void become_public_from_capable(uint64_t attempts, const std::string& folder);
void become_public_from_another(uint64_t attempts, const std::string& folder);
void join_and_become_public(uint64_t attempts, const std::string& folder);
void join_and_become_public_from_owner(uint64_t attempts, const std::string& folder);
void become_public_and_join(uint64_t attempts, const std::string& folder);
void become_public_and_a(uint64_t attempts, const std::string& folder);

}  // namespace poke
