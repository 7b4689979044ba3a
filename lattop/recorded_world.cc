// SPDX-License-Identifier: GPL-2.0-or-later
//
// See recorded_world.h.
#include "lattop/recorded_world.h"

#include "lattop/output.h"
#include "lattop/reasons/load.h"

namespace lattop {

RecordedWorld::RecordedWorld(const std::string& path)
    : source_(recording::open_recording(path)), reasons_(load_user_reasons()) {
    if (!reader().damage().empty()) complain(reader().damage());
}

}  // namespace lattop
