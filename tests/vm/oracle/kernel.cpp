// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <string_view>

namespace oracle {
namespace {

std::vector<uint32_t> numeric_entries(const std::string& path) {
    std::vector<uint32_t> numbers;
    const std::unique_ptr<DIR, int (*)(DIR*)> dir(opendir(path.c_str()), closedir);
    if (!dir) return numbers;
    while (const dirent* entry = readdir(dir.get())) {
        const std::string_view name = entry->d_name;
        uint32_t number = 0;
        const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
        if (error == std::errc() && end == name.data() + name.size()) numbers.push_back(number);
    }
    return numbers;
}

uint64_t number_at(std::string_view text) {
    const auto begin = text.find_first_of("0123456789");
    uint64_t value = 0;
    if (begin != std::string_view::npos)
        std::from_chars(text.data() + begin, text.data() + text.size(), value);
    return value;
}

/// What stands behind "name...:" at the beginning of a line.
std::optional<std::string_view> field(std::string_view text, std::string_view name) {
    for (std::size_t at = 0; (at = text.find(name, at)) != std::string_view::npos;
         at += name.size()) {
        const bool begins = at == 0 || text[at - 1] == '\n' || text[at - 1] == '.';
        const char behind = at + name.size() < text.size() ? text[at + name.size()] : 0;
        if (!begins || (behind != ' ' && behind != ':')) continue;
        const auto colon = text.find(':', at);
        if (colon == std::string_view::npos) return std::nullopt;
        return text.substr(colon + 1);
    }
    return std::nullopt;
}

/// "12.345678" milliseconds, in ns
uint64_t ms_at(std::string_view text) {
    const uint64_t ms = number_at(text);
    const auto dot = text.find('.');
    return dot == std::string_view::npos ? ms : ms * 1'000'000 + number_at(text.substr(dot));
}

struct Stat {
    char state;
    uint32_t parent;
    uint64_t start_ticks;
};

std::optional<Stat> parse_stat(const std::string& text) {
    const auto comm_end = text.rfind(')');
    if (comm_end == std::string::npos || comm_end + 4 > text.size()) return std::nullopt;
    Stat stat{.state = text[comm_end + 2], .parent = 0, .start_ticks = 0};
    std::size_t at = comm_end + 2;
    for (int number = 3; number <= 22 && at != std::string::npos; ++number) {
        if (number == 4) stat.parent = static_cast<uint32_t>(number_at(&text[at]));
        if (number == 22) stat.start_ticks = number_at(&text[at]);
        at = text.find(' ', at);
        if (at != std::string::npos) ++at;
    }
    return stat;
}

std::optional<Stat> read_stat(const std::string& folder) {
    const auto text = read_file(folder + "/stat");
    return text ? parse_stat(*text) : std::nullopt;
}

}  // namespace

std::optional<std::string> read_file(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return std::nullopt;
    std::string text;
    std::array<char, 8192> part;
    ssize_t got;
    while ((got = read(fd, part.data(), part.size())) > 0)
        text.append(part.data(), static_cast<std::size_t>(got));
    close(fd);
    return got < 0 ? std::nullopt : std::optional(text);
}

std::optional<KernelTask> read_task(uint32_t tgid, uint32_t tid) {
    const std::string folder = fmt::format("/proc/{}/task/{}", tgid, tid);
    const auto stat = read_stat(folder);
    const auto status = read_file(folder + "/status");
    const auto schedstat = read_file(folder + "/schedstat");
    if (!stat || !status || !schedstat || stat->state == 'Z' || stat->state == 'X')
        return std::nullopt;
    KernelTask task{.id = {tid, stat->start_ticks}, .tgid = tgid, .counters = {}};
    KernelCounters& counters = task.counters;
    counters.nvcsw = number_at(field(*status, "voluntary_ctxt_switches").value_or(""));
    counters.nivcsw = number_at(field(*status, "nonvoluntary_ctxt_switches").value_or(""));
    counters.catches_signals =
        field(*status, "SigCgt").value_or("").find_first_not_of(" \t0") != std::string_view::npos;
    counters.exec_ns = number_at(*schedstat);
    counters.runq_ns = number_at(std::string_view(*schedstat).substr(schedstat->find(' ')));
    const auto sched = read_file(folder + "/sched");
    if (!sched) return task;
    if (const auto sum = field(*sched, "sum_sleep_runtime")) {
        counters.sum_sleep_ns = ms_at(*sum);
        counters.has_sums = true;
    }
    const uint64_t policy = number_at(field(*sched, "policy").value_or("0"));
    counters.fair = policy == 0 || policy == 3 || policy == 5;
    return task;
}

std::vector<std::pair<uint32_t, uint32_t>> all_tasks() {
    std::vector<std::pair<uint32_t, uint32_t>> tasks;
    for (const uint32_t tgid : numeric_entries("/proc"))
        for (const uint32_t tid : numeric_entries(fmt::format("/proc/{}/task", tgid)))
            tasks.emplace_back(tgid, tid);
    return tasks;
}

std::set<uint32_t> descendants(uint32_t pid) {
    std::multimap<uint32_t, uint32_t> children;
    for (const uint32_t other : numeric_entries("/proc"))
        if (const auto stat = read_stat(fmt::format("/proc/{}", other)))
            children.emplace(stat->parent, other);
    std::set<uint32_t> found{pid};
    std::vector<uint32_t> open_ends{pid};
    while (!open_ends.empty()) {
        const auto [first, last] = children.equal_range(open_ends.back());
        open_ends.pop_back();
        for (auto child = first; child != last; ++child)
            if (found.insert(child->second).second) open_ends.push_back(child->second);
    }
    return found;
}

char process_state(uint32_t pid) {
    const auto stat = read_stat(fmt::format("/proc/{}", pid));
    return stat ? stat->state : '\0';
}

}  // namespace oracle
