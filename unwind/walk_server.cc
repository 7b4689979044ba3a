// SPDX-License-Identifier: GPL-2.0-or-later
//
// See walk_server.h.
#include "unwind/walk_server.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "unwind/image_messages.h"
#include "unwind/walk_messages.h"

namespace lattop {
namespace {

/// The process on the other side. Pages are kept, so that a word costs no message.
class AskedProcess final : public WalkedProcess {
public:
    explicit AskedProcess(int socket) : socket_(socket) {}

    std::span<const std::uint8_t> page_at(std::uint64_t address) override {
        if (const auto known = pages_.find(address); known != pages_.end()) return known->second;
        const auto reply = ask(PageWanted{address});
        if (pages_.size() == kMaxPages) pages_.clear();
        const auto page = page_of(reply);
        return pages_[address] = {page.begin(), page.end()};
    }

    std::optional<WalkTable> table_at(std::uint64_t pc) override {
        std::erase_if(pages_, [](const auto& page) { return page.first >= kOurTable; });
        return table_of(ask(TableWanted{pc}));
    }

    [[nodiscard]] bool gone() const { return gone_; }

private:
    /// 4 MiB.
    static constexpr std::size_t kMaxPages = 1024;

    /// Empty where there is no answer.
    std::vector<std::uint8_t> ask(const WalkMessage& question) {
        if (gone_ || questions_++ >= kMaxWalkQuestions) return {};
        if (send_message(socket_, to_message(question)))
            if (auto reply = receive_message(socket_)) return std::move(reply->bytes);
        gone_ = true;
        return {};
    }

    int socket_;
    std::size_t questions_ = 0;
    bool gone_ = false;
    std::unordered_map<std::uint64_t, std::vector<std::uint8_t>> pages_;
};

}  // namespace

bool serve_walk(int socket) {
    const auto message = receive_message(socket);
    if (!message) return false;
    const auto registers = registers_of(message->bytes);
    if (!registers) return false;
    AskedProcess process(socket);
    const StackWalk walk = walk_stack(process, *registers);
    return !process.gone() && send_message(socket, to_message(walk));
}

}  // namespace lattop
