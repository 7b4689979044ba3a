// SPDX-License-Identifier: GPL-2.0-or-later
//
// A vdso that a process has changed is that process's alone, whatever it changed it to.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"
#include "unwind/process_code.h"

namespace lattop::test {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

/// std::hash of strings as libstdc++ has it, MurmurHash64A: each word of the string goes in
/// by a step that can be undone, so any other word can be made up for by the one behind it.
class Murmur {
public:
    static std::uint64_t mix(std::uint64_t word) { return shift(word * kFactor) * kFactor; }
    static std::uint64_t unmix(std::uint64_t word) { return shift(word * inverse()) * inverse(); }
    static std::uint64_t step(std::uint64_t hash, std::uint64_t word) {
        return (hash ^ mix(word)) * kFactor;
    }
    static std::uint64_t begin(std::size_t bytes) { return kSeed ^ (bytes * kFactor); }

private:
    static constexpr std::uint64_t kFactor = 0xc6a4a7935bd1e995;
    static constexpr std::uint64_t kSeed = 0xc70f6907;
    static std::uint64_t shift(std::uint64_t word) { return word ^ word >> 47; }
    static std::uint64_t inverse() {
        std::uint64_t inverse = kFactor;  // right in 3 bits, in twice as many each time
        for (int i = 0; i < 5; ++i)
            inverse *= 2 - kFactor * inverse;
        return inverse;
    }
};

std::uint64_t word_at(const std::vector<char>& bytes, std::size_t place) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + place, kWord);
    return word;
}

/// Its last word but one is another, and the last one makes up for that.
std::vector<char> forged(std::vector<char> bytes) {
    const std::size_t place = bytes.size() - 2 * kWord;
    std::uint64_t hash = Murmur::begin(bytes.size());
    for (std::size_t i = 0; i < place; i += kWord)
        hash = Murmur::step(hash, word_at(bytes, i));
    const std::uint64_t other = word_at(bytes, place) + 1;
    const std::uint64_t last =
        Murmur::unmix(Murmur::step(hash, word_at(bytes, place)) ^
                      Murmur::mix(word_at(bytes, place + kWord)) ^ Murmur::step(hash, other));
    std::memcpy(bytes.data() + place, &other, kWord);
    std::memcpy(bytes.data() + place + kWord, &last, kWord);
    return bytes;
}

struct Vdso {
    std::uint64_t start = 0;
    std::vector<char> bytes;
};

std::optional<Vdso> own() {
    const auto files = ProcessFiles::open("/proc", static_cast<std::uint32_t>(::getpid()),
                                          start_ns_of(::getpid()));
    const auto maps = files ? files->maps() : std::nullopt;
    if (!maps) return std::nullopt;
    for (const Mapping& mapping : *maps)
        if (mapping.path == kVdso)
            return Vdso{mapping.start,
                        files->memory(mapping.start, mapping.end - mapping.start).value()};
    return std::nullopt;
}

/// This process over again, with these bytes for a vdso. It sleeps until it is killed.
class Twin {
public:
    Twin(std::uint64_t start, const std::vector<char>& bytes) {
        int ready[2];
        REQUIRE(::pipe(ready) == 0);
        pid_ = ::fork();
        if (pid_ == 0) {
            auto* place = reinterpret_cast<void*>(start);  // NOLINT(performance-no-int-to-ptr)
            const bool changed =
                ::mprotect(place, bytes.size(), PROT_READ | PROT_WRITE | PROT_EXEC) == 0;
            if (changed) std::memcpy(place, bytes.data(), bytes.size());
            if (changed && ::write(ready[1], "", 1) == 1)
                for (;;)
                    ::pause();
            ::_exit(1);
        }
        ::close(ready[1]);
        char byte = 1;
        changed_ = ::read(ready[0], &byte, 1) == 1;
        ::close(ready[0]);
    }
    Twin(const Twin&) = delete;
    Twin& operator=(const Twin&) = delete;
    ~Twin() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    [[nodiscard]] bool changed() const { return changed_; }
    [[nodiscard]] std::optional<ProcessCode> code(CodeFiles& files) const {
        return ProcessCode::open("/proc", static_cast<std::uint32_t>(pid_), start_ns_of(pid_),
                                 files);
    }

private:
    pid_t pid_ = -1;
    bool changed_ = false;
};

}  // namespace

TEST_CASE("a vdso that was changed has no rows for others, also where it has the same hash") {
    const auto vdso = own();
    REQUIRE(vdso);
    const std::vector<char> other = forged(vdso->bytes);
    REQUIRE(other != vdso->bytes);
#ifdef __GLIBCXX__
    const std::hash<std::string_view> hash;
    REQUIRE(hash({other.data(), other.size()}) == hash({vdso->bytes.data(), vdso->bytes.size()}));
#endif
    const Twin liar(vdso->start, other);
    const Twin honest(vdso->start, vdso->bytes);
    const Twin honest_too(vdso->start, vdso->bytes);
    REQUIRE((liar.changed() && honest.changed() && honest_too.changed()));
    CodeFiles files(std::size_t{64} << 20);
    auto lies = liar.code(files);
    auto says = honest.code(files);
    auto says_too = honest_too.code(files);
    REQUIRE((lies && says && says_too));
    const auto forged_file = lies->code_at(vdso->start).file;
    const auto file = says->code_at(vdso->start).file;
    REQUIRE((forged_file && file));
    CHECK(file != forged_file);
    CHECK(says_too->code_at(vdso->start).file == file);
    CHECK(lies->code_at(vdso->start).file == forged_file);
}

}  // namespace lattop::test
