// SPDX-License-Identifier: GPL-2.0-or-later
//
// See profile.h.
#include "lattop/verbs/profile.h"

#include <fmt/format.h>
#include <unistd.h>

#include "lattop/export/json.h"
#include "lattop/model/format.h"
#include "lattop/model/period.h"
#include "lattop/output.h"
#include "lattop/source/error.h"
#include "lattop/verbs/taker.h"

namespace lattop {
namespace {

/// Of what the recording says about itself: a command line may be of megabytes.
constexpr std::size_t kMostInTitle = 200;

std::string shortened(std::string text) {
    if (text.size() <= kMostInTitle) return text;
    std::size_t end = kMostInTitle;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80)
        --end;  // not within a character
    return text.substr(0, end) + " ...";
}

std::string length(const Snapshot& snapshot) {
    return format_duration(snapshot.header.time_ns - snapshot.header.since_ns);
}

/// For who waits at a terminal.
void say_how_long(std::chrono::milliseconds duration) {
    if (::isatty(STDERR_FILENO) == 0) return;
    const auto ns = std::chrono::nanoseconds(duration).count();
    complain(fmt::format("gathers for {}; ^C ends that",
                         format_duration(static_cast<std::uint64_t>(ns))));
}

}  // namespace

Profile Profile::recorded(const std::string& input, const Selection& selection) {
    Profile profile;
    profile.recorded_ = std::make_unique<RecordedWorld>(input);
    recording::RecordingSource& source = profile.recorded_->source();
    recording::Reader& reader = source.reader();
    Period period(source.size() == 1 ? Period::Begin::AtNothing : Period::Begin::AtFirst);
    const SleepObjects& objects = reader.names().objects().objects();
    profile.recorded_->take_all(selection.query(), [&](const Snapshot& snapshot) {
        period.add(snapshot);
        profile.longest.add(snapshot, objects);
        if (source.more()) return;
        profile.objects =
            known_objects(snapshot, [&](const Task& task) { return objects.find(snapshot, task); });
    });
    profile.snapshot = period.snapshot();
    profile.realtime_ns = reader.realtime_ns(reader.size() - 1);
    const auto info = [&](const char* key) {
        const auto found = reader.info().find(key);
        return found == reader.info().end() ? std::string("?") : shortened(found->second);
    };
    profile.title =
        fmt::format("{}, Linux {}, {} in {} snapshots from {} on", info("host"), info("kernel"),
                    length(profile.snapshot), source.size(), local_time_at(reader.realtime_ns(0)));
    profile.recorded_->complain_of_unnamed();
    if (reader.info().contains("command")) profile.title += ": " + info("command");
    profile.keep(selection.waits);
    return profile;
}

Profile Profile::live(const Selection& selection, const WantedWaits& wanted,
                      std::optional<std::chrono::milliseconds> duration) {
    Profile profile;
    const bool command_lines = !wanted.filter.empty();
    profile.gathering_ = std::make_unique<Gathering>();  // before the world's threads
    Gathering& gathering = *profile.gathering_;
    profile.live_ = std::make_unique<LiveWorld>(duration.has_value(), gathering.stop_naming());
    gathering.let_signals_end();
    const World world = profile.world();
    Taker taker(selection.query(), world);
    Period period(duration ? Period::Begin::AtFirst : Period::Begin::AtNothing);
    const Snapshot first = taker.take_surely();
    period.add(first);
    if (duration) {
        const Clock::Time until = world.clock.now() + *duration;
        gathering.begin(until);
        say_how_long(*duration);
        want_users(world.users, first);
        if (command_lines) want_command_lines(first, world.stacks);
        find_names(first, world);  // of what ends meanwhile
        gathering.wait();
        period.add(taker.take_surely());
    }
    profile.snapshot = period.snapshot();
    gathering.finish();
    if (command_lines) want_command_lines(profile.snapshot, world.stacks);
    find_last_names(profile.snapshot, world);
    gathering.let_signals_end();
    want_users(world.users, profile.snapshot);
    wait_for_users(world.users);
    profile.realtime_ns = world.clock.realtime_ns();
    profile.title =
        fmt::format("{}{}", length(profile.snapshot), duration ? "" : " since load or reset");
    profile.keep(selection.waits);
    return profile;
}

bool write_profile_json(Profile& profile, std::uint32_t limit, const Output& output) {
    Model model;
    model.update(std::move(profile.snapshot), {});
    FindObjects objects;
    if (profile.of_recording())
        objects = [&](std::span<const Task* const> /*tasks*/) { return profile.objects; };
    return write_refresh_json(
        {model, profile.names(), profile.users(), profile.reasons(), profile.cgroups()},
        {.waits = profile.waits}, limit, profile.realtime_ns, {}, objects, output);
}

void ProfileInput::declare(Arguments& arguments) {
    arguments.positional("FILE", file_, "a recording, or the word live for this machine", {"live"});
    arguments.text("--duration", "SECS", duration_text_,
                   "with live: the next so many seconds (default: since load or reset)");
}

void ProfileInput::check(std::string_view verb) {
    if (!live() && !duration_text_.empty())
        throw UsageError(
            fmt::format("lattop {}: --duration goes with live, a recording has its own", verb),
            fmt::format("see lattop {} --help", verb));
    if (!duration_text_.empty()) duration_ = parse_duration(duration_text_, "--duration");
}

Profile ProfileInput::open(const Selection& selection) const {
    return open(selection, selection.waits);
}

Profile ProfileInput::open(const Selection& selection, const WantedWaits& wanted) const {
    return live() ? Profile::live(selection, wanted, duration_)
                  : Profile::recorded(file_, selection);
}

}  // namespace lattop
