// SPDX-License-Identifier: GPL-2.0-or-later
//
// Numbers and payloads of a recording's records, as bytes: little-endian, as the machines are that
// it is written and read on. Used by names.cc and objects.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "unwind/byte_reader.h"

namespace lattop::recording {

template <typename Number>
requires std::is_arithmetic_v<Number>
void put(std::string& to, Number number) {
    to.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

inline ByteReader reader_of(std::span<const std::byte> payload) {
    return ByteReader({reinterpret_cast<const std::uint8_t*>(payload.data()), payload.size()});
}

}  // namespace lattop::recording
