// SPDX-License-Identifier: GPL-2.0-or-later
//
// CRC-32C (Castagnoli; RFC 3720, B.4), by table. Used by the recording's writer
// and reader: it finds every error of one bit and every burst of up to 32.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace lattop::recording {

namespace detail {
constexpr std::array<std::uint32_t, 256> make_crc_table() {
    constexpr std::uint32_t kReflectedPolynomial = 0x82f63b78;
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        std::uint32_t crc = i;
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? kReflectedPolynomial : 0);
        table.at(i) = crc;
    }
    return table;
}
inline constexpr auto kCrcTable = make_crc_table();
}  // namespace detail

/// crc32c("123456789") is 0xe3069283.
inline std::uint32_t crc32c(std::span<const std::byte> bytes) {
    std::uint32_t crc = ~std::uint32_t{0};
    for (const std::byte byte : bytes)
        crc = (crc >> 8) ^ detail::kCrcTable[(crc ^ static_cast<std::uint32_t>(byte)) & 0xff];
    return ~crc;
}

/// Over everything of a header but its checksum, the last field.
template <typename Header>
std::uint32_t header_checksum(const Header& header) {
    return crc32c(std::as_bytes(std::span(&header, 1)).first(sizeof(header) - 4));
}

}  // namespace lattop::recording
