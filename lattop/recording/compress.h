// SPDX-License-Identifier: GPL-2.0-or-later
//
// The payloads of a recording to and from zstd frames. The one place that
// knows zstd; called by writer and reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace lattop::recording {

class Compressor {
public:
    Compressor();
    ~Compressor();
    Compressor(const Compressor&) = delete;
    Compressor& operator=(const Compressor&) = delete;

    /// A frame of `raw`; what it has in common with `prefix` is only referred
    /// to, so that the same prefix is needed to unpack it. Throws Error.
    std::vector<std::byte> pack(std::span<const std::byte> raw, std::span<const std::byte> prefix);

private:
    struct Context;
    std::unique_ptr<Context> context_;
};

class Decompressor {
public:
    Decompressor();
    ~Decompressor();
    Decompressor(Decompressor&&) noexcept;
    Decompressor& operator=(Decompressor&&) noexcept;

    /// The `raw_bytes` that were packed with `prefix`. Throws FormatError where
    /// the frame is not of that.
    std::vector<std::byte> unpack(std::span<const std::byte> stored,
                                  std::span<const std::byte> prefix, std::uint32_t raw_bytes);

private:
    struct Context;
    std::unique_ptr<Context> context_;
};

}  // namespace lattop::recording
