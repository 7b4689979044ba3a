// SPDX-License-Identifier: GPL-2.0-or-later
//
// lattop: parses the command line, runs what it asks for, and says what
// failed, why and what to try.
#include <clocale>
#include <csignal>

#include "lattop/commands.h"
#include "lattop/freed_memory.h"
#include "lattop/huge_pages.h"
#include "lattop/image_reader.h"
#include "lattop/open_files.h"
#include "lattop/options.h"
#include "lattop/output.h"
#include "lattop/source/error.h"
#include "lattop/top.h"

namespace lattop {
namespace {

int main_checked(Arguments::List list) {
    if (!list.empty() && list.front() == kImageReaderVerb) return run_image_reader(list.subspan(1));
    use_image_readers();
    if (const auto status = run_command(list)) return *status;
    Arguments arguments("", kSummary, list);
    arguments.footer(commands_help());
    const CommandLine line = parse_command_line(arguments);
    if (line.print)
        write_output(*line.print);
    else
        run_top(line.options);
    return static_cast<int>(ExitCode::Ok);
}

int report(const char* what, const std::string& hint, ExitCode code) {
    complain(what);
    if (!hint.empty()) complain(hint);
    return static_cast<int>(code);
}

}  // namespace
}  // namespace lattop

int main(int argc, char** argv) {
    std::setlocale(LC_ALL, "");
    std::signal(SIGPIPE, SIG_IGN);
    // Inherited as ignored, the pid of a child that has ended could be another process's before
    // the child is waited for or killed.
    std::signal(SIGCHLD, SIG_DFL);
    lattop::give_back_large_blocks();
    lattop::take_no_huge_pages();
    lattop::allow_more_files();
    try {
        return lattop::main_checked(lattop::Arguments::List(argv, static_cast<std::size_t>(argc))
                                        .subspan(argc > 0 ? 1 : 0));
    } catch (const lattop::Error& error) {
        return lattop::report(error.what(), error.hint(), error.code());
    } catch (const std::exception& error) {
        return lattop::report(error.what(), "", lattop::ExitCode::Failed);
    }
}
