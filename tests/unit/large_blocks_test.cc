// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/large_blocks.h"

#include <malloc.h>

#include <cstddef>
#include <vector>

#include "tests/unit/support/catch.h"

namespace lattop::test {

#if !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)  // these have a malloc of theirs
TEST_CASE("large blocks are mapped by themselves, also when larger ones were freed before") {
    give_back_large_blocks();
    const auto mapped_for = [](std::size_t bytes) {
        const std::size_t before = mallinfo2().hblkhd;
        const std::vector<char> block(bytes, 'x');
        return mallinfo2().hblkhd - before >= block.size();
    };
    CHECK(mapped_for(std::size_t{16} << 20));
    CHECK(mapped_for(std::size_t{1} << 20));
    CHECK(!mapped_for(std::size_t{64} << 10));
}
#endif

}  // namespace lattop::test
