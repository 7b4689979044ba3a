// SPDX-License-Identifier: GPL-2.0-or-later
//
// `lattop image-reader`, which lattop starts for itself: reads programs' files for it, of which
// elfutils makes whatever they say, or walks a stack, with which libunwind does the same, without
// privileges, within limits of memory and time, and under a filter of system calls. Not in any
// help: it is of no use to anybody else. docs/decisions/0020 says why.
#pragma once

#include <span>
#include <string_view>

namespace lattop {

inline constexpr std::string_view kImageReaderVerb = "image-reader";

/// Has this program's images read so from now on (unwind/remote_image.h), and stacks walked
/// (unwind/remote_unwind.h).
void use_image_readers();

/// Tries the filter of system calls in a process of its own. Throws Error where there can be none:
/// an image reader goes on without.
void try_filter_of_image_readers();

/// The process's whole life; its exit status. `arguments`: how many bytes of memory it may take.
int run_image_reader(std::span<const char* const> arguments);

}  // namespace lattop
