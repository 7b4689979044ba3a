// SPDX-License-Identifier: GPL-2.0-or-later
//
// See fake_resolver_door.h.
#include "tests/unit/support/fake_resolver_door.h"

#include "tests/unit/support/catch.h"
#include "tests/unit/support/stopped_thread.h"

namespace lattop::test {
namespace {

/// To the same fake module.
class OtherDoor final : public ResolverDoor {
public:
    explicit OtherDoor(FakeDoor& door) : door_(door) {}
    std::vector<lt_miss> take() override { return door_.take(); }
    bool reopen() override { return door_.reopen(); }
    std::vector<lt_miss> sleepers() override { return door_.sleepers(); }
    int teach(const lt_miss& miss, std::span<const lt_row> rows,
              std::span<const lt_row_range> ranges) override {
        return door_.teach(miss, rows, ranges);
    }
    [[nodiscard]] std::unique_ptr<ResolverDoor> another() const override { return door_.another(); }
    [[nodiscard]] int ready_fd() const override { return door_.ready_fd(); }

private:
    FakeDoor& door_;
};

}  // namespace

std::unique_ptr<ResolverDoor> FakeDoor::another() const {
    ++others;
    return std::make_unique<OtherDoor>(const_cast<FakeDoor&>(*this));
}

lt_miss miss_of(const Child& child) {
    const auto thread = StoppedThread::stop(wait_for_reader(child.task().pid));
    REQUIRE(thread);
    const lt_uframe frame = frame_of(thread->registers());
    lt_miss miss{};
    miss.pid = child.task().pid;
    miss.tgid = child.task().tgid;
    miss.start_ns = child.task().start_ns;
    miss.exec_id = child.task().exec_id;
    miss.flags = LT_ROW_EXACT;
    miss.pc = frame.pc;
    miss.sp = frame.sp;
    miss.bp = frame.bp;
    return miss;
}

}  // namespace lattop::test
