// SPDX-License-Identifier: GPL-2.0-or-later
//
// See load.h.
#include "lattop/reasons/load.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "lattop/source/error.h"

namespace lattop {
namespace {

constexpr const char* kOwnName = "reasons.conf";

std::string read_file(const std::string& path) {
    std::ostringstream text;
    if (!std::filesystem::is_directory(path)) {
        const std::ifstream file(path, std::ios::binary);
        text << file.rdbuf();
        if (file.is_open()) return text.str();
    }
    throw Error(fmt::format("cannot read {}", path),
                "make it a file that you may read, or move it away");
}

}  // namespace

ReasonTable built_in_reasons() {
    ReasonTable table;
    table.append(built_in_reasons_text(), kOwnName);
    return table;
}

std::string user_reasons_path() {
    const auto variable = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value == nullptr ? "" : value);
    };
    // A relative path is to be ignored, says the XDG base directory specification.
    if (const std::string config = variable("XDG_CONFIG_HOME"); config.starts_with('/'))
        return config + "/lattop/reasons.conf";
    const std::string home = variable("HOME");
    return home.empty() ? "" : home + "/.config/lattop/reasons.conf";
}

ReasonTable load_reasons(const std::string& path) {
    ReasonTable table;
    std::error_code error;
    if (!path.empty() && std::filesystem::exists(path, error)) table.append(read_file(path), path);
    table.append(built_in_reasons_text(), kOwnName);
    return table;
}

ReasonTable load_user_reasons() {
    return load_reasons(user_reasons_path());
}

}  // namespace lattop
