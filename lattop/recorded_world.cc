// SPDX-License-Identifier: GPL-2.0-or-later
//
// See recorded_world.h.
#include "lattop/recorded_world.h"

#include "lattop/output.h"
#include "lattop/reasons/load.h"

namespace lattop {

RecordedWorld::RecordedWorld(const std::string& path)
    : path_(path), source_(recording::open_recording(path)), reasons_(load_user_reasons()) {
    if (!reader().damage().empty()) complain(reader().damage());
}

void RecordedWorld::complain_of_unnamed() {
    const auto unnamed = reader().info().find("unnamed-stacks");
    if (unnamed != reader().info().end())
        complain(unnamed->second + " stacks have no names: they had no room in " + path_);
}

}  // namespace lattop
