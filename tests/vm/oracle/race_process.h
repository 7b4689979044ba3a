// SPDX-License-Identifier: GPL-2.0-or-later
// The processes of lattop-poke race: they end with who began them, some live in a container of user
// a's. Used by poke_race.cpp and race_targets.cpp.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace poke {

/// As fork(2); throws when there is no child.
pid_t fork_process();

/// A child that does this, and ends with it.
pid_t begin(const std::function<void()>& what);

/// Waits for it; throws when it did not end well.
void end(pid_t pid, const char* what);

/// A killed one, and all who end with it.
void end_by_kill(pid_t pid);

void become_mortal_a();

/// Who keeps a container of a's until it is killed. Its first process is shared().container.
pid_t begin_container();

/// The container's namespace of this type, as a file.
std::string container_file(const std::string& type);

/// Children are begun among the container's pids; nothing else changes.
void enter_container_pids();

/// Goes on in a child that is root of the container.
void become_root_of_container();

}  // namespace poke
