// SPDX-License-Identifier: GPL-2.0-or-later
//
// See load.h.
#include "lattop/reasons/load.h"

#include "lattop/user_config.h"

namespace lattop {
namespace {

constexpr const char* kOwnName = "reasons.conf";

}  // namespace

ReasonTable built_in_reasons() {
    ReasonTable table;
    table.append(built_in_reasons_text(), kOwnName);
    return table;
}

std::string user_reasons_path() {
    return user_config_path(kOwnName);
}

ReasonTable load_reasons(const std::string& path) {
    ReasonTable table;
    if (const auto own = read_user_config(path)) table.append(*own, path);
    table.append(built_in_reasons_text(), kOwnName);
    return table;
}

ReasonTable load_user_reasons() {
    return load_reasons(user_reasons_path());
}

}  // namespace lattop
