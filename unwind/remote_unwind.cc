// SPDX-License-Identifier: GPL-2.0-or-later
//
// See remote_unwind.h.
#include "unwind/remote_unwind.h"

#include <utility>

#include "unwind/image_process.h"
#include "unwind/walk_answers.h"
#include "unwind/walked_code.h"

namespace lattop {
namespace {

/// Of a walk that nobody made: what is known without.
LiveWalk no_walk(const ThreadRegisters& registers, std::string why) {
    LiveWalk walk;
    const auto& pc = registers.values.at(ThreadRegisters::kPc);
    const auto& sp = registers.values.at(ThreadRegisters::kSp);
    if (pc && sp) walk.frames.push_back({*pc, *sp});
    walk.why = std::move(why);
    return walk;
}

class RemoteUnwinder final : public LiveUnwinder {
public:
    RemoteUnwinder(std::vector<std::string> command, std::chrono::milliseconds patience)
        : walker_(std::move(command), kWalkerMemory, patience) {}

    LiveWalk walk(ProcessCode& code, const ThreadRegisters& registers) override {
        if (!walker_.start())
            return no_walk(registers, "no process to walk it in can be started now");
        try {
            WalkedCode process(code);
            if (auto walk = ask(process, registers)) return live_walk(*std::move(walk));
        } catch (...) {
            walker_.end();  // it waits for an answer
            throw;
        }
        walker_.end();
        return no_walk(registers, "libunwind came to an end over its unwind table");
    }

    [[nodiscard]] ReadingTime walking_time() const override {
        return [clock = walker_.clock()] { return clock->ns(); };
    }

private:
    std::optional<StackWalk> ask(WalkedProcess& process, const ThreadRegisters& registers) {
        WalkAnswers answers(process);
        if (!walker_.send(to_message(ImageRequest{.op = ImageOp::Walk}))) return std::nullopt;
        auto next = std::optional(to_message(registers));
        while (next && walker_.send(*next)) {
            const auto message = walker_.receive();
            if (!message) break;
            next = answers.answer(*message);
        }
        return answers.walk();
    }

    ImageProcess walker_;
};

}  // namespace

std::shared_ptr<LiveUnwinder> remote_unwinder(std::vector<std::string> command,
                                              std::chrono::milliseconds patience) {
    return std::make_shared<RemoteUnwinder>(std::move(command), patience);
}

std::shared_ptr<LiveUnwinder> program_unwinder() {
    return reader_command().empty() ? local_unwinder() : remote_unwinder(reader_command());
}

}  // namespace lattop
