// SPDX-License-Identifier: GPL-2.0-or-later
//
// Takes values off the front of bytes that nobody vouches for. Used to check
// call-frame information before a library is let loose on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace lattop {

/// Past the end every value is 0, the reader is empty and ok() is false for
/// good: callers check once at the end of a record.
class ByteReader {
public:
    explicit ByteReader(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

    template <typename T>
    T fixed() {
        T value{};
        if (!need(sizeof(T))) return value;
        std::memcpy(&value, rest_.data(), sizeof(T));
        rest_ = rest_.subspan(sizeof(T));
        return value;
    }

    std::uint8_t byte() { return fixed<std::uint8_t>(); }

    /// DWARF 5, 7.6. Values of more than 64 bits are an error.
    std::uint64_t uleb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const std::uint8_t part = byte();
            value |= static_cast<std::uint64_t>(part & 0x7fU) << shift;
            if ((part & 0x80U) == 0) return value;
        }
        fail();
        return 0;
    }

    void skip_leb() { uleb(); }

    void skip(std::uint64_t bytes) {
        if (need(bytes)) rest_ = rest_.subspan(static_cast<std::size_t>(bytes));
    }

    [[nodiscard]] bool empty() const { return rest_.empty(); }
    [[nodiscard]] bool ok() const { return ok_; }
    [[nodiscard]] std::span<const std::uint8_t> rest() const { return rest_; }

private:
    bool need(std::uint64_t bytes) {
        if (bytes <= rest_.size()) return true;
        fail();
        return false;
    }
    void fail() {
        ok_ = false;
        rest_ = {};
    }

    std::span<const std::uint8_t> rest_;
    bool ok_ = true;
};

}  // namespace lattop
