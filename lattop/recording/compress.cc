// SPDX-License-Identifier: GPL-2.0-or-later
//
// See compress.h.
#include "lattop/recording/compress.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <new>

#include "lattop/source/error.h"

namespace lattop::recording {
namespace {

/// A fast level: the prefix does more than searching longer would.
constexpr int kLevel = 3;

constexpr int kLeastWindowLog = 17;
constexpr int kMostWindowLog = 31;

/// 64 times the stored bytes or so is what records come to; zstd itself cannot
/// make more of a byte than this.
constexpr std::uint64_t kMostGrowth = std::uint64_t{1} << 17;

void check(std::size_t code, const char* what) {
    if (::ZSTD_isError(code) != 0)
        throw Error(fmt::format("{}: {}", what, ::ZSTD_getErrorName(code)));
}

/// The window must reach from the end of the raw bytes to the prefix's start.
int window_log(std::size_t bytes) {
    return std::clamp(static_cast<int>(std::bit_width(bytes)), kLeastWindowLog, kMostWindowLog);
}

}  // namespace

struct Compressor::Context {
    ZSTD_CCtx* zstd = ::ZSTD_createCCtx();
    ~Context() { ::ZSTD_freeCCtx(zstd); }
};

Compressor::Compressor() : context_(std::make_unique<Context>()) {
    if (context_->zstd == nullptr) throw std::bad_alloc();
}
Compressor::~Compressor() = default;

std::vector<std::byte> Compressor::pack(std::span<const std::byte> raw,
                                        std::span<const std::byte> prefix) {
    ZSTD_CCtx* zstd = context_->zstd;
    ::ZSTD_CCtx_reset(zstd, ZSTD_reset_session_and_parameters);
    const auto set = [&](ZSTD_cParameter parameter, int value) {
        check(::ZSTD_CCtx_setParameter(zstd, parameter, value), "zstd");
    };
    set(ZSTD_c_compressionLevel, kLevel);
    if (!prefix.empty()) {
        set(ZSTD_c_windowLog, window_log(raw.size() + prefix.size()));
        // Finds what is the same however far away it is.
        set(ZSTD_c_enableLongDistanceMatching, 1);
        check(::ZSTD_CCtx_refPrefix(zstd, prefix.data(), prefix.size()), "zstd");
    }
    std::vector<std::byte> stored(::ZSTD_compressBound(raw.size()));
    const std::size_t n =
        ::ZSTD_compress2(zstd, stored.data(), stored.size(), raw.data(), raw.size());
    check(n, "cannot compress a record");
    stored.resize(n);
    return stored;
}

struct Decompressor::Context {
    ZSTD_DCtx* zstd = ::ZSTD_createDCtx();
    ~Context() { ::ZSTD_freeDCtx(zstd); }
};

Decompressor::Decompressor() : context_(std::make_unique<Context>()) {
    if (context_->zstd == nullptr) throw std::bad_alloc();
}
Decompressor::~Decompressor() = default;
Decompressor::Decompressor(Decompressor&&) noexcept = default;
Decompressor& Decompressor::operator=(Decompressor&&) noexcept = default;

std::vector<std::byte> Decompressor::unpack(std::span<const std::byte> stored,
                                            std::span<const std::byte> prefix,
                                            std::uint32_t raw_bytes) {
    if (raw_bytes > stored.size() * kMostGrowth)
        throw RecordingError(
            fmt::format("{} bytes cannot have been packed into {}", raw_bytes, stored.size()));
    ZSTD_DCtx* zstd = context_->zstd;
    ::ZSTD_DCtx_reset(zstd, ZSTD_reset_session_and_parameters);
    check(::ZSTD_DCtx_setParameter(zstd, ZSTD_d_windowLogMax, kMostWindowLog), "zstd");
    check(::ZSTD_DCtx_refPrefix(zstd, prefix.data(), prefix.size()), "zstd");
    std::vector<std::byte> raw(raw_bytes);
    const std::size_t n =
        ::ZSTD_decompressDCtx(zstd, raw.data(), raw.size(), stored.data(), stored.size());
    if (::ZSTD_isError(n) != 0)
        throw RecordingError(
            fmt::format("a record cannot be unpacked: {}", ::ZSTD_getErrorName(n)));
    if (n != raw.size())
        throw RecordingError(fmt::format("a record has {} bytes, not {}", n, raw.size()));
    return raw;
}

}  // namespace lattop::recording
