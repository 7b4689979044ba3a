// SPDX-License-Identifier: GPL-2.0-or-later
// lattop-oracle: is what /proc/lattop says what the kernel and the test programs say?
#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <span>
#include <stdexcept>
#include <string>

#include "truth.h"
#include "watch.h"

namespace {

constexpr const char* usage =
    R"(usage: lattop-oracle truth [--noise N] [--lines N] [--sleeps N] <PROGRAM-OUTPUT
       lattop-oracle watch [--noise N] [--seconds S] [--interval S] [--tasks N] [--sleeps N] [--totals 1] -- COMMAND...
       lattop-oracle check
truth: every line of test programs agrees with /proc/lattop, at least N of them
watch: every task agrees with the kernel's counters after COMMAND ran for S seconds,
       and the invariants held at every snapshot meanwhile; with --totals 1 the sum over all
check: the invariants hold now
times must agree to 0.1% or 20 us a sleep; with --noise N, for guests without -icount, where the
host may stop a CPU of the guest at any instruction, to N times 150 ms and 2% or 200 us a sleep
)";

struct Usage : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Takes "--name VALUE" pairs off the front of the arguments.
class Arguments {
public:
    explicit Arguments(std::span<char*> words) : words_(words) {}

    /// True, and name and value set, while there is another pair; a "--" ends them.
    bool next(std::string& name, double& value) {
        if (words_.empty()) return false;
        name = words_.front();
        words_ = words_.subspan(1);
        if (name == "--") return false;
        if (words_.empty()) throw Usage(name + " needs a value");
        char* end = nullptr;
        value = std::strtod(words_.front(), &end);
        if (*end || value < 0) throw Usage(name + ": not a number: " + words_.front());
        words_ = words_.subspan(1);
        return true;
    }
    [[nodiscard]] std::span<char*> rest() const { return words_; }

private:
    std::span<char*> words_;
};

int run_truth(Arguments arguments) {
    oracle::TruthOptions options;
    std::string name;
    for (double value = 0; arguments.next(name, value);) {
        if (name == "--noise")
            options.tolerance.host_noise = value;
        else if (name == "--lines")
            options.least_lines = static_cast<uint64_t>(value);
        else if (name == "--sleeps")
            options.least_sleeps = static_cast<uint64_t>(value);
        else
            throw Usage("unknown option " + name);
    }
    return oracle::check_truth(std::cin, options);
}

int run_watch(Arguments arguments) {
    oracle::WatchOptions options;
    std::string name;
    for (double value = 0; arguments.next(name, value);) {
        if (name == "--noise")
            options.tolerance.host_noise = value;
        else if (name == "--seconds")
            options.seconds = value;
        else if (name == "--totals")
            options.totals = value > 0;
        else if (name == "--interval")
            options.interval = value;
        else if (name == "--tasks")
            options.least_tasks = static_cast<uint64_t>(value);
        else if (name == "--sleeps")
            options.least_sleeps = static_cast<uint64_t>(value);
        else
            throw Usage("unknown option " + name);
    }
    options.command.assign(arguments.rest().begin(), arguments.rest().end());
    if (options.command.empty()) throw Usage("no command");
    return oracle::watch(options);
}

int run(std::span<char*> words) {
    const std::string verb = words.size() > 1 ? words[1] : "";
    if (verb == "truth") return run_truth(Arguments(words.subspan(2)));
    if (verb == "watch") return run_watch(Arguments(words.subspan(2)));
    if (verb == "check") return oracle::check_now();
    throw Usage("what to do?");
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(std::span(argv, static_cast<std::size_t>(argc)));
    } catch (const Usage& error) {
        fmt::print(stderr, "lattop-oracle: {}\n{}", error.what(), usage);
        return 2;
    } catch (const std::exception& error) {
        fmt::print("FAIL {}\n", error.what());
        return 1;
    }
}
