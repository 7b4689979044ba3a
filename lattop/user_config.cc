// SPDX-License-Identifier: GPL-2.0-or-later
//
// See user_config.h.
#include "lattop/user_config.h"

#include <fcntl.h>
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
#include "unwind/unique_fd.h"

namespace lattop {
namespace {

/// A long table of reasons has 20 KB.
constexpr std::size_t kMaxBytes = std::size_t{1} << 20;

[[noreturn]] void refuse_config(
    const std::string& path, const std::string& why,
    const char* hint = "make it a file that you may read, or move it away") {
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
    FilePath file{UniqueFd(::open(path.c_str(), O_PATH | O_CLOEXEC))};
    if (!file) {
        const int error = errno;
        // Nor is there one in a folder that may not be looked into: another one's, by HOME.
        if (::stat(path.c_str(), &file.info) != 0) return std::nullopt;
        errno = error;
    }
    if (!file || ::fstat(file.fd.get(), &file.info) != 0) refuse_config(path, std::strerror(errno));
    if (!S_ISREG(file.info.st_mode))
        refuse_config(path, "it is not a regular file", "make it one, or move it away");
    if (!is_stored(file.fd.get()))
        refuse_config(path, "it is one of the kernel's own files, as those of /proc are",
                      "make it a file of yours, or move it away");
    const UniqueFd fd = open_to_read(file);
    if (!fd) refuse_config(path, std::strerror(errno));
    std::string text;
    std::array<char, 16384> chunk;
    ssize_t n = 0;
    while (text.size() <= kMaxBytes && (n = ::read(fd.get(), chunk.data(), chunk.size())) > 0)
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
