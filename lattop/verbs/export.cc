// SPDX-License-Identifier: GPL-2.0-or-later
//
// See export.h.
#include "lattop/verbs/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lattop/export/json.h"
#include "lattop/export/stacks.h"
#include "lattop/output.h"
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
    Model model;
    model.update(std::move(profile.snapshot), {});
    return refresh_json({model, profile.names(), profile.users(), profile.reasons()}, {}, 0,
                        profile.realtime_ns, {});
}

struct Format {
    std::string_view name;
    std::string (*make)(Profile& profile);
};

constexpr auto kFormats = std::to_array<Format>({
    {"folded", folded},
    {"flamegraph", flamegraph},
    {"speedscope", speedscope},
    {"pprof", pprof},
    {"csv", csv},
    {"json", json},
});

const Format& find_format(const std::string& name) {
    const auto* found = std::ranges::find(kFormats, name, &Format::name);
    if (found != kFormats.end()) return *found;
    std::string names;
    for (const Format& format : kFormats)
        names += (names.empty() ? "" : ", ") + std::string(format.name);
    throw UsageError(
        fmt::format("--format {}: {}", name.empty() ? "is needed" : name,
                    (name.empty() ? "give one of " : "there is none such; there are ") + names),
        "see lattop export --help");
}

}  // namespace

int export_command(Arguments::List arguments) {
    std::string input;
    std::string format_name;
    std::string output;
    std::string duration;
    Selection selection;
    Arguments parser("export", "Where tasks blocked, in the formats of other tools.");
    parser.positional("FILE", input, "a recording, or the word live for this machine");
    parser.text("-f,--format", "FORMAT", format_name,
                "folded, flamegraph (one HTML file), speedscope, pprof, csv or json (needed)");
    parser.text("-o,--output", "FILE", output, "where to (default: standard output)");
    parser.text("--duration", "SECS", duration,
                "with live: the next so many seconds (default: since load or reset)");
    parser.selection(selection);
    if (!parser.parse(arguments)) return 0;
    const Format& format = find_format(format_name);
    const bool live = input == "live";
    if (!live && !duration.empty())
        throw UsageError("lattop export: --duration goes with live, a recording has its own",
                         "see lattop export --help");
    std::optional<std::chrono::milliseconds> wait;
    if (!duration.empty()) wait = parse_duration(duration, "--duration");
    Profile profile = live ? Profile::live(selection, wait) : Profile::recorded(input, selection);
    const std::string text = format.make(profile);
    if (output.empty())
        write_output(text);
    else
        replace_file(output, text, live ? "" : input);
    return 0;
}

}  // namespace lattop
