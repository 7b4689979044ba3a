// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the symbolizer takes from debug files: installed, fetched, linked.
#include "unwind/symbolizer.h"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>

#include "tests/unit/support/catch.h"
#include "tests/unit/support/symbol_programs.h"
#include "unwind/elf_header.h"

namespace lattop::test {
namespace {

std::string build_id_of(const std::string& path) {
    return debug_name(UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC))).build_id;
}

}  // namespace

TEST_CASE("an installed debug file names what the program does not") {
    const TempFolder folder;
    const std::string program = GENERATE(std::string("symbols_by_id"), "symbols_by_link");
    const std::string path = folder.path() + "/" + program;
    const std::string debug = kSymbolPrograms + "/" + program + ".debug";
    std::filesystem::copy_file(kSymbolPrograms + "/" + program, path);
    const std::string beside = folder.path() + "/.debug/" + program + ".debug";
    std::filesystem::create_directory(folder.path() + "/.debug");
    bool found = true;
    SECTION("there is none") {
        found = false;
    }
    SECTION("in .debug beside it") {
        std::filesystem::copy_file(debug, beside);
    }
    SECTION("in the folder of all, under its path") {
        const std::string place = folder.path() + "/all" + folder.path();
        std::filesystem::create_directories(place);
        std::filesystem::copy_file(debug, place + "/" + program + ".debug");
    }
    SECTION("in the folder of all, by build id") {
        if (program != "symbols_by_id") return;
        const std::string id = build_id_of(path);
        REQUIRE(id.size() == 40);
        const std::string place = folder.path() + "/all/.build-id/" + id.substr(0, 2);
        std::filesystem::create_directories(place);
        std::filesystem::copy_file(debug, place + "/" + id.substr(2) + ".debug");
    }
    SECTION("of another build it is not taken") {
        found = false;
        const bool by_id = program == "symbols_by_id";
        std::filesystem::copy_file(
            kSymbolPrograms + (by_id ? "/symbols_by_link.debug" : "/symbols_by_id.debug"), beside);
    }
    const Child child(path, kSymbolLines);
    Symbolizer symbolizer({.folder = folder.path() + "/all"});
    const UserFrame frame = frame_of(symbolizer, child, child.address("take"));
    CHECK(frame.symbol == (found ? "known::Pool::take(int)" : ""));
    CHECK(frame.file.ends_with("symbols_program.cc") == found);
    CHECK(frame_of(symbolizer, child, child.address("merged")).inlined.size() == (found ? 1 : 0));
    CHECK(symbolizer.variable(child.task(), child.address("zeros"), 1) ==
          (found ? "known::queue_lock+0x8" : ""));
}

TEST_CASE("a debug file that has to be fetched names stacks when it is here") {
    const TempFolder folder;
    const std::string path = folder.path() + "/symbols_by_id";
    std::filesystem::copy_file(kSymbolPrograms + "/symbols_by_id", path);
    const Child child(path, kSymbolLines);
    std::promise<void> go_on;
    const auto wait = go_on.get_future().share();
    const auto fetch =
        std::make_shared<DebugFetch>([wait](const std::string& id, const FetchProgress&) {
            wait.wait();
            const std::string own = kSymbolPrograms + "/symbols_by_id";
            if (id != build_id_of(own)) return Fetched{};
            return Fetched{.file = UniqueFd(::open((own + ".debug").c_str(), O_RDONLY))};
        });
    Symbolizer symbolizer({.folder = folder.path(), .fetch = fetch});
    const std::array<std::uint64_t, 1> at = {child.address("take")};
    Naming naming = symbolizer.name(child.task(), at, 1);
    CHECK(naming.result == Naming::Result::Waiting);
    CHECK(naming.stack.frames.at(0)->symbol.empty());
    CHECK(symbolizer.variable(child.task(), child.address("zeros"), 1).empty());
    CHECK(fetch->progress() == "debuginfod: symbols_by_id");
    go_on.set_value();
    std::uint64_t round = 2;
    for (; naming.result == Naming::Result::Waiting && round < 10'000; ++round) {
        ::poll(nullptr, 0, 1);
        naming = symbolizer.name(child.task(), at, round);
    }
    CHECK(naming.result == Naming::Result::Named);
    CHECK(naming.stack.frames.at(0)->symbol == "known::Pool::take(int)");
    CHECK(naming.stack.frames.at(0)->line != 0);
    CHECK(symbolizer.variable(child.task(), child.address("zeros"), round) ==
          "known::queue_lock+0x8");
}

