// SPDX-License-Identifier: GPL-2.0-or-later
//
// A user frame with its names: what symbolizing an address gives. Made once
// for each address of an image and shared by all stacks that hold it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lattop {

/// A function that the compiler merged into the one around it.
struct InlinedFrame {
    std::string symbol;  ///< demangled; "" where not known
    std::string file;    ///< where it is; "" where not known
    std::uint32_t line = 0;
};

struct UserFrame {
    std::string symbol;        ///< demangled, with parameters; "" where not known
    std::uint64_t offset = 0;  ///< in the symbol; without one in the module; else the address
    std::string module;        ///< file name without its folders; "" where not known
    std::string path;          ///< as the process sees it
    std::string file;          ///< source file; "" where not known
    std::uint32_t line = 0;
    std::vector<InlinedFrame> inlined;  ///< functions merged in here, innermost first
};

using UserFramePtr = std::shared_ptr<const UserFrame>;

/// About how much memory a frame takes.
inline std::size_t bytes_of(const UserFrame& frame) {
    constexpr std::size_t kNode = 64;
    std::size_t bytes = kNode + sizeof(frame) + frame.symbol.size() + frame.module.size() +
                        frame.path.size() + frame.file.size();
    for (const InlinedFrame& call : frame.inlined)
        bytes += sizeof(call) + call.symbol.size() + call.file.size();
    return bytes;
}

/// A user stack with its names, innermost frame first.
struct UserStack {
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    std::vector<UserFramePtr> frames;
    std::size_t own = kNone;  ///< innermost frame in the program's own file
    /// Which names these are: whoever keeps what he made of them asks for this, and does not keep
    /// them. Of one stack it is another where they changed; see new_version().
    std::uint64_t version = 0;
};

}  // namespace lattop
