// SPDX-License-Identifier: GPL-2.0-or-later
//
// See cfi_rows.h. libdw says of a pc how each register of the caller is to be
// had; a row holds that for the frame address, the return address and bp.
#include "unwind/cfi_rows.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <span>
#include <utility>

#include <dwarf.h>

#include "unwind/cfi_expression.h"

namespace lattop {
namespace {

/// Rows that one file's object remembers; programs block in far fewer places.
constexpr std::size_t kMaxRows = 65536;

constexpr int kDwarfBp = 6;
constexpr int kDwarfReturnAddress = 16;

/// Code of an entry point without call-frame information: how far behind its
/// start it is still taken to be the same function. glibc's ld.so has 60 bytes.
constexpr std::uint64_t kMaxEntryBytes = 128;

struct FrameFreer {
    void operator()(Dwarf_Frame* frame) const { std::free(frame); }
};
using FrameHandle = std::unique_ptr<Dwarf_Frame, FrameFreer>;

BuiltRow end_of_stack() {
    BuiltRow built;
    built.row.kind = LT_ROW_END;
    return built;
}

bool fits(std::int64_t offset) {
    constexpr std::int64_t kReach = 1 << 24;  // lt_row_valid()'s
    return offset >= -kReach && offset <= kReach;
}

/// How a register of the caller is to be had.
struct Rule {
    enum class Kind { Undefined, Same, At, Is, Unknown } kind = Kind::Unknown;
    CfiValue value;  ///< the address for At, the value for Is
};

Rule rule_of(Dwarf_Frame* frame, int number, std::uint64_t pc) {
    std::array<Dwarf_Op, 3> memory{};
    Dwarf_Op* operations = nullptr;
    std::size_t count = 0;
    if (dwarf_frame_register(frame, number, memory.data(), &operations, &count) != 0) return {};
    if (count == 0) return {operations == nullptr ? Rule::Kind::Same : Rule::Kind::Undefined, {}};
    const bool is_value = operations[count - 1].atom == DW_OP_stack_value;
    const auto value = evaluate_cfi({operations, count - (is_value ? 1 : 0)}, pc);
    if (!value) return {};
    return {is_value ? Rule::Kind::Is : Rule::Kind::At, *value};
}

/// Sets how the caller's frame address is found; false where no row can say.
bool set_cfa(lt_row& row, const CfiValue& cfa) {
    switch (cfa.base) {
        case CfiValue::Base::Sp: row.kind = LT_ROW_SP; break;
        case CfiValue::Base::Bp: row.kind = LT_ROW_BP; break;
        case CfiValue::Base::AtSp: row.kind = LT_ROW_AT_SP; break;
        case CfiValue::Base::AtBp: row.kind = LT_ROW_AT_BP; break;
        default: return false;
    }
    row.cfa_offset = static_cast<__s32>(cfa.offset);
    return fits(cfa.offset);
}

/// An address relative to the frame address, where it can be put so.
CfiValue relative_to_cfa(CfiValue value, const CfiValue& cfa) {
    const bool direct = cfa.base == CfiValue::Base::Sp || cfa.base == CfiValue::Base::Bp;
    if (direct && value.base == cfa.base)
        if (fits(value.offset)) return {CfiValue::Base::Cfa, value.offset - cfa.offset};
    return value;
}

bool set_bp(lt_row& row, const Rule& rule, const CfiValue& cfa) {
    if (rule.kind == Rule::Kind::Same || rule.kind == Rule::Kind::Undefined) return true;
    if (rule.kind == Rule::Kind::Is) return rule.value == CfiValue{CfiValue::Base::Bp, 0};
    if (rule.kind != Rule::Kind::At || !fits(rule.value.offset)) return false;
    const CfiValue at = relative_to_cfa(rule.value, cfa);
    row.bp_offset = static_cast<__s32>(at.offset);
    if (at.base == CfiValue::Base::Cfa) row.flags |= LT_ROW_BP_SAVED;
    if (at.base == CfiValue::Base::Bp) row.flags |= LT_ROW_BP_AT_BP;
    return at.base == CfiValue::Base::Cfa || at.base == CfiValue::Base::Bp;
}

BuiltRow row_of(Dwarf_Frame* frame, std::uint64_t pc) {
    bool is_signal = false;
    const int column = dwarf_frame_info(frame, nullptr, nullptr, &is_signal);
    if (column != kDwarfReturnAddress) return cannot_row(CannotCause::ReturnAddress);
    const Rule return_address = rule_of(frame, column, pc);
    if (return_address.kind == Rule::Kind::Undefined) return end_of_stack();
    if (return_address.kind != Rule::Kind::At) return cannot_row(CannotCause::ReturnAddress);
    // glibc's __restore_rt: every register at its place in the ucontext.
    if (is_signal && return_address.value.base == CfiValue::Base::Sp &&
        fits(return_address.value.offset))
        return signal_row(return_address.value.offset - LT_UC_PC);

    Dwarf_Op* operations = nullptr;
    std::size_t count = 0;
    if (dwarf_frame_cfa(frame, &operations, &count) != 0) return cannot_row(CannotCause::Cfa);
    const auto cfa = evaluate_cfi({operations, count}, pc);
    BuiltRow built;
    if (!cfa || !set_cfa(built.row, *cfa)) return cannot_row(CannotCause::Cfa);
    constexpr CfiValue kBelowCfa{CfiValue::Base::Cfa, -8};
    if (relative_to_cfa(return_address.value, *cfa) != kBelowCfa)
        return cannot_row(CannotCause::ReturnAddress);
    if (!set_bp(built.row, rule_of(frame, kDwarfBp, pc), *cfa)) return cannot_row(CannotCause::Bp);
    return built;
}

}  // namespace

struct CfiRows::Unwinding {
    explicit Unwinding(const ElfBytes& file) : sections(file) {}

