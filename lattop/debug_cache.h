// SPDX-License-Identifier: GPL-2.0-or-later
//
// Debug files from the debuginfod servers that the environment names, and where libdebuginfod
// keeps them: it follows links and writes what it likes in its folder, so that has to be one that
// nobody else can lead elsewhere. Called by what names stacks of this machine (live_world, top).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "unwind/debug_fetch.h"

namespace lattop {

/// Where libdebuginfod keeps files, as debuginfod_find_debuginfo(3) says: DEBUGINFOD_CACHE_PATH,
/// else .debuginfod_client_cache in HOME where there is one, else debuginfod_client in
/// XDG_CACHE_HOME or .cache.
std::string debug_cache_path();

/// nullptr where there is no fetcher: the environment names no server. Has libdebuginfod keep files
/// in what own_folder() says of debug_cache_path(). Where that refuses, nothing is fetched:
/// `complain` is told, if there is one, else progress() says it when a file is wanted. Sets
/// DEBUGINFOD_CACHE_PATH, so call it before there are threads that look at the environment.
std::shared_ptr<DebugFetch> make_fetch(
    const std::function<void(const std::string&)>& complain = nullptr,
    Fetcher fetcher = debuginfod_fetcher());

}  // namespace lattop
