// SPDX-License-Identifier: GPL-2.0-or-later
//
// Stacks of live programs with a known chain of calls: by rows and by
// libunwind, from the same registers.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "lattop/model/live_stack.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"
#include "tests/unit/support/stopped_thread.h"
#include "unwind/row_walk.h"
#include "unwind/symbolizer.h"

namespace lattop::test {
namespace {

constexpr int kStackLines = 15;
constexpr std::size_t kFileBytes = std::size_t{64} << 20;
const std::string kStackPrograms = LATTOP_TEST_PROGRAMS;

using Names = std::vector<std::string>;

/// A function without its namespace and arguments.
std::string plain(std::string symbol) {
    if (symbol.find("{lambda") != std::string::npos) return "lambda";
    constexpr std::string_view kAnonymous = "(anonymous namespace)::";
    if (symbol.starts_with(kAnonymous)) symbol.erase(0, kAnonymous.size());
    return symbol.substr(0, symbol.find('('));
}

Names known_functions() {
    return {"main",         "outer",       "inner",          "block",        "block_directly",
            "with_alloca",  "with_vla",    "with_alignment", "in_signal",    "handler",
            "on_altstack",  "interrupted", "deep",           "entry",        "in_thread",
            "in_library",   "construct",   "open_plugin",    "Square::area", "Guard::~Guard",
            "with_cleanup", "with_catch",  "in_virtual",     "in_function",  "fail"};
}

/// Which of the program's own functions the addresses are in, innermost first.
Names own_names(const Child& child, const std::vector<std::uint64_t>& addresses) {
    Symbolizer symbolizer;
    const Naming naming = symbolizer.name(child.task(), addresses, 1);
    const Names known = known_functions();
    Names names;
    for (const UserFramePtr& frame : naming.stack.frames) {
        const std::string name = plain(frame->symbol);
        if (std::ranges::find(known, name) != known.end()) names.push_back(name);
    }
    return names;
}

std::vector<std::uint64_t> addresses_of(const Walk& walk) {
    std::vector<std::uint64_t> addresses;
    for (const WalkedFrame& walked : walk.frames)
        addresses.push_back(walked.frame.pc);
    return addresses;
}

std::vector<std::uint64_t> addresses_of(const LiveWalk& walk) {
    std::vector<std::uint64_t> addresses;
    for (const LiveFrame& frame : walk.frames)
        addresses.push_back(frame.pc);
    return addresses;
}

std::optional<lt_regs> no_registers(std::uint32_t /*tid*/) {
    return std::nullopt;
}

Names expected_chain(const std::string& way) {
    Names chain;
    if (way == "deep") chain = Names(300, "deep");
    if (way == "alloca") chain = {"with_alloca"};
    if (way == "vla") chain = {"with_vla"};
    if (way == "aligned") chain = {"with_alignment"};
    if (way == "signal") chain = {"handler", "in_signal"};
    if (way == "altstack") chain = {"handler", "on_altstack"};
    if (way == "interrupt") chain = {"handler", "interrupted"};
    chain.insert(chain.begin(), way == "direct" ? "block_directly" : "block");
    if (way == "thread") {
        chain.emplace_back("entry");
        return chain;
    }
    chain.insert(chain.end(), {"inner", "outer", "main"});
    return chain;
}

/// A program that waits, stopped, and its code.
struct StoppedProgram {
    StoppedProgram() { REQUIRE((thread && code)); }

