// SPDX-License-Identifier: GPL-2.0-or-later
// See poke_people.h.
#include "poke_people.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string>

namespace poke {
namespace {

constexpr uint64_t bit(int capability) {
    return uint64_t{1} << capability;
}

using Capabilities = std::array<__user_cap_data_struct, 2>;

Capabilities capabilities() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    Capabilities data{};
    need(syscall(SYS_capget, &header, data.data()) == 0, "capget");
    return data;
}

/// Keeps those of `mask`.
void keep_capabilities(uint64_t mask) {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    Capabilities data = capabilities();
    for (__user_cap_data_struct& half : data) {
        half.permitted &= static_cast<uint32_t>(mask);
        half.effective &= static_cast<uint32_t>(mask);
        half.inheritable = 0;
        mask >>= 32;
    }
    need(syscall(SYS_capset, &header, data.data()) == 0, "capset");
}

void write_file(const std::string& path, const std::string& text) {
    const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    need(fd >= 0, path);
    need(write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()), path);
    close(fd);
}

struct ThreeIds {
    uid_t real, effective, saved;
};

void set_ids(const ThreeIds& users, const ThreeIds& groups) {
    need(setresgid(groups.real, groups.effective, groups.saved) == 0, "setresgid");
    need(setresuid(users.real, users.effective, users.saved) == 0, "setresuid");
}

void become_a() {
    become_user(user_a);
    set_dumpable(true);
}

void become_b() {
    become_user(user_b);
    set_dumpable(true);
}

void become_a_hidden() {
    become_user(user_a);
    set_dumpable(false);
}

constexpr ThreeIds all_a{user_a, user_a, user_a};

/// Of what a has all, but for some of these.
void become_almost_a(const ThreeIds& users, const ThreeIds& groups) {
    need(setgroups(0, nullptr) == 0, "setgroups");
    set_ids(users, groups);
    set_dumpable(true);
}

void become_a_of_another_group() {
    become_almost_a(all_a, {user_b, user_b, user_b});
}

/// Which keeps root's capabilities, too.
void become_a_with_roots_saved_uid() {
    become_almost_a({user_a, user_a, 0}, all_a);
}

/// Who owns a's container, but is b to files.
void become_b_with_as_effective_uid() {
    become_almost_a({user_b, user_a, user_b}, {user_b, user_b, user_b});
    setfsuid(user_b);
    set_dumpable(true);
}

void become_b_of_as_group() {
    become_almost_a({user_b, user_b, user_a}, all_a);
}

void become_b_of_as_group_with_as_fsuid() {
    become_b_of_as_group();
    setfsuid(user_a);
    set_dumpable(true);
}

void become_a_with_bs_saved_uid() {
    become_almost_a({user_a, user_a, user_b}, all_a);
}

void become_a_with_bs_real_uid() {
    become_almost_a({user_b, user_a, user_a}, all_a);
}

void become_a_with_bs_effective_uid() {
    become_almost_a({user_a, user_b, user_a}, all_a);
}

void become_a_with_bs_real_gid() {
    become_almost_a(all_a, {user_b, user_a, user_a});
}

void become_a_with_bs_effective_gid() {
    become_almost_a(all_a, {user_a, user_b, user_a});
}

void become_a_with_bs_saved_gid() {
    become_almost_a(all_a, {user_a, user_a, user_b});
}

void become_a_with_a_capability() {
    need(prctl(PR_SET_KEEPCAPS, 1) == 0, "PR_SET_KEEPCAPS");
    become_user(user_a);
    keep_capabilities(bit(CAP_NET_RAW));
    set_dumpable(true);
}

void stay_root() {
    set_dumpable(true);
}

void hide() {
    set_dumpable(false);
}

void give_up_ptrace() {
    keep_capabilities(~bit(CAP_SYS_PTRACE));
    set_dumpable(true);
}

void give_up_all_capabilities() {
    keep_capabilities(0);
    set_dumpable(true);
}

/// Root that opens files as user a does; its capabilities are root's.
void wear_fsuid() {
    setfsgid(user_a);
    setfsuid(user_a);
    set_dumpable(true);
}

/// In a container that has user ids of its own: the ordinary user there.
void become_user_inside() {
    become_user(1000);
    set_dumpable(true);
}

void become_user_inside_hidden() {
    become_user(1000);
    set_dumpable(false);
}

/// Within a user namespace that a has begun.
void become_root_of_as_namespace() {
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/uid_map", fmt::format("0 {} 1", user_a));
    write_file("/proc/self/gid_map", fmt::format("0 {} 1", user_a));
}

/// Among all pids, with privileges over nothing that was there before.
void become_a_in_a_user_namespace() {
    become_a();
    need(unshare(CLONE_NEWUSER) == 0, "unshare users");
    become_root_of_as_namespace();
    set_dumpable(true);
}

/// `child` waits in a user namespace without ids: 65,536 of its own for it.
void map_ids(pid_t child) {
    const std::string map = fmt::format("0 {} 65536", container_base);
    write_file(fmt::format("/proc/{}/uid_map", child), map);
    write_file(fmt::format("/proc/{}/gid_map", child), map);
}

