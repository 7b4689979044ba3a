// SPDX-License-Identifier: GPL-2.0-or-later
//
// debuginfod_fetcher() of debug_fetch.h: libdebuginfod, loaded when it is
// wanted (docs/decisions/0007-debuginfod-by-dlopen.md). Its interface is
// stable since elfutils 0.179: debuginfod_find_debuginfo(3).
#include <dlfcn.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

#include "unwind/debug_fetch.h"

namespace lattop {
namespace {

/// What is used of the library.
struct Library {
    using Client = void;
    using Progress = int (*)(Client*, long, long);

    Client* (*begin)() = nullptr;
    void (*end)(Client*) = nullptr;
    void (*set_progress)(Client*, Progress) = nullptr;
    void (*set_user_data)(Client*, void*) = nullptr;
    void* (*get_user_data)(Client*) = nullptr;
    int (*find)(Client*, const unsigned char*, int, char**) = nullptr;
};

template <typename Function>
bool load(void* handle, const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(handle, name));
    return function != nullptr;
}

/// Never unloaded: its TLS library cannot be.
const Library* library() {
    static const Library* const loaded = []() -> const Library* {
        void* handle = ::dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
        if (handle == nullptr) return nullptr;
        static Library found;
        const bool complete = load(handle, "debuginfod_begin", found.begin) &&
                              load(handle, "debuginfod_end", found.end) &&
                              load(handle, "debuginfod_set_progressfn", found.set_progress) &&
                              load(handle, "debuginfod_set_user_data", found.set_user_data) &&
                              load(handle, "debuginfod_get_user_data", found.get_user_data) &&
                              load(handle, "debuginfod_find_debuginfo", found.find);
        return complete ? &found : nullptr;
    }();
    return loaded;
}

int report(Library::Client* client, long done, long all) {
    const auto* progress = static_cast<const FetchProgress*>(library()->get_user_data(client));
    return progress != nullptr && !(*progress)(done, all) ? 1 : 0;  // 1 gives up
}

Fetched fetch(const std::string& build_id, const FetchProgress& progress) {
    const Library& lib = *library();
    const std::unique_ptr<Library::Client, void (*)(Library::Client*)> client(lib.begin(), lib.end);
    if (client == nullptr) return {.error = ENOMEM};
    FetchProgress copy = progress;
    lib.set_user_data(client.get(), &copy);
    lib.set_progress(client.get(), report);
    // A length of 0: the build id is given as hex.
    const int found = lib.find(
        client.get(), reinterpret_cast<const unsigned char*>(build_id.c_str()), 0, nullptr);
    if (found >= 0) return {.file = UniqueFd(found)};
    // What stays so: no server has it, it is larger than DEBUGINFOD_MAXSIZE, an address is none.
    const bool final = found == -ENOENT || found == -EFBIG || found == -EINVAL || found == -ENOSYS;
    return {.error = final ? 0 : -found};
}

}  // namespace

Fetcher debuginfod_fetcher() {
    const char* urls = std::getenv("DEBUGINFOD_URLS");
    if (urls == nullptr || *urls == '\0' || library() == nullptr) return nullptr;
    return fetch;
}

}  // namespace lattop
