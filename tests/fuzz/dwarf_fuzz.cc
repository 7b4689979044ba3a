// SPDX-License-Identifier: GPL-2.0-or-later
//
// Programs with debug information, as files: whatever it is, each address has a
// frame, and what was inlined there is no deeper than lattop looks.
#include <algorithm>
#include <climits>
#include <cstdint>

#include "tests/fuzz/bytes.h"
#include "unwind/elf_image.h"

namespace {

void check_frames(lattop::ElfImage& image, std::size_t size) {
    constexpr std::size_t kMostInlined = 256;
    constexpr std::size_t kMostName = 65536;
    constexpr std::size_t kMostFrames = 64;
    const std::size_t stride = std::max<std::size_t>(16, size / kMostFrames);
    for (std::uint64_t offset = 0; offset < size; offset += stride) {
        const auto frame = image.frame_at(offset, false, "/a/file");
        REQUIRE(frame != nullptr && frame->module == "file");
        REQUIRE(frame->inlined.size() <= kMostInlined && frame->file.size() <= PATH_MAX);
        REQUIRE(frame->symbol.size() <= kMostName);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static lattop::fuzz::MemoryFile file;
    file.write(lattop::fuzz::text_of(data, size));
    const auto image = lattop::ElfImage::from_file(file.another_fd());
    check_frames(*image, size);
    if (const lattop::DebugName* wanted = image->wanted_debug_file()) {
        REQUIRE(wanted->link.find('/') == std::string::npos);
        REQUIRE(wanted->build_id.find_first_not_of("0123456789abcdef") == std::string::npos);
    }
    image->add_debug_file(file.another_fd(), lattop::AltLink::Refused);
    check_frames(*image, size);
    image->load_variables(file.another_fd());
    constexpr std::size_t kMostVariables = 64;
    for (std::uint64_t address = 0; address < size;
         address += std::max<std::size_t>(61, size / kMostVariables))
        REQUIRE(image->variable_at(address).size() <= (1U << 17));
    return 0;
}