struct Pipe {
    std::array<int, 2> ends{-1, -1};
    Pipe() { need(pipe2(ends.data(), O_CLOEXEC) == 0, "pipe"); }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    ~Pipe() {
        close(ends[0]);
        close(ends[1]);
    }
    void wait() const {
        char byte = 0;
        need(read(ends[0], &byte, 1) == 1, "the other side of a fork");
    }
    void wake() const { need(write(ends[1], "", 1) == 1, "write to a pipe"); }
};

/// In the child of fork_into: into the namespaces.
void enter(Space space, const Pipe& unshared, const Pipe& mapped) {
    if (space == Space::of_root) {
        need(unshare(CLONE_NEWPID) == 0, "unshare pids");
    } else if (space == Space::of_user_a) {
        enter_container_of_a();
    } else {
        need(unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0, "unshare users and pids");
        unshared.wake();
        mapped.wait();
        become_user(0);
    }
}

constexpr std::array all_readers{
    Person{"root", Space::first, stay_root},
    Person{"root without CAP_SYS_PTRACE", Space::first, give_up_ptrace},
    Person{"root without capabilities", Space::first, give_up_all_capabilities},
    Person{"root with a's fsuid", Space::first, wear_fsuid},
    Person{"a", Space::first, become_a},
    Person{"a, not dumpable", Space::first, become_a_hidden},
    Person{"a of another group", Space::first, become_a_of_another_group},
    Person{"a in a user namespace", Space::first, become_a_in_a_user_namespace},
    Person{"b", Space::first, become_b},
    Person{"b with a's euid", Space::first, become_b_with_as_effective_uid},
    Person{"b of a's group", Space::first, become_b_of_as_group},
    Person{"b of a's group with a's fsuid", Space::first, become_b_of_as_group_with_as_fsuid},
    Person{"setuid program of a", Space::first, become_a, true},
    Person{"root of a's container", Space::of_user_a, stay_root},
    Person{"root of a container with ids", Space::mapped, stay_root},
    Person{"user in a container with ids", Space::mapped, become_user_inside},
    Person{"root in a pid namespace", Space::of_root, stay_root},
};

constexpr std::array all_sleepers{
    Person{"root", Space::first, stay_root},
    Person{"root-hidden", Space::first, hide},
    Person{"root-nocaps", Space::first, give_up_all_capabilities},
    Person{"a", Space::first, become_a},
    Person{"a-hidden", Space::first, become_a_hidden},
    Person{"a-group", Space::first, become_a_of_another_group},
    Person{"a-saved-root", Space::first, become_a_with_roots_saved_uid},
    Person{"a-uid-b", Space::first, become_a_with_bs_real_uid},
    Person{"a-euid-b", Space::first, become_a_with_bs_effective_uid},
    Person{"a-suid-b", Space::first, become_a_with_bs_saved_uid},
    Person{"a-gid-b", Space::first, become_a_with_bs_real_gid},
    Person{"a-egid-b", Space::first, become_a_with_bs_effective_gid},
    Person{"a-sgid-b", Space::first, become_a_with_bs_saved_gid},
    Person{"a-cap", Space::first, become_a_with_a_capability},
    Person{"a-setuid", Space::first, become_a, true},
    Person{"b", Space::first, become_b},
    Person{"ca-root", Space::of_user_a, stay_root},
    Person{"cm-root", Space::mapped, stay_root},
    Person{"cm-user", Space::mapped, become_user_inside},
    Person{"cm-hidden", Space::mapped, become_user_inside_hidden},
    Person{"cp-root", Space::of_root, stay_root},
};

}  // namespace

bool has_capability(int capability) {
    const Capabilities data = capabilities();
    return ((uint64_t{data[1].effective} << 32 | data[0].effective) & bit(capability)) != 0;
}

std::span<const Person> readers() {
    return all_readers;
}

std::span<const Person> sleepers() {
    return all_sleepers;
}

void need(bool done, const std::string& what) {
    if (!done) throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
}

void become_user(uid_t id) {
    if (setgroups(0, nullptr) != 0) need(errno == EPERM, "setgroups");
    set_ids({id, id, id}, {id, id, id});
}

void set_dumpable(bool dumpable) {
    need(prctl(PR_SET_DUMPABLE, dumpable ? 1 : 0) == 0, "PR_SET_DUMPABLE");
}

void enter_container_of_a() {
    become_a();
    need(unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0, "unshare as a user");
    become_root_of_as_namespace();
}

void run_in(Space space, const std::string& program, const std::string& verb, int fd) {
    const Pipe unshared, mapped;
    const pid_t pid = fork();
    need(pid >= 0, "fork");
    if (pid != 0) {
        if (space == Space::mapped) {
            unshared.wait();
            map_ids(pid);
            mapped.wake();
        }
        return;
    }
    try {
        if (space != Space::first) {
            enter(space, unshared, mapped);
            const pid_t first = fork();
            need(first >= 0, "fork");
            if (first != 0) _exit(0);
        }
        need(fcntl(fd, F_SETFD, 0) == 0, "F_SETFD");
        // By exec, as in life: who may look at a program that is not dumpable goes by the namespace
        // it was begun in
        execl(program.c_str(), program.c_str(), verb.c_str(), std::to_string(fd).c_str(), nullptr);
        need(false, program);
    } catch (const std::exception& error) {
        fmt::print(stderr, "FAIL {}\n", error.what());
    }
    _exit(1);
}

}  // namespace poke
