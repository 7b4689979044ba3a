// SPDX-License-Identifier: GPL-2.0-or-later
//
// See debug_cache.h.
#include "lattop/debug_cache.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "lattop/environment.h"
#include "lattop/safe_folder.h"
#include "lattop/source/error.h"

namespace lattop {
namespace {

constexpr const char* kCachePath = "DEBUGINFOD_CACHE_PATH";

}  // namespace

std::string debug_cache_path() {
    if (std::string path = environment(kCachePath); !path.empty()) return path;
    const std::string home = environment("HOME", "/");
    std::string of_old = home + "/.debuginfod_client_cache";
    struct stat info {};
    if (::stat(of_old.c_str(), &info) == 0) return of_old;
    return environment("XDG_CACHE_HOME", home + "/.cache") + "/debuginfod_client";
}

std::shared_ptr<DebugFetch> make_fetch(const std::function<void(const std::string&)>& complain,
                                       Fetcher fetcher) {
    if (!fetcher) return nullptr;
    try {
        const std::string folder = own_folder(debug_cache_path());
        if (::setenv(kCachePath, folder.c_str(), 1) != 0) return nullptr;
    } catch (const Error& error) {
        std::string why = std::string("nothing is fetched: ") + error.what() +
                          "; set DEBUGINFOD_CACHE_PATH to a folder of your own";
        if (complain) {
            complain("debuginfod: " + why);
            return nullptr;
        }
        fetcher = [why = std::move(why)](const std::string&, const FetchProgress&) {
            return Fetched{.error = EPERM, .why = why};
        };
    }
    return std::make_shared<DebugFetch>(std::move(fetcher));
}

}  // namespace lattop