    const Child child{kStackPrograms + "/stack_O2", kStackLines};
    const std::optional<StoppedThread> thread =
        StoppedThread::stop(wait_for_reader(child.task().pid));
    CodeFiles files{kFileBytes};
    std::optional<ProcessCode> code =
        ProcessCode::open("/proc", child.task().pid, child.task().start_ns, files);
};

}  // namespace

TEST_CASE("every frame of a known chain is found, in every build") {
    const std::string build = GENERATE("O0", "O2", "O2_fp", "O2_cet", "O2_no_pie", "O2_static",
                                       "O2_static_pie", "O2_realign", "O2_lazy_plt", "O3_lto");
    const std::string way = GENERATE("call", "alloca", "vla", "aligned", "signal", "altstack",
                                     "interrupt", "deep", "thread", "direct");
    INFO(build << " " << way);
    const Child child(kStackPrograms + "/stack_" + build, kStackLines, way);
    const auto thread = StoppedThread::stop(wait_for_reader(child.task().pid));
    REQUIRE(thread);
    CodeFiles files(kFileBytes);
    auto code = ProcessCode::open("/proc", child.task().pid, child.task().start_ns, files);
    REQUIRE(code);
    const Walk rows = walk_rows(*code, frame_of(thread->registers()));
    const LiveWalk reference = local_unwinder()->walk(*code, thread->registers());

    CHECK(rows.end == WalkEnd::Complete);
    CHECK(own_names(child, addresses_of(rows)) == expected_chain(way));
    INFO(reference.why);
    CHECK(reference.complete);
    CHECK(addresses_of(reference) == addresses_of(rows));
    for (const WalkedFrame& walked : rows.frames) {
        CHECK(lt_row_valid(&walked.placed.built.row));
        CHECK(walked.placed.built.row.pc == walked.frame.pc);
    }
}

TEST_CASE("chains through other modules and in C++ are found") {
    struct Case {
        std::string program, way;
        Names chain;
    };
    std::vector<Case> cases;
    for (const char* binding : {"lazy", "now"})
        for (const char* way : {"plt", "dlopen", "constructor"})
            cases.push_back({std::string("stack_modules_") + binding, way, {"in_library"}});
    for (const char* build : {"O0", "O2", "O2_static"}) {
        const std::string program = std::string("stack_cxx_") + build;
        cases.push_back({program, "virtual", {"Square::area", "in_virtual"}});
        cases.push_back({program, "cleanup", {"Guard::~Guard", "with_cleanup"}});
        cases.push_back({program, "catch", {"with_catch"}});
        cases.push_back({program, "lambda", {"in_function"}});
    }
    const Case& with = GENERATE_COPY(from_range(cases));
    INFO(with.program << " " << with.way);
    Names chain = with.chain;
    chain.insert(chain.begin(), "block");
    if (with.way == "constructor") chain.insert(chain.end(), {"construct", "open_plugin"});
    chain.insert(chain.end(), {"inner", "outer", "main"});

    const Child child(kStackPrograms + "/" + with.program, 0, with.way);
    const auto thread = StoppedThread::stop(wait_for_reader(child.task().pid));
    REQUIRE(thread);
    CodeFiles files(kFileBytes);
    auto code = ProcessCode::open("/proc", child.task().pid, child.task().start_ns, files);
    REQUIRE(code);
    const Walk rows = walk_rows(*code, frame_of(thread->registers()));
    const LiveWalk reference = local_unwinder()->walk(*code, thread->registers());
    CHECK(rows.end == WalkEnd::Complete);
    CHECK(own_names(child, addresses_of(rows)) == chain);
    CHECK(addresses_of(reference) == addresses_of(rows));
}

TEST_CASE("a blocked thread's stack is read without stopping it") {
    const Child child(kStackPrograms + "/stack_O2", kStackLines);
    const auto tid = static_cast<std::uint32_t>(wait_for_reader(child.task().pid));
    CodeFiles files(kFileBytes);
    auto code = ProcessCode::open("/proc", child.task().pid, child.task().start_ns, files);
    REQUIRE(code);
    const auto unwinder = local_unwinder();
    const LiveStack stack =
        live_stack("/proc", child.task().pid, tid, *code, *unwinder, no_registers);
    CHECK(stack.state == LiveStack::State::Blocked);
    CHECK(stack.walk.complete);
    CHECK(own_names(child, addresses_of(stack.walk)) == expected_chain("call"));
    CHECK(stack.object.starts_with("fd 0: "));
    CHECK(live_object("/proc", child.task().pid, tid) == stack.object);
    CHECK(live_object("/proc", child.task().pid, tid + (1U << 22)).empty());
}

TEST_CASE("a caller that is found by bp is found where the module tells bp") {
    const Child child(kStackPrograms + "/stack_O2", kStackLines, "alloca");
    const auto tid = static_cast<std::uint32_t>(wait_for_reader(child.task().pid));
    lt_regs regs{};
    {
        const auto thread = StoppedThread::stop(static_cast<pid_t>(tid));
        REQUIRE(thread);
        const lt_uframe frame = frame_of(thread->registers());
        regs.pc = frame.pc;
        regs.sp = frame.sp;
        regs.bp = frame.bp;
    }
    wait_for_reader(child.task().pid);
    CodeFiles files(kFileBytes);
    auto code = ProcessCode::open("/proc", child.task().pid, child.task().start_ns, files);
    REQUIRE(code);
    const auto unwinder = local_unwinder();
    const auto read = [&](const RegisterReader& reader) {
        return live_stack("/proc", child.task().pid, tid, *code, *unwinder, reader);
    };
    CHECK(!read(no_registers).walk.complete);
    const LiveStack whole = read([&](std::uint32_t) { return regs; });
    CHECK(whole.walk.complete);
    CHECK(own_names(child, addresses_of(whole.walk)) == expected_chain("alloca"));
    // Of another sleep than the one /proc tells of: not used.
    regs.sp += 8;
    CHECK(!read([&](std::uint32_t) { return regs; }).walk.complete);
}

TEST_CASE("rows are known for a program that was deleted while it runs") {
    const TempFolder folder;
    const std::string path = folder.path() + "/program";
    std::filesystem::copy_file(kStackPrograms + "/stack_O2", path);
    const Child child(path, kStackLines);
    const auto thread = StoppedThread::stop(wait_for_reader(child.task().pid));
    std::filesystem::remove(path);
    std::ofstream(path) << "something else";
    CodeFiles files(kFileBytes);
    auto code = ProcessCode::open("/proc", child.task().pid, child.task().start_ns, files);
    REQUIRE((thread && code));
    CHECK(walk_rows(*code, frame_of(thread->registers())).end == WalkEnd::Complete);
}

TEST_CASE("no file is kept open for its rows") {
    StoppedProgram program;
    auto& [child, thread, files, code] = program;
    CHECK(walk_rows(*code, frame_of(thread->registers())).end == WalkEnd::Complete);
    CHECK(files.size() >= 2);
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        const auto file = std::filesystem::read_symlink(entry.path(), gone).string();
        CHECK(!file.starts_with(kStackPrograms));
        CHECK(file.find("libc") == std::string::npos);
    }
}

