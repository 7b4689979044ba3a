// SPDX-License-Identifier: GPL-2.0-or-later
//
// A small ELF file in memory, of a few sections of another: what libelf gets to
// read. Used by FrameSections.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "unwind/elf_bytes.h"

namespace lattop {

/// Bytes of the file go to their place at once, and are never there twice: a section may
/// be large.
class ImageWriter {
public:
    /// Sections of more than `bytes` make it move.
    explicit ImageWriter(std::size_t bytes);

    /// Adds a section; its bytes, until the next one. Nothing where the file has fewer.
    std::optional<std::span<const std::uint8_t>> add(std::string_view name,
                                                     const ElfBytes::Section& section,
                                                     const ElfBytes& file);
    void drop_last();
    std::vector<std::uint8_t> finish();

private:
    std::uint64_t make_room(std::size_t bytes) {
        const std::uint64_t offset = (image_.size() + 7) / 8 * 8;
        image_.resize(offset + bytes);
        return offset;
    }
    std::uint64_t append(const void* bytes, std::size_t count) {
        const std::uint64_t offset = make_room(count);
        std::memcpy(image_.data() + offset, bytes, count);
        return offset;
    }
    Elf64_Word name(std::string_view text) {
        const auto offset = static_cast<Elf64_Word>(names_.size());
        names_.append(text).push_back('\0');
        return offset;
    }

    std::vector<std::uint8_t> image_;
    std::vector<Elf64_Shdr> sections_;
    std::string names_ = std::string(1, '\0');
};

}  // namespace lattop
