// SPDX-License-Identifier: GPL-2.0-or-later
//
// See debug_files.h.
#include "unwind/debug_files.h"

#include <elfutils/libdwelf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <vector>

#include "unwind/elf_handle.h"

namespace lattop {
namespace {

/// Build ids are 20 bytes; ld takes any number.
constexpr std::size_t kMinBuildId = 2;
constexpr std::size_t kMaxBuildId = 64;

/// A larger file is not read through for its checksum.
constexpr off_t kMaxLinked = off_t{1} << 30;

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
}

/// CRC-32 as .gnu_debuglink has it (IEEE 802.3, reflected, 0xedb88320).
constexpr std::array<std::uint32_t, 256> crc_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit)
            value = (value & 1) != 0 ? value >> 1 ^ 0xedb88320 : value >> 1;
        table.at(i) = value;
    }
    return table;
}

bool has_crc(const UniqueFd& fd, std::uint32_t wanted) {
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0 || info.st_size > kMaxLinked) return false;
    static constexpr auto kTable = crc_table();
    std::uint32_t crc = ~0U;
    std::vector<unsigned char> chunk(std::size_t{1} << 16);
    off_t at = 0;
    ssize_t n = 0;
    // Not to its end, which its owner may move on.
    for (; at < info.st_size && (n = ::pread(fd.get(), chunk.data(), chunk.size(), at)) > 0;
         at += n)
        for (ssize_t i = 0; i < n; ++i)
            crc = kTable.at((crc ^ chunk[static_cast<std::size_t>(i)]) & 0xff) ^ crc >> 8;
    return at == info.st_size && ~crc == wanted;
}

bool belongs(const UniqueFd& fd, const DebugName& name, const IdentifyFile& identify) {
    if (name.build_id.empty()) return has_crc(fd, name.link_crc);
    return identify(fd).build_id == name.build_id;
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

UniqueFd find_debug_file(const DebugName& name, const std::string& path, const std::string& folder,
                         const OpenFile& open, const IdentifyFile& identify) {
    std::vector<std::string> candidates;
    if (!name.build_id.empty())
        candidates.push_back(fmt::format("{}/.build-id/{}/{}.debug", folder,
                                         name.build_id.substr(0, 2), name.build_id.substr(2)));
    const std::string beside = folder_of(path);
    if (!name.link.empty() && path.starts_with('/'))
        for (const std::string& place : {beside, beside + "/.debug", folder + beside})
            candidates.push_back(place + "/" + name.link);
    for (const std::string& candidate : candidates) {
        // A link may name the program itself.
        if (candidate == path) continue;
        UniqueFd fd = open(candidate);
        if (fd && belongs(fd, name, identify)) return fd;
    }
    return {};
}

}  // namespace lattop