// Code of this program's that nothing describes, behind some that is not called.
asm(R"(
    .pushsection .text
    .skip 64, 0x90
lattop_test_signal_return:
    movq $15, %rax
    syscall
    .skip 64, 0x90
    .popsection
)");
extern "C" const char lattop_test_signal_return[];

TEST_CASE("code that returns from a signal is known by what it does where nothing describes it") {
    CodeFiles files(kFileBytes);
    auto code = ProcessCode::open("/proc", static_cast<std::uint32_t>(::getpid()),
                                  start_ns_of(::getpid()), files);
    REQUIRE(code);
    lt_uframe frame{};
    frame.pc = reinterpret_cast<std::uintptr_t>(lattop_test_signal_return);
    frame.exact = GENERATE(0U, 1U);
    const auto placed = code->row_at(frame);
    REQUIRE(placed);
    CHECK(placed->built.row.kind == LT_ROW_SIGNAL);
    CHECK(placed->built.row.flags == (frame.exact != 0 ? LT_ROW_EXACT : 0));
    frame.pc += 1;
    CHECK(code->row_at(frame)->built.row.kind == LT_ROW_CANNOT);
}

TEST_CASE("what was read of a process's memory takes none when it is forgotten") {
    const Child child(kStackPrograms + "/stack_O2", kStackLines);
    CodeFiles files(kFileBytes);
    auto code = ProcessCode::open("/proc", child.task().pid, child.task().start_ns, files);
    REQUIRE(code);
    const std::size_t before = code->bytes();
    std::uint64_t word = 0;
    REQUIRE(code->read_word(child.address("main") & ~std::uint64_t{7}, word));
    CHECK(code->bytes() >= before + ProcessCode::kPageBytes);
    code->forget_memory();
    CHECK(code->bytes() == before);
}

