// SPDX-License-Identifier: GPL-2.0-or-later
//
// See user_config.h.
#include "lattop/user_config.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "lattop/environment.h"
#include "lattop/source/error.h"
#include "lattop/write_file.h"
#include "unwind/process_files.h"

namespace lattop {
namespace {

/// A long table of reasons has 20 KB.
constexpr std::size_t kMaxBytes = std::size_t{1} << 20;

[[noreturn]] void refuse_config(
    const std::string& path, const std::string& why,
    const char* hint = "make it a regular file that you may read, or move it away") {
    throw Error(fmt::format("cannot read {}: {}", path, why), hint);
}

}  // namespace

std::string user_config_path(const std::string& name) {
    // A relative path is to be ignored, says the XDG base directory specification.
    if (const std::string config = environment("XDG_CONFIG_HOME"); config.starts_with('/'))
        return config + "/lattop/" + name;
    const std::string home = environment("HOME");
    return home.empty() ? "" : home + "/.config/lattop/" + name;
}

/// Who runs lattop with another one's HOME (sudo -E) reads what that one put there: no pipe is
/// waited for, no device opened, and none of the kernel's own files.
std::optional<std::string> read_user_config(const std::string& path) {
    if (path.empty()) return std::nullopt;
    const RegularFile file = open_regular_file(path);
    struct stat info {};
    // Nor is there one in a folder that may not be looked into: another one's, by HOME.
    if (!file && file.other_kind.empty() && ::stat(path.c_str(), &info) != 0) return std::nullopt;
    if (!file.other_kind.empty()) refuse_config(path, fmt::format("it is {}", file.other_kind));
    if (!file) refuse_config(path, std::strerror(file.error));
    std::string text;
    std::array<char, 16384> chunk;
    ssize_t n = 0;
    while (text.size() <= kMaxBytes && (n = ::read(file.fd.get(), chunk.data(), chunk.size())) > 0)
        text.append(chunk.data(), static_cast<std::size_t>(n));
    if (n < 0) refuse_config(path, std::strerror(errno));
    if (text.size() > kMaxBytes)
        refuse_config(path, "it is larger than 1 MiB", "make it shorter, or move it away");
    return text;
}

void write_user_config(const std::string& path, std::string_view text) {
    replace_file(path, text, "", MissingFolders::Make);
}

}  // namespace lattop
