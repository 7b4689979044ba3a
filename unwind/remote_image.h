// SPDX-License-Identifier: GPL-2.0-or-later
//
// Images that another process reads, which is held back (image_server.h): elfutils makes of a
// hostile file what it says, in memory and time, and has faults of its own. That process has
// no privileges, some memory and some time; where it comes to an end, the file that it was at
// is read less of from then on, first without its lines, then not at all. All others are
// lost() with it and read again, by a new process, when they are asked for. Used by the
// symbolizer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "unwind/program_image.h"

namespace lattop {

/// Reads by `command`, a program and its arguments, which is to serve_images() on descriptor 3
/// (kImageSocket) within as many bytes as one more argument says. It is started when something is
/// asked for, and again where it has ended.
std::shared_ptr<ImageSource> remote_images(std::vector<std::string> command);

inline constexpr int kImageSocket = 3;

/// As reader_command() says, or in this process. For a symbolizer of its own.
std::shared_ptr<ImageSource> program_images();

}  // namespace lattop