TEST_CASE("files that nobody was walked in for long are let go of as others come") {
    const Child child(kStackPrograms + "/stack_O2", kStackLines);
    const auto thread = StoppedThread::stop(wait_for_reader(child.task().pid));
    const bool idle = GENERATE(true, false);
    CodeFiles files(kFileBytes, SIZE_MAX, nullptr,
                    idle ? std::chrono::milliseconds(1) : std::chrono::hours(1));
    auto code = ProcessCode::open("/proc", child.task().pid, child.task().start_ns, files);
    REQUIRE((thread && code));
    CHECK(code->code_at(child.address("main")).file != nullptr);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    CHECK(code->code_at(frame_of(thread->registers()).pc).file != nullptr);
    CHECK(files.size() == (idle ? 1 : 2));
    CHECK(code->code_at(child.address("main")).file != nullptr);
}

TEST_CASE("a file that no longer fits is let go of, and read again a few times in a look") {
    const Child child(kStackPrograms + "/stack_O2", kStackLines);
    const auto thread = StoppedThread::stop(wait_for_reader(child.task().pid));
    CodeFiles files(kFileBytes, 1);
    auto code = ProcessCode::open("/proc", child.task().pid, child.task().start_ns, files);
    REQUIRE((thread && code));
    const std::uint64_t in_libc = frame_of(thread->registers()).pc;
    const std::uint64_t in_program = child.address("main");
    const std::weak_ptr<CfiRows> first = code->code_at(in_program).file;
    CHECK(!first.expired());
    CHECK(code->code_at(in_libc).file != nullptr);
    CHECK(first.expired());
    CHECK(files.size() == 1);

    lt_uframe frame{};
    const auto looks_until_refused = [&] {
        for (unsigned looks = 0;; ++looks) {
            frame.pc = looks % 2 == 0 ? in_program : in_libc;
            const auto placed = code->row_at(frame);
            REQUIRE(placed);
            if (placed->built.cannot == CannotCause::NoRoom) return looks;
        }
    };
    CHECK(looks_until_refused() == ProcessCode::kMaxReloads);
    code->allow_refresh();
    CHECK(looks_until_refused() >= ProcessCode::kMaxReloads);
}

TEST_CASE("a wild frame ends a walk") {
    StoppedProgram program;
    auto& [child, thread, files, code] = program;
    lt_uframe frame = frame_of(thread->registers());
    frame.sp = GENERATE(0U, 1U, UINT64_MAX, UINT64_MAX - 7, UINT64_MAX / 2);
    CHECK(walk_rows(*code, frame).end == WalkEnd::Unsound);
    frame.pc = GENERATE(0U, 1U, UINT64_MAX, UINT64_MAX / 2);
    const Walk walk = walk_rows(*code, frame);
    CHECK(walk.end == WalkEnd::NoCode);
    CHECK(walk.frames.empty());
}

TEST_CASE("a walk that nobody waits for ends before its next frame") {
    StoppedProgram program;
    auto& [child, thread, files, code] = program;
    const std::atomic<bool> stop = true;
    const Walk walk = walk_rows(*code, frame_of(thread->registers()), kMaxWalkFrames, &stop);
    CHECK(walk.end == WalkEnd::Stopped);
    CHECK(walk.frames.empty());
}

