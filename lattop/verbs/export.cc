// SPDX-License-Identifier: GPL-2.0-or-later
//
// See export.h.
#include "lattop/verbs/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "lattop/export/perfetto.h"
#include "lattop/export/stacks.h"
#include "lattop/output.h"
#include "lattop/recorded_world.h"
#include "lattop/source/error.h"
#include "lattop/verbs/profile.h"
#include "lattop/write_file.h"

namespace lattop {
namespace {

std::string folded(Profile& profile) {
    return export_folded(merge_stacks(profile.snapshot, profile.names(), profile.reasons()));
}

std::string flamegraph(Profile& profile) {
    return export_flamegraph(merge_stacks(profile.snapshot, profile.names(), profile.reasons()),
                             "lattop: " + profile.title);
}

std::string speedscope(Profile& profile) {
    return export_speedscope(merge_stacks(profile.snapshot, profile.names(), profile.reasons()),
                             profile.title);
}

std::string pprof(Profile& profile) {
    const Header& header = profile.snapshot.header;
    const std::uint64_t duration_ns = header.time_ns - header.since_ns;
    return export_pprof(merge_stacks(profile.snapshot, profile.names(), profile.reasons()),
                        profile.realtime_ns - duration_ns, duration_ns);
}

std::string csv(Profile& profile) {
    return export_csv(merge_stacks(profile.snapshot, profile.names(), profile.reasons()));
}

std::string json(Profile& profile) {
    std::string document;
    write_profile_json(profile, 0, [&](std::string_view text) {
        document += text;
        return true;
    });
    return document;
}

/// A timeline, made of every snapshot and not of their sum.
std::string perfetto(const std::string& input, const Selection& selection) {
    RecordedWorld recorded(input);
    const World world = recorded.world();
    const auto wanted = [&](const Snapshot& snapshot, const Task& task, const Entry& entry) {
        const KnownBy known{snapshot, world.stacks, world.users, world.cgroups};
        return is_wanted(selection.waits, known, task, &entry,
                         world.reasons.of(snapshot, task, entry, world.stacks));
    };
    PerfettoTrace trace(world.stacks, world.reasons,
                        selection.waits.all() ? PerfettoTrace::Wanted() : wanted);
    recorded.take_all(selection.query(),
                      [&](Snapshot snapshot) { trace.add(std::move(snapshot)); });
    if (!trace.has_interval())
        throw Error(input + " has one snapshot, and so no interval to draw",
                    "record for longer, or with a smaller -d");
    recorded.complain_of_unnamed();
    const auto& info = recorded.reader().info();
    const auto host = info.find("host");
    return trace.text(host == info.end() ? "" : host->second);
}

struct Format {
    std::string_view name;
    std::string (*make)(Profile& profile);  ///< of the sum of all snapshots, or
    std::string (*make_of_each)(const std::string& input, const Selection& selection) = nullptr;
};

constexpr auto kFormats = std::to_array<Format>({
    {"folded", folded},
    {"flamegraph", flamegraph},
    {"speedscope", speedscope},
    {"pprof", pprof},
    {"perfetto", nullptr, perfetto},
    {"csv", csv},
    {"json", json},
});

std::vector<std::string> format_names() {
    std::vector<std::string> names;
    for (const Format& format : kFormats)
        names.emplace_back(format.name);
    return names;
}

const Format& find_format(const std::string& name) {
    const auto* found = std::ranges::find(kFormats, name, &Format::name);
    if (found != kFormats.end()) return *found;
    throw UsageError(fmt::format("--format {}: {}{}", name.empty() ? "is needed" : name,
                                 name.empty() ? "give one of " : "there is none such; there are ",
                                 fmt::join(format_names(), ", ")),
                     "see lattop export --help");
}

}  // namespace

int export_command(Arguments& arguments) {
    ProfileInput input;
    std::string format_name;
    std::string output;
    Selection selection;
    arguments.text("-f,--format", "FORMAT", format_name,
                   "for which tool (needed; flamegraph is one HTML file)", format_names());
    arguments.text("-o,--output", "FILE", output, "where to (default: standard output)");
    input.declare(arguments);
    arguments.selection(selection);
    if (!arguments.parse()) return 0;
    const Format& format = find_format(format_name);
    input.check("export");
    if (input.live() && format.make_of_each != nullptr)
        throw UsageError(
            fmt::format("lattop export: {} is a timeline, which needs a recording", format.name),
            "lattop record -o FILE --duration SECS makes one");
    std::string text;
    if (format.make_of_each != nullptr) {
        text = format.make_of_each(input.file(), selection);
    } else {
        Profile profile = input.open(selection);
        text = format.make(profile);
    }
    if (output.empty())
        write_output(text);
    else
        replace_file(output, text, input.live() ? "" : input.file());
    return 0;
}

}  // namespace lattop
