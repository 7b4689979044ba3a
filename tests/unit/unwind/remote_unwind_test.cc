// SPDX-License-Identifier: GPL-2.0-or-later
//
// Stacks that `lattop image-reader` walks: as those walked in this process, and what a hostile
// unwind table costs.
#include "unwind/remote_unwind.h"

#include <sys/socket.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"
#include "tests/unit/support/stopped_thread.h"
#include "unwind/image_messages.h"
#include "unwind/image_server.h"
#include "unwind/walk_answers.h"
#include "unwind/walk_messages.h"

namespace lattop::test {
namespace {

constexpr std::size_t kWalkedFileBytes = std::size_t{64} << 20;

std::shared_ptr<LiveUnwinder> walkers() {
    return remote_unwinder({LATTOP_TEST_LATTOP, "image-reader"});
}

/// What stack_O2 and its like print.
constexpr int kProgramLines = 15;

/// A program that waits in read(2), stopped there.
struct WaitingProgram {
    /// `lines`: as many as it prints.
    WaitingProgram(const std::string& name, int lines, const std::string& way = {})
        : child(std::string(LATTOP_TEST_PROGRAMS) + "/" + name, lines, way),
          thread(StoppedThread::stop(wait_for_reader(child.task().pid))),
          code(ProcessCode::open("/proc", child.task().pid, child.task().start_ns, files)) {
        REQUIRE((thread && code));
    }

    LiveWalk walk(LiveUnwinder& unwinder) {
        code->allow_refresh();
        return unwinder.walk(*code, thread->registers());
    }

    Child child;
    std::optional<StoppedThread> thread;
    CodeFiles files{kWalkedFileBytes};
    std::optional<ProcessCode> code;
};

const std::string kLostWalk = "libunwind came to an end over its unwind table";

/// One page, at `kAt`, and one table.
class OnePageProcess final : public WalkedProcess {
public:
    static constexpr std::uint64_t kAt = 0x5000;

    std::span<const std::uint8_t> page_at(std::uint64_t address) override {
        if (address != kAt) return {};
        return page_;
    }
    std::optional<WalkTable> table_at(std::uint64_t pc) override {
        if (pc != 7) return std::nullopt;
        return table();
    }
    static WalkTable table() { return {.base = 1, .entries = 2, .count = 3, .start = 4, .end = 5}; }

private:
    std::array<std::uint8_t, kWalkPageBytes> page_{1, 2, 3};
};

}  // namespace

TEST_CASE("a walk in another process finds what one in this process finds") {
    const std::string build = GENERATE("O2", "O2_static", "O2_lazy_plt");
    const std::string way = GENERATE("call", "alloca", "vla", "aligned", "signal", "altstack",
                                     "interrupt", "deep", "thread", "direct");
    INFO(build << " " << way);
    WaitingProgram program("stack_" + build, kProgramLines, way);
    const auto here = local_unwinder();
    const auto there = walkers();
    ThreadRegisters registers = program.thread->registers();
    for (const bool bp_known : {true, false}) {
        if (!bp_known) registers.values.at(ThreadRegisters::kBp).reset();
        const LiveWalk a = here->walk(*program.code, registers);
        const LiveWalk b = there->walk(*program.code, registers);
        CHECK(a.frames == b.frames);
        CHECK(a.complete == b.complete);
        CHECK(a.why == b.why);
        CHECK((a.complete || !bp_known));
    }
}

TEST_CASE("an unwind table that ends who evaluates it costs that walk alone") {
    const auto unwinder = walkers();
    WaitingProgram honest("stack_O2", kProgramLines);
    WaitingProgram hostile("stack_hostile", 0, "division");
    const LiveWalk before = honest.walk(*unwinder);
    CHECK(before.complete);
    for (int i = 0; i < 2; ++i) {
        const LiveWalk lost = hostile.walk(*unwinder);
        CHECK(!lost.complete);
        CHECK(lost.why == kLostWalk);
        const lt_uframe first = frame_of(hostile.thread->registers());
        CHECK(lost.frames == std::vector<LiveFrame>{{first.pc, first.sp}});
    }
    const LiveWalk after = honest.walk(*unwinder);
    CHECK(after.complete);
    CHECK(after.frames == before.frames);
}

// Its memory is not limited under the sanitizers, which take all addresses there are.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("an unwind table that takes all memory costs that walk alone, and is not waited for") {
    const auto unwinder =
        remote_unwinder({LATTOP_TEST_LATTOP, "image-reader"}, std::chrono::milliseconds(500));
    WaitingProgram hostile("stack_hostile", 0, "states");
    CHECK(hostile.walk(*unwinder).why == kLostWalk);
    // It is the limit that it ended at: elsewhere there is memory enough.
    CHECK(hostile.walk(*local_unwinder()).complete);
}
#endif