TEST_CASE("rows are known to who may have asked for them") {
    StoppedProgram program;
    auto& [child, thread, files, code] = program;
    const std::uint64_t pc = child.address("main");
    const auto [mapping, file] = code->code_at(pc);
    REQUIRE((mapping != nullptr && file != nullptr));
    const std::uint64_t offset = pc - mapping->start + mapping->offset;
    const auto known_to =
        [&, first = mapping->offset, end = mapping->offset + (mapping->end - mapping->start),
         rows = file](CodeUser user) { return rows->known_rows(first, end, 8, user).size(); };
    constexpr CodeUser kOne = 1000, kOther = 1001, kThird = 1002;
    constexpr CodeUser kContained = kApart | 7, kContainedToo = kApart | 8;
    const auto ask = [&](CodeUser user) { file->row_at(offset + 1, true, user); };

    ask(kNoUser);
    CHECK(known_to(kNoUser) == 0);
    SECTION("one user") {
        ask(kOne);
        ask(kOne);
        CHECK(known_to(kOne) == 1);
        CHECK(known_to(kOther) == 0);
        CHECK(known_to(kContained) == 0);
    }
    SECTION("two users") {
        ask(kOne);
        ask(kOther);
        CHECK(known_to(kThird) == 1);
        CHECK(known_to(kContained) == 1);
    }
    SECTION("root") {
        ask(kRootUser);
        CHECK(known_to(kThird) == 1);
    }
    SECTION("user namespaces: all may be one user's, who made them") {
        ask(kContained);
        CHECK(known_to(kContained) == 1);
        ask(kContainedToo);
        CHECK(known_to(kContainedToo) == 0);
        ask(kOne);
        CHECK(known_to(kOne) == 1);
        CHECK(known_to(kThird) == 0);
        ask(kContained);
        CHECK(known_to(kThird) == 0);
        ask(kOther);
        CHECK(known_to(kThird) == 1);
    }
    SECTION("those asked for most come first") {
        ask(kOne);
        for (int i = 0; i < 3; ++i)
            file->row_at(offset + 2, true, kOne);
        const auto rows = file->known_rows(0, UINT64_MAX, 1, kOne);
        REQUIRE(rows.size() == 1);
        CHECK(rows[0].file_offset == offset + 2);
        CHECK(rows[0].asked == 3);
    }
}

TEST_CASE("rows that one user may have made up go before those of others") {
    StoppedProgram program;
    auto& [child, thread, files, code] = program;
    const auto [mapping, file] = code->code_at(frame_of(thread->registers()).pc);  // libc's
    REQUIRE((mapping != nullptr && file != nullptr));
    constexpr CodeUser kOne = 1000, kOther = 1001;
    std::uint64_t offset = mapping->offset + 0x10000;
    while (file->row_at(offset, true, kRootUser).cannot != CannotCause::None)
        ++offset;
    for (std::uint64_t i = 1; i < 70'000; ++i)
        file->row_at(offset + i, true, kOne);
    const auto known = file->known_rows(0, UINT64_MAX, 1'000'000, kOther);
    REQUIRE(known.size() == 1);
    CHECK(known[0].file_offset == offset);
    CHECK(file->known_rows(0, UINT64_MAX, 1'000'000, kOne).size() < 65'536);
}

TEST_CASE("what /proc says of a system call") {
    const auto in_read = parse_syscall("0 0x0 0x7ffd 0x1 0x8 0x0 0x9 0x7ffc10 0x7f3c\n");
    REQUIRE(in_read);
    CHECK(in_read->values.at(UNW_X86_64_RSI) == 0x7ffd);
    CHECK(in_read->values.at(UNW_X86_64_R9) == 0x9);
    CHECK(in_read->values.at(ThreadRegisters::kSp) == 0x7ffc10);
    CHECK(in_read->values.at(ThreadRegisters::kPc) == 0x7f3c);
    CHECK(!in_read->values.at(ThreadRegisters::kBp));
    const auto outside = parse_syscall("-1 0x7ffc10 0x7f3c\n");
    REQUIRE(outside);
    CHECK(outside->values.at(ThreadRegisters::kPc) == 0x7f3c);
    CHECK(!outside->values.at(UNW_X86_64_RDI));
    const auto none =
        GENERATE("running\n", "", "0 0x1 0x2\n", "-1\n", "0 0x 0x 0x 0x 0x 0x 0x 0x\n");
    CHECK(!parse_syscall(none));
}

TEST_CASE("context switches are read from status") {
    CHECK(parse_switches("Name:\tx\nvoluntary_ctxt_switches:\t5\n"
                         "nonvoluntary_ctxt_switches:\t2\n") == 7);
    CHECK(!parse_switches("voluntary_ctxt_switches:\t5\n"));
}

}  // namespace lattop::test
