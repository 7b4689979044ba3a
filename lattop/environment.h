// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the environment says (environ(7)). Used by what looks for the user's folders and his
// wishes.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>

namespace lattop {

/// The variable `name`, or `missing` where it is not set, or empty.
inline std::string environment(const char* name, std::string missing = "") {
    const char* value = std::getenv(name);
    return value == nullptr || *value == '\0' ? std::move(missing) : value;
}

}  // namespace lattop
