// SPDX-License-Identifier: GPL-2.0-or-later
//
// Misses: the resolver walks this very process from any pc, sp and bp, over a
// stack of any words. What it teaches is what the module would take.
//
//	misses: 2 bytes of choice, pc, sp, bp | the stack
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lattop/resolver.h"
#include "tests/fuzz/folder.h"
#include "tests/fuzz/require.h"
#include "unwind/byte_reader.h"
#include "unwind/process_files.h"

namespace {

using lattop::ByteReader;

class FuzzDoor final : public lattop::ResolverDoor {
public:
    std::vector<lt_miss> take() override { return std::exchange(misses, {}); }
    bool reopen() override { return true; }
    std::vector<lt_miss> sleepers() override { return {}; }
    int teach(const lt_miss& /*miss*/, std::span<const lt_row> rows,
              std::span<const lt_row_range> ranges) override {
        REQUIRE(!rows.empty() && rows.size() <= LT_MAX_TEACH_ROWS);
        REQUIRE(!ranges.empty() && ranges.size() <= LT_MAX_TEACH_RANGES);
        for (const lt_row& row : rows) {
            REQUIRE(row.pc != 0 && lt_row_valid(&row));
            bool inside = false;
            for (const lt_row_range& range : ranges)
                inside = inside || (row.pc >= range.start && row.pc <= range.end);
            REQUIRE(inside);
        }
        return 0;
    }
    [[nodiscard]] std::unique_ptr<ResolverDoor> another() const override {
        return std::make_unique<FuzzDoor>();
    }
    [[nodiscard]] int ready_fd() const override { return -1; }

    std::vector<lt_miss> misses;
};

std::array<std::uint64_t, 512> stack;

/// Asked once: a call of the kernel for each miss was a fifth of the time.
const auto kOwnPid = static_cast<unsigned>(::getpid());

/// Raw, in this program's code, in libc's, or on the stack.
std::uint64_t address(ByteReader& bytes, unsigned choice) {
    const auto raw = bytes.fixed<std::uint64_t>();
    switch (choice % 4) {
        case 0: return raw;
        case 1: return reinterpret_cast<std::uintptr_t>(&lt_row_valid) + raw % 65536;
        case 2: return reinterpret_cast<std::uintptr_t>(&::pread) + raw % 65536;
        default: return reinterpret_cast<std::uintptr_t>(stack.data()) + raw % sizeof(stack);
    }
}

std::uint64_t start_ns() {
    const auto ticks = lattop::ProcessFiles::start_ticks("/proc", kOwnPid);
    constexpr std::uint64_t kSecond = 1'000'000'000;
    return ticks.value_or(0) * (kSecond / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK)));
}

/// A /proc of this process alone, its text as it is now: the kernel writes it anew for each
/// reader, which takes most of the time there.
const std::string& own_proc() {
    static lattop::fuzz::Folder proc;
    static const bool filled = [] {
        const std::string process = std::to_string(kOwnPid) + "/";
        for (const std::string name : {"stat", "status", "maps"}) {
            std::ifstream file("/proc/self/" + name);
            proc.write(process + name, std::string(std::istreambuf_iterator<char>(file), {}));
        }
        for (const std::string name : {"mem", "map_files", "root", "ns"})
            proc.link(process + name, "/proc/self/" + name);
        return true;
    }();
    REQUIRE(filled);
    return proc.path();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static FuzzDoor door;
    static lattop::Resolver resolver(door, lattop::limits_here(), own_proc());
    static const std::uint64_t start = start_ns();
    ByteReader bytes({data, size});
    const std::size_t count = 1 + bytes.byte() % 4U;
    for (std::size_t i = 0; i < count; ++i) {
        const auto choice = bytes.fixed<std::uint16_t>();
        lt_miss miss{};
        miss.pid = miss.tgid = kOwnPid;
        miss.start_ns = start;
        miss.flags = (choice & 1U) != 0 ? std::uint32_t{LT_ROW_EXACT} : 0U;
        miss.pc = address(bytes, choice >> 1U);
        miss.sp = address(bytes, choice >> 3U);
        miss.bp = address(bytes, choice >> 5U);
        door.misses.push_back(miss);
    }
    for (std::uint64_t& word : stack) {
        const auto choice = bytes.byte();
        word = address(bytes, choice);
    }
    resolver.step();
    REQUIRE(resolver.stats().refused == 0);
    return 0;
}
