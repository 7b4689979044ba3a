// SPDX-License-Identifier: GPL-2.0-or-later
//
// See user_config.h.
#include "lattop/user_config.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "lattop/source/error.h"
#include "lattop/write_file.h"

namespace lattop {

std::string user_config_path(const std::string& name) {
    const auto variable = [](const char* variable_name) {
        const char* value = std::getenv(variable_name);
        return std::string(value == nullptr ? "" : value);
    };
    // A relative path is to be ignored, says the XDG base directory specification.
    if (const std::string config = variable("XDG_CONFIG_HOME"); config.starts_with('/'))
        return config + "/lattop/" + name;
    const std::string home = variable("HOME");
    return home.empty() ? "" : home + "/.config/lattop/" + name;
}

std::optional<std::string> read_user_config(const std::string& path) {
    std::error_code error;
    if (path.empty() || !std::filesystem::exists(path, error)) return std::nullopt;
    std::ostringstream text;
    if (!std::filesystem::is_directory(path)) {
        const std::ifstream file(path, std::ios::binary);
        text << file.rdbuf();
        if (file.is_open()) return text.str();
    }
    throw Error(fmt::format("cannot read {}", path),
                "make it a file that you may read, or move it away");
}

void write_user_config(const std::string& path, std::string_view text) {
    std::error_code ignored;  // what matters is whether the file can be written
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
    replace_file(path, text, "");
}

}  // namespace lattop