    FrameSections sections;

    /// The frame of the code at `address`: .eh_frame first, it is what runs
    /// when an exception is thrown, so it is right.
    [[nodiscard]] FrameHandle frame_at(std::uint64_t address) {
        Dwarf_Frame* frame = nullptr;
        sections.note_look();
        for (Dwarf_CFI* cfi : {sections.eh_frame(), sections.debug_frame()})
            if (cfi != nullptr && dwarf_cfi_addrframe(cfi, address, &frame) == 0)
                return FrameHandle(frame);
        return nullptr;
    }
};

const char* cannot_text(CannotCause cause) {
    switch (cause) {
        case CannotCause::None: return "known";
        case CannotCause::NoRoom:
            return "its file was not opened, for want of descriptors or memory";
        case CannotCause::NoFile: return "its file cannot be read, or is not for this machine";
        case CannotCause::NoCfi:
            return "its file says nothing about it, and it has no frame pointer";
        case CannotCause::BadCfi: return "its file's call-frame information is damaged";
        case CannotCause::Cfa: return "its frame is found in a way that no row can say";
        case CannotCause::Bp: return "its caller's bp is kept in a way that no row can say";
        case CannotCause::ReturnAddress: return "its return address is not below its frame";
        case CannotCause::Count: break;
    }
    return "";
}

BuiltRow cannot_row(CannotCause cause) {
    BuiltRow built;
    built.row.kind = LT_ROW_CANNOT;
    built.cannot = cause;
    return built;
}

BuiltRow signal_row(std::int64_t ucontext_offset) {
    BuiltRow built;
    built.row.kind = LT_ROW_SIGNAL;
    built.row.cfa_offset = static_cast<__s32>(ucontext_offset);
    return built;
}

CfiRows::CfiRows(ElfBytes file)
    : file_(std::move(file)), unwinding_(std::make_unique<Unwinding>(file_)) {
    file_.let_go();
}

CfiRows::~CfiRows() = default;

std::unique_ptr<CfiRows> CfiRows::from_file(UniqueFd fd, std::size_t most_bytes) {
    ElfBytes file = ElfBytes::from_file(std::move(fd));
    return bytes_to_read(file) > most_bytes ? nullptr : from_elf(std::move(file), most_bytes);
}

std::unique_ptr<CfiRows> CfiRows::from_elf(ElfBytes file, std::size_t most_bytes) {
    std::unique_ptr<CfiRows> rows(new CfiRows(std::move(file)));
    return rows->bytes() > most_bytes ? nullptr : std::move(rows);
}

std::unique_ptr<CfiRows> CfiRows::from_memory(std::vector<char> bytes) {
    return std::unique_ptr<CfiRows>(new CfiRows(ElfBytes::from_memory(std::move(bytes))));
}

/// Whether it is the code that a program begins with. Nobody called it; glibc's
/// says so in its call-frame information, that of ld.so and musl has none.
bool CfiRows::is_entry(std::uint64_t look_up) const {
    const std::uint64_t entry = file_.entry();
    if (entry == 0 || look_up < entry || look_up - entry >= kMaxEntryBytes) return false;
    for (std::uint64_t address = entry; address < look_up; ++address)
        if (unwinding_->frame_at(address)) return false;
    return true;
}

BuiltRow CfiRows::without_cfi(std::uint64_t look_up) const {
    if (is_entry(look_up)) return end_of_stack();
    return cannot_row(unwinding_->sections.damaged() ? CannotCause::BadCfi : CannotCause::NoCfi);
}

BuiltRow CfiRows::build(std::uint64_t address, bool exact) {
    // A call may be a function's last instruction: its return address then
    // belongs to the next one.
    const std::uint64_t look_up = address - (exact ? 0 : 1);
    const FrameHandle frame = unwinding_->frame_at(look_up);
    return frame ? row_of(frame.get(), address) : without_cfi(look_up);
}

BuiltRow CfiRows::row_at(std::uint64_t file_offset, bool exact, CodeUser asker) {
    const auto address = file_.address_of(file_offset - (exact ? 0 : 1));
    if (!file_.usable() || !address) return cannot_row(CannotCause::NoFile);
    const std::uint64_t key = file_offset << 1 | (exact ? 1 : 0);
    auto known = rows_.find(key);
    if (known == rows_.end()) {
        if (rows_.size() >= kMaxRows) forget_rows();
        Row row;
        row.built = build(*address + (exact ? 0 : 1), exact);
        row.built.row.flags |= exact ? LT_ROW_EXACT : 0;
        known = rows_.emplace(key, row).first;
    }
    note_asker(key, known->second, asker);
    return known->second.built;
}

void CfiRows::note_asker(std::uint64_t key, Row& row, CodeUser asker) {
    if (asker == kNoUser || row.built.cannot != CannotCause::None) return;
    ++row.asked;
    if (row.shared || asker == row.first) return;
    const bool counts = asker < kApart;
    if (!counts && row.first != kNoUser) return;
    if (asker == kRootUser || (counts && row.first < kApart)) {
        row.shared = true;
        shared_.insert(key);
    }
    if (const auto before = users_.find(row.first); before != users_.end()) {
        before->second.erase(key);
        if (before->second.empty()) users_.erase(before);
    }
    row.first = asker;
    if (!row.shared) users_[asker].insert(key);
}

/// First those that a single user may have made up; all where that is not enough.
void CfiRows::forget_rows() {
    std::erase_if(rows_, [](const auto& row) { return !row.second.shared; });
    users_.clear();
    if (rows_.size() < kMaxRows / 2) return;
    rows_.clear();
    shared_.clear();
}

const SearchTable& CfiRows::search_table() const {
    return unwinding_->sections.search_table();
}

std::vector<KnownRow> CfiRows::known_rows(std::uint64_t first, std::uint64_t end, std::size_t max,
                                          CodeUser user) const {
    std::vector<KnownRow> known;
    const auto add = [&](const Keys& keys) {
        for (const std::uint64_t key : keys) {
            const std::uint64_t offset = key >> 1;
            if (offset <= first || offset >= end) continue;
            const Row& row = rows_.at(key);
            known.push_back({offset, row.built, row.asked});
        }
    };
    add(shared_);
    if (const auto its = users_.find(user); its != users_.end()) add(its->second);
    std::ranges::sort(known, std::ranges::greater(), &KnownRow::asked);
    if (known.size() > max) known.resize(max);
    return known;
}

std::size_t CfiRows::bytes() const {
    constexpr std::size_t kNode = 32;  // of a map, and of who asked
    return sizeof(*this) + unwinding_->sections.bytes() + rows_.size() * (sizeof(Row) + 2 * kNode);
}

}  // namespace lattop
