// SPDX-License-Identifier: GPL-2.0-or-later
//
// lattop: parses the command line, opens what the command needs, runs it, and
// says what failed, why and what to try.
#include <fmt/format.h>
#include <langinfo.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "lattop/batch.h"
#include "lattop/commands.h"
#include "lattop/live.h"
#include "lattop/model/stack_names.h"
#include "lattop/options.h"
#include "lattop/reasons/load.h"
#include "lattop/reasons/reasons.h"
#include "lattop/resolver_worker.h"
#include "lattop/source/error.h"
#include "lattop/source/file_source.h"
#include "lattop/source/proc_source.h"
#include "lattop/term/curses_terminal.h"
#include "unwind/debug_fetch.h"

namespace lattop {
namespace {

/// Writes to standard output; false when its reader has gone.
bool write_output(std::string_view text) {
    while (!text.empty()) {
        const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
        if (n >= 0) {
            text.remove_prefix(static_cast<std::size_t>(n));
        } else if (errno == EPIPE) {
            return false;
        } else if (errno != EINTR) {
            throw Error(fmt::format("cannot write: {}", std::strerror(errno)));
        }
    }
    return true;
}

Charset locale_charset() {
    return std::string_view(::nl_langinfo(CODESET)) == "UTF-8" ? Charset::Utf8 : Charset::Ascii;
}

std::unique_ptr<Source> open_source(const Options& options) {
    if (options.source_file.empty()) return std::make_unique<ProcSource>();
    return std::make_unique<FileSource>(options.source_file);
}

std::unique_ptr<Users> make_users(const Source& source) {
    if (source.live()) return std::make_unique<SystemUsers>();
    return std::make_unique<NumericUsers>();
}

/// Names for live tasks; saved snapshots have none.
template <typename SomeNamer>
std::unique_ptr<UserStacks> make_stacks(const Source& source) {
    if (!source.live()) return std::make_unique<NoUserStacks>();
    std::shared_ptr<DebugFetch> fetch;
    if (Fetcher fetcher = debuginfod_fetcher())
        fetch = std::make_shared<DebugFetch>(std::move(fetcher));
    return std::make_unique<StackNames>(std::make_unique<SomeNamer>(std::move(fetch)));
}

/// Teaches the module while `options` run. A single report would end before
/// anything learned shows in it.
std::unique_ptr<Learning> make_learning(const Options& options, const Source& source) {
    const bool one_report = options.batch && options.refreshes == 1;
    if (!source.live() || one_report) return std::make_unique<NoLearning>();
    if (!options.learn) return std::make_unique<NoLearning>(LearningState::Kind::Off);
    return start_learning();
}

void run_on_terminal(const Options& options, Source& source, Users& users, Reasons& reasons) {
    const char* no_colour = std::getenv("NO_COLOR");
    // Before the threads: they must not get the signals.
    CursesTerminal terminal(locale_charset(), no_colour == nullptr || *no_colour == '\0');
    const auto stacks = make_stacks<WorkerNamer>(source);
    const auto learning = make_learning(options, source);
    SystemClock clock;
    run_live(options, {source, *stacks, users, clock, *learning, reasons}, terminal);
}

void run(const Options& options) {
    if (!options.batch && (::isatty(STDOUT_FILENO) == 0 || ::isatty(STDIN_FILENO) == 0))
        throw UsageError("the live table needs a terminal", "use lattop -b, or lattop --json");
    const auto source = open_source(options);
    const auto users = make_users(*source);
    Reasons reasons(load_reasons(user_reasons_path()));
    if (!options.batch) return run_on_terminal(options, *source, *users, reasons);
    const auto stacks = make_stacks<InlineNamer>(*source);
    const auto learning = make_learning(options, *source);
    SystemClock clock;
    run_batch(options, {*source, *stacks, *users, clock, *learning, reasons}, locale_charset(),
              write_output);
}

int main_checked(int argc, const char* const* argv) {
    if (run_command(argc, argv)) return static_cast<int>(ExitCode::Ok);
    const CommandLine line = parse_command_line(argc, argv);
    if (line.print)
        write_output(*line.print);
    else
        run(line.options);
    return static_cast<int>(ExitCode::Ok);
}

int report(const char* what, const std::string& hint, ExitCode code) {
    std::fputs(fmt::format("lattop: {}\n", printable(what, locale_charset())).c_str(), stderr);
    if (!hint.empty()) std::fputs(fmt::format("lattop: {}\n", hint).c_str(), stderr);
    return static_cast<int>(code);
}

}  // namespace
}  // namespace lattop

int main(int argc, char** argv) {
    std::setlocale(LC_ALL, "");
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return lattop::main_checked(argc, argv);
    } catch (const lattop::Error& error) {
        return lattop::report(error.what(), error.hint(), error.code());
    } catch (const std::exception& error) {
        return lattop::report(error.what(), "", lattop::ExitCode::Failed);
    }
}
