// SPDX-License-Identifier: GPL-2.0-or-later
//
// See stacks.h. The flame graph is in flamegraph.cc.
#include "lattop/export/stacks.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "lattop/model/format.h"
#include "lattop/version.h"

namespace lattop {
namespace {

using Json = nlohmann::ordered_json;

/// The frames of a profile, each once, by what it shows.
class FrameTable {
public:
    std::size_t index(const std::string& name, const std::string& file, std::uint32_t line) {
        const auto [found, added] = index_.try_emplace({name, file, line}, frames_.size());
        if (added) {
            Json frame{{"name", printable(name, Charset::Utf8)}};
            if (!file.empty()) frame["file"] = printable(file, Charset::Utf8);
            if (line != 0) frame["line"] = line;
            frames_.push_back(std::move(frame));
        }
        return found->second;
    }
    [[nodiscard]] Json take() { return std::move(frames_); }

private:
    std::map<std::tuple<std::string, std::string, std::uint32_t>, std::size_t> index_;
    Json frames_ = Json::array();
};

}  // namespace

std::string export_folded(std::span<const MergedStack> stacks) {
    std::string text;
    for (const MergedStack& stack : stacks)
        if (stack.blocked_ns != 0) text += fmt::format("{} {}\n", stack.folded(), stack.blocked_ns);
    return text;
}

std::string export_speedscope(std::span<const MergedStack> stacks, const std::string& title) {
    FrameTable table;
    Json samples = Json::array();
    Json weights = Json::array();
    std::uint64_t total = 0;
    for (const MergedStack& stack : stacks) {
        if (stack.blocked_ns == 0) continue;
        Json sample = Json::array({table.index(stack.command, "", 0)});
        for (const MergedFrame& frame : stack.frames)
            sample.push_back(table.index(frame.kernel ? frame.name + " [kernel]" : frame.name,
                                         frame.file, frame.line));
        if (stack.frames.empty()) sample.push_back(table.index("[other]", "", 0));
        samples.push_back(std::move(sample));
        weights.push_back(stack.blocked_ns);
        total += stack.blocked_ns;
    }
    const std::string name = printable(title, Charset::Utf8);
    const Json document{{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                        {"shared", {{"frames", table.take()}}},
                        {"profiles", Json::array({{{"type", "sampled"},
                                                   {"name", name},
                                                   {"unit", "nanoseconds"},
                                                   {"startValue", 0},
                                                   {"endValue", total},
                                                   {"samples", std::move(samples)},
                                                   {"weights", std::move(weights)}}})},
                        {"name", name},
                        {"activeProfileIndex", 0},
                        {"exporter", std::string("lattop ") + kVersion}};
    return document.dump() + "\n";
}

std::string csv_field(std::string text) {
    // A spreadsheet would run it as a formula: the name of a task is its own choice, and so are
    // those of its functions. Where people write commas in numbers a semicolon begins a cell.
    for (std::size_t at = 0; at < text.size(); ++at)
        if ((at == 0 || text[at - 1] == ';') &&
            std::string_view("=+-@").find(text[at]) != std::string_view::npos)
            text.insert(at, 1, '\'');
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

std::string export_csv(std::span<const MergedStack> stacks) {
    std::string text = "command,reason,blocked_ns,sleeps,max_ns,tasks,stack\r\n";
    for (const MergedStack& stack : stacks)
        text += fmt::format("{},{},{},{},{},{},{}\r\n",
                            csv_field(printable(stack.command, Charset::Utf8)),
                            csv_field(printable(stack.reason, Charset::Utf8)), stack.blocked_ns,
                            stack.sleeps, stack.max_ns, stack.tasks, csv_field(stack.folded()));
    return text;
}

}  // namespace lattop
