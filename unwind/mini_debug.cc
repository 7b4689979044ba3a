// SPDX-License-Identifier: GPL-2.0-or-later
//
// See mini_debug.h. The sizes that the compressed stream states are not asked:
// it is uncompressed piece by piece until it ends, or is too long.
#include "unwind/mini_debug.h"

#include <gelf.h>
#include <lzma.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace lattop {
namespace {

/// For the decoder itself: xz -9 needs 65 MB, what distributions use 9 MB.
constexpr std::uint64_t kMaxDecoderBytes = std::uint64_t{80} << 20;

constexpr std::size_t kPiece = std::size_t{1} << 16;

/// The bytes of the section, for as long as `elf` is open.
std::span<const std::uint8_t> compressed_bytes(Elf* elf) {
    std::size_t names = 0;
    if (elf_getshdrstrndx(elf, &names) != 0) return {};
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == nullptr) return {};
        const char* name = elf_strptr(elf, names, header.sh_name);
        if (name == nullptr || std::string_view(name) != ".gnu_debugdata") continue;
        if (header.sh_type == SHT_NOBITS || header.sh_size > kMaxMiniDebugBytes) return {};
        const Elf_Data* data = elf_rawdata(section, nullptr);
        if (data == nullptr || data->d_buf == nullptr) return {};
        return {static_cast<const std::uint8_t*>(data->d_buf), data->d_size};
    }
    return {};
}

/// Ends a stream however its use ends.
struct Stream {
    lzma_stream raw = LZMA_STREAM_INIT;

    Stream() = default;
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() { lzma_end(&raw); }
};

std::vector<char> uncompress(std::span<const std::uint8_t> bytes) {
    Stream stream;
    if (lzma_stream_decoder(&stream.raw, kMaxDecoderBytes, 0) != LZMA_OK) return {};
    stream.raw.next_in = bytes.data();
    stream.raw.avail_in = bytes.size();
    std::vector<char> plain;
    std::size_t filled = 0;
    for (lzma_ret state = LZMA_OK; state != LZMA_STREAM_END;) {
        if (filled + kPiece > kMaxMiniDebugBytes) return {};
        plain.resize(filled + kPiece);
        stream.raw.next_out = reinterpret_cast<std::uint8_t*>(plain.data() + filled);
        stream.raw.avail_out = kPiece;
        state = lzma_code(&stream.raw, LZMA_FINISH);
        filled += kPiece - stream.raw.avail_out;
        // LZMA_OK with room left: the input ended before the stream
        const bool goes_on = state == LZMA_OK && stream.raw.avail_out == 0;
        if (!goes_on && state != LZMA_STREAM_END) return {};
    }
    plain.resize(filled);
    return plain;
}

}  // namespace

std::vector<char> mini_debug_info(Elf* elf) {
    const auto bytes = compressed_bytes(elf);
    return bytes.empty() ? std::vector<char>{} : uncompress(bytes);
}

}  // namespace lattop
