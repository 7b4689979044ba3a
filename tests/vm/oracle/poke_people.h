// SPDX-License-Identifier: GPL-2.0-or-later
// Who lattop-poke's processes may be: users, groups, privileges, namespaces. A process of each kind
// starts as root and becomes it.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>

namespace poke {

/// Two users whom nobody else is, with groups of the same numbers.
constexpr uid_t user_a = 30001;
constexpr uid_t user_b = 30002;
/// The first user id of a container that has 65,536 of its own.
constexpr uid_t container_base = 100000;

/// Pid namespaces: 0 is the first one, the others are children of it.
enum class Space { first, of_user_a, mapped, of_root };

struct Person {
    const char* name;
    Space space;
    void (*become)();
    bool by_setuid = false;  ///< then runs a program that is setuid root
};

/// Those who read.
std::span<const Person> readers();
/// Those whose sleeps are read.
std::span<const Person> sleepers();

/// Throws with errno's text when `done` is false.
void need(bool done, const std::string& what);

/// Whether this process may use it now, by its number (CAP_*).
bool has_capability(int capability);

void become_user(uid_t id);
void set_dumpable(bool dumpable);

/// User a's process, and as root of namespaces of its own; the next child is the first one in
/// there.
void enter_container_of_a();

/// Forks a child that runs `program` as root of this space: in one of its own as its first process.
/// It inherits `fd`, and is told its number behind `verb`.
void run_in(Space space, const std::string& program, const std::string& verb, int fd);

}  // namespace poke
