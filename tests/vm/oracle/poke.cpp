// SPDX-License-Identifier: GPL-2.0-or-later
// lattop-poke: uses /proc/lattop as the contract allows, and as it does not. Each verb is what one
// case needs a program for; it prints "FAIL ..." for what is not as promised and ends with 1.
#include <fmt/format.h>

#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "poke.h"
#include "poke_channel.h"

namespace {

constexpr const char* usage =
    R"(usage: lattop-poke VERB
input        every bad ioctl, read and write gets its errno and changes nothing
views        snapshots are fresh at offset 0 and stand still behind it, in both views
queries      sort keys, limits, flags and filters do what module/uapi/lattop.h says
hold         holds descriptors and reads, polls and maps them all the time; says "held", waits for
             a line, and then expects errors, and that all can be closed
visible UID GID    as that user, sees the tasks that it could ptrace and no others
matrix FOLDER      for every pair of opener and reader and every kind of task, what is shown is what
             the kernel would let them see; FOLDER has lattop-poke, and a copy setuid-poke that is
             setuid root
wakers FOLDER                as matrix, who woke somebody is named to those who may see both, and
             hidden from others; the module has wakers=1; FOLDER has a folder for pipes, too
past         what a program did before it became user a's is hidden from a, whichever traces he asks for
race KIND ATTEMPTS FOLDER    so many reads while tasks change to what a reader must not see;
             KIND: credentials, drop, setuid-exec, exit, pid-reuse, history, history-of-capable,
             history-of-another, descriptor; the module has wakers=1
)";

/// What `matrix` and `wakers` have their processes do; their number, for main, where it is one of
/// them.
std::optional<int> part_of_a_crowd(std::string_view verb, const char* argument) {
    if (verb == "host") return poke::host(std::stoi(argument));
    if (verb == "serve") return poke::serve(std::stoi(argument));
    if (verb == "sleep") poke::sleep_as(argument);
    if (verb == "wake") poke::wake_as(static_cast<uint32_t>(std::stoul(argument)));
    if (verb == "wait") poke::wait_as(argument);
    return std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view verb = argc > 1 ? argv[1] : "";
    try {
        if (argc == 3)
            if (const auto status = part_of_a_crowd(verb, argv[2])) return *status;
        poke::Checks checks;
        if (verb == "input")
            poke::input(checks);
        else if (verb == "views")
            poke::views(checks);
        else if (verb == "queries")
            poke::queries(checks);
        else if (verb == "hold")
            poke::hold(checks);
        else if (verb == "visible" && argc == 4)
            poke::visible(checks, std::stoul(argv[2]), std::stoul(argv[3]));
        else if (verb == "matrix" && argc == 3)
            poke::matrix(checks, argv[2]);
        else if (verb == "wakers" && argc == 3)
            poke::wakers(checks, argv[2]);
        else if (verb == "past")
            poke::past(checks);
        else if (verb == "race" && argc == 5)
            poke::race(checks, argv[2], std::stoull(argv[3]), argv[4]);
        else {
            fmt::print(stderr, "{}", usage);
            return 2;
        }
        return checks.conclude() ? 0 : 1;
    } catch (const std::exception& error) {
        fmt::print("FAIL {}\n", error.what());
        return 1;
    }
}
