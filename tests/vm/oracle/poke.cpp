// SPDX-License-Identifier: GPL-2.0-or-later
// lattop-poke: uses /proc/lattop as the contract allows, and as it does not. Each verb is what one
// case needs a program for; it prints "FAIL ..." for what is not as promised and ends with 1.
#include <fmt/format.h>

#include <exception>
#include <string_view>

#include "poke.h"

namespace {

constexpr const char* usage =
    R"(usage: lattop-poke VERB
input        every bad ioctl, read and write gets its errno and changes nothing
views        snapshots are fresh at offset 0 and stand still behind it, in both views
queries      sort keys, limits, flags and filters do what module/uapi/lattop.h says
hold         holds descriptors and reads them all the time; says "held", waits for a line, and
             then expects errors, and that all can be closed
visible UID GID    as that user, sees the tasks that it could ptrace and no others
)";

}  // namespace

int main(int argc, char** argv) {
    const std::string_view verb = argc > 1 ? argv[1] : "";
    try {
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
