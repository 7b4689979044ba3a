// SPDX-License-Identifier: GPL-2.0-or-later
//
// See debug_files.h.
#include "unwind/debug_files.h"

#include <elfutils/libdwelf.h>
#include <fmt/format.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "unwind/elf_handle.h"

namespace lattop {
namespace {

/// Build ids are 20 bytes; ld takes any number.
constexpr std::size_t kMinBuildId = 2;
constexpr std::size_t kMaxBuildId = 64;

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
}

}  // namespace

DebugName debug_name(Elf* elf) {
    DebugName name;
    if (elf_kind(elf) != ELF_K_ELF) return name;
    const void* id = nullptr;
    const ssize_t bytes = dwelf_elf_gnu_build_id(elf, &id);
    if (bytes >= static_cast<ssize_t>(kMinBuildId) && bytes <= static_cast<ssize_t>(kMaxBuildId))
        for (ssize_t i = 0; i < bytes; ++i)
            name.build_id += fmt::format("{:02x}", static_cast<const unsigned char*>(id)[i]);
    GElf_Word crc = 0;
    const char* link = dwelf_elf_gnu_debuglink(elf, &crc);
    // A name, not a path: it must not lead elsewhere.
    if (link != nullptr && *link != '\0' && std::string_view(link).find('/') == std::string::npos) {
        name.link = link;
        name.link_crc = crc;
    }
    return name;
}

DebugName debug_name(const UniqueFd& fd) {
    elf_version(EV_CURRENT);
    const ElfHandle elf(elf_begin(fd.get(), ELF_C_READ, nullptr));
    return elf == nullptr ? DebugName{} : debug_name(elf.get());
}

DebugFileSearch::DebugFileSearch(const DebugName& name, const std::string& path,
                                 const std::string& folder, IdentifyFile identify,
                                 off_t most_summed)
    : name_(name), identify_(std::move(identify)), left_(most_summed) {
    if (!name.build_id.empty())
        candidates_.push_back(fmt::format("{}/.build-id/{}/{}.debug", folder,
                                          name.build_id.substr(0, 2), name.build_id.substr(2)));
    const std::string beside = folder_of(path);
    if (!name.link.empty() && path.starts_with('/'))
        for (const std::string& place : {beside, beside + "/.debug", folder + beside})
            candidates_.push_back(place + "/" + name.link);
    // A link may name the program itself.
    std::erase(candidates_, path);
}

UniqueFd DebugFileSearch::find(const OpenFile& open) {
    for (const std::string& candidate : candidates_) {
        UniqueFd fd = open(candidate);
        if (fd && belongs(fd)) return fd;
    }
    return {};
}

bool DebugFileSearch::belongs(const UniqueFd& fd) {
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0) return false;
    if (!others_.emplace(info.st_dev, info.st_ino).second) return false;
    if (name_.build_id.empty()) return has_checksum(fd, info.st_size);
    return identify_(fd).build_id == name_.build_id;
}

/// .gnu_debuglink has the CRC-32 that xz has too (IEEE 802.3).
bool DebugFileSearch::has_checksum(const UniqueFd& fd, off_t bytes) {
    if (bytes > left_) return false;
    std::uint32_t crc = 0;
    std::vector<std::uint8_t> chunk(std::size_t{1} << 16);
    off_t at = 0;
    ssize_t n = 0;
    // Not to its end, which its owner may move on.
    for (; at < bytes && (n = ::pread(fd.get(), chunk.data(), chunk.size(), at)) > 0; at += n)
        crc = ::lzma_crc32(chunk.data(), static_cast<std::size_t>(n), crc);
    left_ -= std::min(at, left_);
    return at == bytes && crc == name_.link_crc;
}

}  // namespace lattop
