// SPDX-License-Identifier: GPL-2.0-or-later
//
// See cfi_check.h. The format: DWARF 5, 6.4.1 and 7.24; for .eh_frame the
// Linux Standard Base, "Exception Frames". An entry:
//
//	+--------+----------------------+---------------------------------+
//	| length | 0 (CIE) or CIE's     | CIE: version, augmentation, ... |
//	| 4      | place (FDE) 4        | FDE: start, size, ...           |
//	+--------+----------------------+---------------------------------+
#include "unwind/cfi_check.h"

#include <dwarf.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "unwind/byte_reader.h"

namespace lattop {
namespace {

constexpr std::uint64_t kMaxRegister = 128;
constexpr int kMaxRemembered = 32;
constexpr std::uint64_t kMaxExpressionBytes = 256;
constexpr std::uint32_t kLongEntry = 0xffffffff;
constexpr std::uint32_t kDebugFrameCie = 0xffffffff;

/// What an FDE needs to know of its CIE.
struct Common {
    std::uint8_t encoding = DW_EH_PE_absptr;  ///< of code addresses
    bool sized_augmentation = false;
};

/// Bytes of an encoded address; 0 for encodings that x86-64's code never has.
std::uint64_t address_bytes(std::uint8_t encoding) {
    switch (encoding) {
        case DW_EH_PE_absptr:
        case DW_EH_PE_udata8:
        case DW_EH_PE_pcrel:  // of absptr
        case DW_EH_PE_pcrel | DW_EH_PE_udata8:
        case DW_EH_PE_pcrel | DW_EH_PE_sdata8: return 8;
        case DW_EH_PE_udata4:
        case DW_EH_PE_sdata4:
        case DW_EH_PE_pcrel | DW_EH_PE_udata4:
        case DW_EH_PE_pcrel | DW_EH_PE_sdata4: return 4;
        default: return 0;
    }
}

bool check_register(ByteReader& bytes) {
    return bytes.uleb() < kMaxRegister;
}

bool check_registers(ByteReader& bytes) {
    const bool first = check_register(bytes);
    return check_register(bytes) && first;
}

bool check_block(ByteReader& bytes) {
    const std::uint64_t length = bytes.uleb();
    bytes.skip(length);
    return length <= kMaxExpressionBytes;
}

/// An instruction with no operand in its opcode, other than the two about
/// remembered states.
bool check_operands(ByteReader& bytes, std::uint8_t opcode) {
    switch (opcode) {
        case DW_CFA_nop: return true;
        case DW_CFA_advance_loc1: bytes.skip(1); return true;
        case DW_CFA_advance_loc2: bytes.skip(2); return true;
        case DW_CFA_advance_loc4: bytes.skip(4); return true;
        case DW_CFA_restore_extended:
        case DW_CFA_undefined:
        case DW_CFA_same_value:
        case DW_CFA_def_cfa_register: return check_register(bytes);
        case DW_CFA_register: return check_registers(bytes);
        case DW_CFA_def_cfa_offset:
        case DW_CFA_def_cfa_offset_sf:
        case DW_CFA_GNU_args_size: bytes.skip_leb(); return true;
        case DW_CFA_def_cfa_expression: return check_block(bytes);
        case DW_CFA_expression:
        case DW_CFA_val_expression: return check_register(bytes) && check_block(bytes);
        case DW_CFA_offset_extended:
        case DW_CFA_offset_extended_sf:
        case DW_CFA_def_cfa:
        case DW_CFA_def_cfa_sf:
        case DW_CFA_val_offset:
        case DW_CFA_val_offset_sf:
        case DW_CFA_GNU_negative_offset_extended: {
            const bool known = check_register(bytes);
            bytes.skip_leb();
            return known;
        }
        default: return false;
    }
}

bool check_instructions(std::span<const std::uint8_t> program) {
    constexpr std::uint8_t kPrimary = 0xc0;
    if (program.size() > kMaxCfiProgramBytes) return false;
    ByteReader bytes(program);
    int remembered = 0;
    int copies = 0;
    while (!bytes.empty()) {
        const std::uint8_t opcode = bytes.byte();
        if (const unsigned primary = opcode & kPrimary; primary != 0) {
            if (primary == DW_CFA_offset) bytes.skip_leb();
        } else if (opcode == DW_CFA_remember_state) {
            if (++remembered > kMaxRemembered || ++copies > kMaxCfiCopies) return false;
        } else if (opcode == DW_CFA_restore_state) {
            if (--remembered < 0) return false;
        } else if (!check_operands(bytes, opcode)) {
            return false;
        }
    }
    return bytes.ok();
}

/// The augmentation of a CIE: which data follow in it and in its FDEs.
bool read_augmentation(ByteReader& bytes, std::string_view letters, Common& common) {
    if (letters.empty()) return true;
    if (letters.front() != 'z') return false;
    common.sized_augmentation = true;
    const std::uint64_t length = bytes.uleb();
    if (length > bytes.rest().size()) return false;
    ByteReader data(bytes.rest().first(static_cast<std::size_t>(length)));
    bytes.skip(length);
    for (const char letter : letters.substr(1)) {
        switch (letter) {
            case 'R': common.encoding = data.byte(); break;
            case 'L': data.byte(); break;
            case 'P': {
                // libdw goes by fewer bits of the encoding: of one that is not known here it would
                // step over another number of bytes, and read what follows elsewhere.
                const std::uint64_t bytes_of = address_bytes(data.byte() & 0x7fU);
                if (bytes_of == 0) return false;
                data.skip(bytes_of);
                break;
            }
            case 'S': break;
            default: return false;
        }
    }
    return data.ok();
}

std::optional<Common> check_common(std::span<const std::uint8_t> entry, CfiFormat format) {
    constexpr std::uint64_t kReturnAddress = 16;
    constexpr std::size_t kMaxLetters = 8;
    ByteReader bytes(entry);
    Common common;
    const std::uint8_t version = bytes.byte();
    if (version != 1 && version != 3 && !(version == 4 && format == CfiFormat::DebugFrame))
        return std::nullopt;
    std::string letters;
    for (char letter; (letter = static_cast<char>(bytes.byte())) != '\0';) {
        if (letters.size() == kMaxLetters) return std::nullopt;
        letters += letter;
    }
    if (version == 4 && (bytes.byte() != sizeof(std::uint64_t) || bytes.byte() != 0))
        return std::nullopt;
    bytes.skip_leb();  // code alignment
    bytes.skip_leb();  // data alignment
    if ((version == 1 ? bytes.byte() : bytes.uleb()) != kReturnAddress) return std::nullopt;
    if (!read_augmentation(bytes, letters, common) || !bytes.ok()) return std::nullopt;
    if (address_bytes(common.encoding) == 0 || !check_instructions(bytes.rest()))
        return std::nullopt;
    return common;
}

bool check_function(std::span<const std::uint8_t> entry, const Common& common) {
    ByteReader bytes(entry);
    bytes.skip(2 * address_bytes(common.encoding));
    if (common.sized_augmentation) bytes.skip(bytes.uleb());
    return bytes.ok() && check_instructions(bytes.rest());
}

/// Where the function of an FDE begins, relative to the section.
std::optional<std::int64_t> start_of(std::span<const std::uint8_t> body, std::uint64_t offset,
                                     const Common& common) {
    if (common.encoding != (DW_EH_PE_pcrel | DW_EH_PE_sdata4)) return std::nullopt;
    constexpr std::int64_t kBodyOffset = 8;
    ByteReader bytes(body);
    return static_cast<std::int64_t>(offset) + kBodyOffset + bytes.fixed<std::int32_t>();
}

struct Entry {
    std::uint64_t offset = 0;  ///< of its length
    std::uint64_t cie = 0;     ///< offset of the CIE, for an FDE
    bool is_common = false;
    std::span<const std::uint8_t> body;  ///< behind the second field
};

/// Shows `visit` each entry of a section; false where it says so, or one is not whole.
template <typename Visit>
bool each_entry(std::span<const std::uint8_t> section, CfiFormat format, const Visit& visit) {
    const bool is_eh = format == CfiFormat::EhFrame;
    ByteReader bytes(section);
    while (!bytes.empty()) {
        Entry entry;
        entry.offset = section.size() - bytes.rest().size();
        const auto length = bytes.fixed<std::uint32_t>();
        if (!bytes.ok() || length == kLongEntry) return false;
        if (length == 0) continue;  // the end of one object file's entries
        if (length < sizeof(std::uint32_t) || length > bytes.rest().size()) return false;
        const auto second = bytes.fixed<std::uint32_t>();
        const std::uint64_t place = entry.offset + sizeof(length);
        entry.is_common = second == (is_eh ? 0U : kDebugFrameCie);
        if (!entry.is_common && is_eh && second > place) return false;
        entry.cie = entry.is_common ? 0 : is_eh ? place - second : second;
        entry.body = bytes.rest().first(length - sizeof(second));
        if (!visit(entry)) return false;
        bytes.skip(entry.body.size());
    }
    return true;
}

using Commons = std::unordered_map<std::uint64_t, Common>;  // by offset

/// Takes the CIEs; how many FDEs there are. Nothing where there are too many.
std::optional<std::size_t> take_commons(std::span<const std::uint8_t> section, CfiFormat format,
                                        Commons& commons) {
    std::size_t functions = 0;
    const bool sound = each_entry(section, format, [&](const Entry& entry) {
        if (!entry.is_common) return ++functions <= kMaxCfiFunctions;
        const auto common = check_common(entry.body, format);
        if (!common || commons.size() == kMaxCfiCommon) return false;
        commons.emplace(entry.offset, *common);
        return true;
    });
    return sound ? std::optional(functions) : std::nullopt;
}

}  // namespace

bool check_cfi(std::span<const std::uint8_t> section, CfiFormat format, CfiEntries& entries) {
    Commons commons;
    const auto functions = take_commons(section, format, commons);
    if (!functions) return false;
    entries.common = commons.size();
    entries.functions.reserve(*functions);
    entries.starts.reserve(*functions);
    return each_entry(section, format, [&](const Entry& entry) {
        if (entry.is_common) return true;
        const auto common = commons.find(entry.cie);
        if (common == commons.end() || !check_function(entry.body, common->second)) return false;
        entries.functions.push_back(entry.offset);
        if (const auto start = start_of(entry.body, entry.offset, common->second))
            entries.starts.push_back({*start, static_cast<std::int64_t>(entry.offset)});
        return true;
    });
}

bool check_cfi_table(std::span<const std::uint8_t> table, std::uint64_t table_address,
                     std::uint64_t section_address, const CfiEntries& entries) {
    constexpr std::uint64_t kEncodings = 4;
    ByteReader bytes(table);
    // What every linker writes; libdw would take other encodings too.
    if (bytes.byte() != 1 || bytes.byte() != (DW_EH_PE_pcrel | DW_EH_PE_sdata4) ||
        bytes.byte() != DW_EH_PE_udata4 || bytes.byte() != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
        return false;
    // Where it names another section, or is empty, libdw would read without a table.
    const std::uint64_t place = table_address + kEncodings;
    const auto section = static_cast<std::uint64_t>(std::int64_t{bytes.fixed<std::int32_t>()});
    const auto count = bytes.fixed<std::uint32_t>();
    if (place + section != section_address || count == 0) return false;
    for (std::uint32_t i = 0; i < count && bytes.ok(); ++i) {
        bytes.skip(sizeof(std::int32_t));  // start of the code
        const auto entry = static_cast<std::uint64_t>(std::int64_t{bytes.fixed<std::int32_t>()});
        const std::uint64_t offset = table_address + entry - section_address;
        if (!std::ranges::binary_search(entries.functions, offset)) return false;
    }
    return bytes.ok();
}

}  // namespace lattop