TEST_CASE("each of two symbolizers gets a debug file that both wait for") {
    const TempFolder folder;
    const std::string path = folder.path() + "/symbols_by_id";
    std::filesystem::copy_file(kSymbolPrograms + "/symbols_by_id", path);
    const Child child(path, kSymbolLines);
    const auto fetch = std::make_shared<DebugFetch>([](const std::string&, const FetchProgress&) {
        const std::string file = kSymbolPrograms + "/symbols_by_id.debug";
        return Fetched{.file = UniqueFd(::open(file.c_str(), O_RDONLY))};
    });
    std::array<Symbolizer, 2> symbolizers = {Symbolizer({.folder = folder.path(), .fetch = fetch}),
                                             Symbolizer({.folder = folder.path(), .fetch = fetch})};
    const std::array<std::uint64_t, 1> at = {child.address("take")};
    std::array<Naming, 2> named;
    for (auto& naming : named)
        naming.result = Naming::Result::Waiting;
    for (std::uint64_t round = 1; round < 10'000; ++round) {
        for (std::size_t i = 0; i < named.size(); ++i)
            if (named.at(i).result == Naming::Result::Waiting)
                named.at(i) = symbolizers.at(i).name(child.task(), at, round);
        if (std::ranges::none_of(named, [](const Naming& naming) {
                return naming.result == Naming::Result::Waiting;
            }))
            break;
        ::poll(nullptr, 0, 1);
    }
    for (const Naming& naming : named)
        CHECK(naming.stack.frames.at(0)->symbol == "known::Pool::take(int)");
}

TEST_CASE("a debug file that no server could be asked for is worth asking for again") {
    const TempFolder folder;
    const std::string path = folder.path() + "/symbols_by_id";
    std::filesystem::copy_file(kSymbolPrograms + "/symbols_by_id", path);
    const Child child(path, kSymbolLines);
    std::atomic<bool> reachable = false;
    const auto fetch = std::make_shared<DebugFetch>(
        [&reachable](const std::string&, const FetchProgress&) {
            if (!reachable) return Fetched{.error = EHOSTUNREACH};
            const std::string file = kSymbolPrograms + "/symbols_by_id.debug";
            return Fetched{.file = UniqueFd(::open(file.c_str(), O_RDONLY))};
        },
        std::chrono::milliseconds(1));
    Symbolizer symbolizer({.folder = folder.path(), .fetch = fetch});
    const std::array<std::uint64_t, 1> at = {child.address("take")};
    std::uint64_t round = 0;
    const auto ask_until = [&](bool retry) {
        for (; round < 10'000; ::poll(nullptr, 0, 1))
            if (const Naming naming = symbolizer.name(child.task(), at, ++round);
                naming.result == Naming::Result::Named && naming.retry_at.has_value() == retry)
                return naming;
        return Naming{};
    };
    CHECK(ask_until(true).stack.frames.at(0)->symbol.empty());
    reachable = true;
    CHECK(ask_until(false).stack.frames.at(0)->symbol == "known::Pool::take(int)");
}

TEST_CASE("a file of /proc is not read for a debug file, whatever links to it") {
    const TempFolder folder;
    const std::string path = folder.path() + "/status";
    CHECK(!open_regular_file("/proc/self/status"));
    CHECK(!open_regular_file("/sys/kernel/notes"));
    std::filesystem::create_symlink("/proc/self/status", path);
    CHECK(!open_regular_file(path));
    std::filesystem::remove(path);
    std::ofstream(path) << "a file\n";
    CHECK(open_regular_file(path));
}

}  // namespace lattop::test