TEST_CASE("the time that walks took is known while a walker lives and when it has ended") {
    const auto unwinder = walkers();
    const ReadingTime time = unwinder->walking_time();
    CHECK(time() == 0);
    WaitingProgram honest("stack_O2", kProgramLines);
    CHECK(honest.walk(*unwinder).complete);
    const std::uint64_t walked = time();
    CHECK(walked > 0);
    WaitingProgram hostile("stack_hostile", 0, "division");
    CHECK(hostile.walk(*unwinder).why == kLostWalk);
    CHECK(time() >= walked);
}

TEST_CASE("a walker that is none, or that cannot be started, costs walks alone") {
    WaitingProgram program("stack_O2", kProgramLines);
    for (const auto& [command, why] : std::vector<std::pair<std::string, std::string>>{
             {"/bin/true", kLostWalk},
             {"/no/such/program", "no process to walk it in can be started now"}}) {
        const auto unwinder = remote_unwinder({command});
        for (int i = 0; i < 3; ++i) {
            const LiveWalk walk = program.walk(*unwinder);
            CHECK(walk.frames.size() == 1);
            CHECK(!walk.complete);
            CHECK(walk.why == why);
        }
    }
}

TEST_CASE("what a walker asks is answered, and nothing when it has told the walk") {
    OnePageProcess process;
    WalkAnswers answers(process);
    const auto answer = [&](const WalkMessage& said) { return answers.answer(to_message(said)); };
    const auto page = answer(PageWanted{OnePageProcess::kAt});
    REQUIRE(page);
    CHECK(page_of(*page).size() == kWalkPageBytes);
    CHECK(page_of(*page)[2] == 3);
    const auto no_page = answer(PageWanted{0x6000});
    REQUIRE(no_page);
    CHECK(page_of(*no_page).empty());
    const auto table = answer(TableWanted{7});
    REQUIRE(table);
    CHECK(table_of(*table) == OnePageProcess::table());
    const auto no_table = answer(TableWanted{8});
    REQUIRE(no_table);
    CHECK(!table_of(*no_table));
    CHECK(!answers.walk());
    const StackWalk walk{.frames = {{1, 2}, {3, 4}}, .end = StackEnd::BpWanted};
    CHECK(!answer(walk));
    CHECK(answers.walk() == walk);
}

TEST_CASE("a walker that asks without an end is told nothing more") {
    OnePageProcess process;
    WalkAnswers answers(process);
    const auto question = to_message(TableWanted{7});
    std::size_t answered = 0;
    while (answers.answer(question))
        ++answered;
    CHECK(answered == kMaxWalkQuestions);
    CHECK(!answers.walk());
}

TEST_CASE(
    "a walker's messages that are none, or tell of more frames than there may be, are refused") {
    const StackWalk longest{.frames = std::vector<LiveFrame>(kMaxStackFrames),
                            .end = StackEnd::TooManyFrames};
    CHECK(walk_message_of(to_message(longest)) == WalkMessage(longest));
    StackWalk longer = longest;
    longer.frames.emplace_back();
    CHECK(!walk_message_of(to_message(longer)));
    CHECK(!walk_message_of(to_message(PageWanted{0x5001})));
    for (const WalkMessage& said :
         {WalkMessage(PageWanted{0x5000}), WalkMessage(TableWanted{1}), WalkMessage(StackWalk{})}) {
        auto bytes = to_message(said);
        CHECK(walk_message_of(bytes) == said);
        bytes.push_back(0);
        CHECK(!walk_message_of(bytes));
        bytes.resize(bytes.size() - 2);
        CHECK(!walk_message_of(bytes));
        bytes.front() = 3;
        CHECK(!walk_message_of(bytes));
    }
    auto odd_end = to_message(StackWalk{});
    odd_end[1] = 6;
    CHECK(!walk_message_of(odd_end));
}

TEST_CASE("registers that are none end a walker, and one that nobody answers") {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0);
    UniqueFd own(ends[0]);
    const UniqueFd its(ends[1]);
    std::thread server([&] { serve_images(its.get()); });
    CHECK(send_message(own.get(), to_message(ImageRequest{.op = ImageOp::Walk})));
    SECTION("no registers") {
        const std::array<std::uint8_t, 3> message = {1, 2, 3};
        CHECK(send_message(own.get(), message));
    }
    SECTION("no answer") {
        ThreadRegisters registers;
        for (auto& value : registers.values)
            value = 0x5000;
        CHECK(send_message(own.get(), to_message(registers)));
        const auto asked = receive_message(own.get());
        REQUIRE(asked);
        CHECK(walk_message_of(asked->bytes) == WalkMessage(TableWanted{0x5000}));
        own.reset();
    }
    server.join();
}

}  // namespace lattop::test
