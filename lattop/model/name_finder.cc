// SPDX-License-Identifier: GPL-2.0-or-later
//
// See name_finder.h.
#include "lattop/model/name_finder.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "lattop/model/live_stack.h"
#include "unwind/process_files.h"

namespace lattop {
namespace {

/// Why there is no stack; "" for one that was walked.
std::string why_none(LiveStack::State state) {
    switch (state) {
        case LiveStack::State::Blocked: return "";
        case LiveStack::State::Runs: return "it runs";
        case LiveStack::State::Refused: return "its memory may not be read by this user";
        case LiveStack::State::Gone: return "it has ended";
    }
    return "";
}

}  // namespace

std::string command_line_text(std::string bytes) {
    bytes.erase(bytes.find_last_not_of('\0') + 1);
    std::ranges::replace(bytes, '\0', ' ');
    return bytes;
}

/// Held from one request to the next while the task runs the same program.
ProcessCode* NameFinder::open_code(const TaskRef& task) {
    const bool same = code_ && code_of_.pid == task.pid && code_of_.start_ns == task.start_ns &&
                      code_of_.exec_id == task.exec_id && code_->alive();
    if (!same) code_ = ProcessCode::open("/proc", task.pid, task.start_ns, code_files_);
    code_of_ = task;
    return code_ ? &*code_ : nullptr;
}

LiveNames NameFinder::walk(const NameRequest& request) {
    LiveNames live;
    const TaskRef& task = request.task;
    ProcessCode* code = open_code(task);
    if (code == nullptr) {
        live.end = why_none(LiveStack::State::Refused);
        return live;
    }
    code->allow_refresh();
    const NameAddress name = [&](std::uint64_t address) {
        return symbolizer_.variable(task, address, request.round);
    };
    const LiveStack stack =
        live_stack("/proc", task.tgid, task.pid, *code, *unwinder_, registers_, name);
    live.end = why_none(stack.state);
    if (stack.state != LiveStack::State::Blocked) return live;
    for (const LiveFrame& frame : stack.walk.frames)
        live.addresses.push_back(frame.pc);
    live.object = stack.object;
    if (!stack.walk.complete) live.end = stack.walk.why;
    live.stack = symbolizer_.name(task, live.addresses, request.round).stack;
    return live;
}

std::string NameFinder::command_line(const TaskRef& task) {
    const auto files = ProcessFiles::open("/proc", task.pid, task.start_ns);
    return files ? command_line_text(files->command_line()) : "";
}

NameAnswer NameFinder::answer(const NameRequest& request) {
    NameAnswer answer;
    answer.id = request.id;
    try {
        if (request.live)
            answer.live = walk(request);
        else if (request.command_line)
            answer.command_line = command_line(request.task);
        else
            answer.naming = symbolizer_.name(request.task, request.addresses, request.round);
    } catch (const std::exception& error) {
        if (request.live) answer.live = LiveNames{.end = error.what()};
        if (request.command_line) answer.command_line = "";
    }
    if (answer.live) answer.live->sleeps = request.sleeps;
    return answer;
}

}  // namespace lattop
