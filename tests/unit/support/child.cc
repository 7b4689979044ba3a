// SPDX-License-Identifier: GPL-2.0-or-later
//
// See child.h.
#include "tests/unit/support/child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

#include "unwind/process_files.h"

extern char** environ;

namespace lattop::test {
namespace {

struct Pipe {
    UniqueFd read, write;
};

Pipe make_pipe() {
    std::array<int, 2> fds{};
    if (::pipe2(fds.data(), O_CLOEXEC) != 0)
        throw std::system_error(errno, std::generic_category(), "pipe2");
    return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

}  // namespace

std::uint64_t start_ns_of(pid_t pid) {
    const auto ticks = ProcessFiles::start_ticks("/proc", static_cast<std::uint32_t>(pid));
    if (!ticks) throw std::runtime_error("the process is gone");
    const auto per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
    return *ticks * (1'000'000'000 / per_second);
}

Child::Child(const std::string& path, int lines, const std::string& argument) {
    Pipe input = make_pipe();
    Pipe output = make_pipe();
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, input.read.get(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, output.write.get(), STDOUT_FILENO);
    std::string name = path;
    std::string word = argument;
    std::array<char*, 3> argv = {name.data(), word.empty() ? nullptr : word.data(), nullptr};
    const int error = ::posix_spawn(&pid_, path.c_str(), &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::system_error(error, std::generic_category(), path);
    input_ = std::move(input.write);
    output.write.reset();

    const std::unique_ptr<FILE, int (*)(FILE*)> lines_in(::fdopen(::dup(output.read.get()), "r"),
                                                         &std::fclose);
    for (int i = 0; i < lines; ++i) {
        std::array<char, 64> function{};
        unsigned long address = 0;
        if (std::fscanf(lines_in.get(), "%63s %lx", function.data(), &address) != 2)
            throw std::runtime_error(path + " printed too little");
        addresses_[function.data()] = address;
    }
    task_ = {static_cast<std::uint32_t>(pid_), static_cast<std::uint32_t>(pid_), start_ns_of(pid_),
             1};
}

void Child::finish() {
    if (pid_ < 0) return;
    input_.reset();
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
}

Child::~Child() {
    finish();
}

TempFolder::TempFolder() {
    path_ = (std::filesystem::temp_directory_path() / "lattop-test-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr)
        throw std::system_error(errno, std::generic_category(), "mkdtemp");
}

TempFolder::~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace lattop::test
