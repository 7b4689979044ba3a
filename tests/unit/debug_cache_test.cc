// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/debug_cache.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"

namespace lattop::test {
namespace {

/// A variable of the environment, while it lives.
class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name) {
        if (const char* before = std::getenv(name)) before_ = before;
        ::setenv(name, value.c_str(), 1);
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;
    ~Variable() {
        if (before_)
            ::setenv(name_, before_->c_str(), 1);
        else
            ::unsetenv(name_);
    }

private:
    const char* name_;
    std::optional<std::string> before_;
};

void folder_of_mode(const std::string& path, mode_t mode) {
    REQUIRE(::mkdir(path.c_str(), 0700) == 0);
    REQUIRE(::chmod(path.c_str(), mode) == 0);
}

std::string real(const std::string& path) {
    char* resolved = ::realpath(path.c_str(), nullptr);
    REQUIRE(resolved != nullptr);
    std::string text = resolved;
    std::free(resolved);
    return text;
}

Fetched nothing(const std::string&, const FetchProgress&) {
    return {};
}

}  // namespace

TEST_CASE("debug files are kept where libdebuginfod's manual says") {
    const TempFolder folder;
    const Variable home("HOME", folder.path());
    const Variable cache("XDG_CACHE_HOME", "");
    const Variable path("DEBUGINFOD_CACHE_PATH", "");
    CHECK(debug_cache_path() == folder.path() + "/.cache/debuginfod_client");
    const Variable another("XDG_CACHE_HOME", "/var/cache/me");
    CHECK(debug_cache_path() == "/var/cache/me/debuginfod_client");
    folder_of_mode(folder.path() + "/.debuginfod_client_cache", 0700);
    CHECK(debug_cache_path() == folder.path() + "/.debuginfod_client_cache");
    const Variable given("DEBUGINFOD_CACHE_PATH", "/srv/debug");
    CHECK(debug_cache_path() == "/srv/debug");
}

TEST_CASE("nothing is fetched into what another user could lead elsewhere, which is said") {
    const TempFolder folder;
    folder_of_mode(folder.path() + "/all", 0777);
    const Variable given("DEBUGINFOD_CACHE_PATH", folder.path() + "/all");
    std::vector<std::string> said;
    CHECK(make_fetch([&](const std::string& text) { said.push_back(text); }, nothing) == nullptr);
    REQUIRE(said.size() == 1);
    CHECK_THAT(said.front(), has_text("debuginfod: nothing is fetched: "));
    CHECK_THAT(said.front(), has_text("set DEBUGINFOD_CACHE_PATH to a folder of your own"));

    const auto fetch = make_fetch(nullptr, nothing);
    REQUIRE(fetch != nullptr);
    while (fetch->want("ab", "libc.so.6") == DebugFetch::State::Waiting)
        ::poll(nullptr, 0, 1);
    CHECK(fetch->want("ab", "libc.so.6") == DebugFetch::State::Failed);
    CHECK_THAT(fetch->progress(), has_text("debuginfod: libc.so.6: nothing is fetched: "));
}

TEST_CASE("libdebuginfod is told the folder that was looked at") {
    const TempFolder folder;
    const std::string top = real(folder.path());
    REQUIRE(::symlink(top.c_str(), (top + "/link").c_str()) == 0);
    const Variable given("DEBUGINFOD_CACHE_PATH", top + "/link/cache");
    CHECK(make_fetch(nullptr, nullptr) == nullptr);
    CHECK(std::string(std::getenv("DEBUGINFOD_CACHE_PATH")) == top + "/link/cache");
    CHECK(make_fetch(nullptr, nothing) != nullptr);
    CHECK(std::string(std::getenv("DEBUGINFOD_CACHE_PATH")) == top + "/cache");
}

}  // namespace lattop::test
