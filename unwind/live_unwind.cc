// SPDX-License-Identifier: GPL-2.0-or-later
//
// See live_unwind.h. libunwind asks three things of us: a word of memory, a
// register, and where the unwind table for a pc lies.
#include "unwind/live_unwind.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <new>
#include <string_view>

// Part of libunwind's library interface, used by its own ptrace and coredump
// libraries; only its header leaves it out. (include/dwarf.h of libunwind.)
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" int _Ux86_64_dwarf_search_unwind_table(unw_addr_space_t space, unw_word_t ip,
                                                  unw_dyn_info_t* info, unw_proc_info_t* found,
                                                  int need_unwind_info, void* context);

namespace lattop {
namespace {

constexpr std::size_t kMaxFrames = 1024;
constexpr std::size_t kMaxReads = 2'000'000;

/// Where libunwind finds the search table of a file that has none of its own:
/// an address that no process can have.
constexpr std::uint64_t kOurTable = std::uint64_t{1} << 63;

/// What one walk has at hand.
struct Context {
    ProcessCode& code;
    const ThreadRegisters& registers;
    CodeFiles::File file{};  ///< whose search table is at kOurTable
    std::size_t reads = 0;
    bool bp_wanted = false;     ///< bp was needed and not known
    bool info_missing = false;  ///< there is no unwind table for a pc
};

Context& context_of(void* argument) {
    return *static_cast<Context*>(argument);
}

/// .eh_frame_hdr in memory (Linux Standard Base, "Exception Frames"): version,
/// three encodings, address of .eh_frame, count, then the table.
std::optional<unw_dyn_info_t> table_at(ProcessCode& code, std::uint64_t header) {
    constexpr std::uint64_t kPlainEncodings = 0x3b031b01;  // what every linker writes
    constexpr std::uint64_t kTableOffset = 12;
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    if (!code.read_word(header, first) || !code.read_word(header + sizeof(first), second))
        return std::nullopt;
    if ((first & UINT32_MAX) != kPlainEncodings) return std::nullopt;
    unw_dyn_info_t info{};
    info.format = UNW_INFO_FORMAT_REMOTE_TABLE;
    info.u.rti.segbase = header;
    info.u.rti.table_data = header + kTableOffset;
    info.u.rti.table_len = second & UINT32_MAX;  // entries of 8 bytes
    return info;
}

/// The table made from .eh_frame: the entries it leads to are read from the
/// process's memory all the same.
std::optional<unw_dyn_info_t> our_table(Context& context, const CodeFiles::File& file,
                                        std::uint64_t load_bias) {
    const SearchTable& table = file->search_table();
    if (table.entries.empty()) return std::nullopt;
    context.file = file;
    unw_dyn_info_t info{};
    info.format = UNW_INFO_FORMAT_REMOTE_TABLE;
    info.u.rti.segbase = load_bias + table.address;
    info.u.rti.table_data = kOurTable;
    info.u.rti.table_len = table.entries.size();
    return info;
}

bool read_our_table(const Context& context, std::uint64_t address, std::uint64_t& word) {
    if (context.file == nullptr) return false;
    const auto& entries = context.file->search_table().entries;
    const std::uint64_t offset = address - kOurTable;
    if (offset % sizeof(word) != 0 || offset / sizeof(word) >= entries.size()) return false;
    std::memcpy(&word, &entries[offset / sizeof(word)], sizeof(word));
    return true;
}

std::optional<unw_dyn_info_t> find_table(Context& context, std::uint64_t pc) {
    ProcessCode& code = context.code;
    const auto [mapping, file] = code.code_at(pc);
    if (mapping == nullptr || file == nullptr) return std::nullopt;
    const auto address = file->file().address_of(pc - mapping->start + mapping->offset);
    if (!address) return std::nullopt;
    std::optional<unw_dyn_info_t> info;
    for (const Elf64_Phdr& segment : file->file().segments())
        if (segment.p_type == PT_GNU_EH_FRAME)
            info = table_at(code, pc - *address + segment.p_vaddr);
    if (!info) info = our_table(context, file, pc - *address);
    if (!info) return std::nullopt;
    info->start_ip = mapping->start;
    info->end_ip = mapping->end;
    return info;
}

/// An error other than UNW_ENOINFO where there is nothing: on that one libunwind
/// would go on by guessing at frame pointers.
int find_proc_info(unw_addr_space_t space, unw_word_t pc, unw_proc_info_t* found, int need,
                   void* argument) {
    Context& context = context_of(argument);
    auto info = find_table(context, pc);
    const int result =
        info ? _Ux86_64_dwarf_search_unwind_table(space, pc, &*info, found, need, argument)
             : -UNW_ENOINFO;
    if (result != -UNW_ENOINFO) return result;
    context.info_missing = true;
    return -UNW_EINVALIDIP;
}

// libunwind keeps the unwind information in its own pool.
void put_unwind_info(unw_addr_space_t /*space*/, unw_proc_info_t* /*info*/, void* /*argument*/) {}

int get_dyn_info_list_addr(unw_addr_space_t /*space*/, unw_word_t* /*list*/, void* /*argument*/) {
    return -UNW_ENOINFO;
}

int access_mem(unw_addr_space_t /*space*/, unw_word_t address, unw_word_t* value, int write,
               void* argument) {
    Context& context = context_of(argument);
    if (write != 0 || ++context.reads > kMaxReads) return -UNW_EINVAL;
    std::uint64_t word = 0;
    const bool ours = address >= kOurTable;
    if (!(ours ? read_our_table(context, address, word) : context.code.read_word(address, word)))
        return -UNW_EINVAL;
    *value = word;
    return 0;
}

int access_reg(unw_addr_space_t /*space*/, unw_regnum_t number, unw_word_t* value, int write,
               void* argument) {
    Context& context = context_of(argument);
    const auto index = static_cast<std::size_t>(number);
    if (write != 0 || number < 0 || index >= context.registers.values.size()) return -UNW_EBADREG;
    const auto& known = context.registers.values.at(index);
    if (!known) {
        context.bp_wanted = context.bp_wanted || index == ThreadRegisters::kBp;
        return -UNW_EBADREG;
    }
    *value = *known;
    return 0;
}

int access_fpreg(unw_addr_space_t /*space*/, unw_regnum_t /*number*/, unw_fpreg_t* /*value*/,
                 int /*write*/, void* /*argument*/) {
    return -UNW_EBADREG;
}

int resume(unw_addr_space_t /*space*/, unw_cursor_t* /*cursor*/, void* /*argument*/) {
    return -UNW_EINVAL;
}

int get_proc_name(unw_addr_space_t /*space*/, unw_word_t /*pc*/, char* /*name*/,
                  std::size_t /*bytes*/, unw_word_t* /*offset*/, void* /*argument*/) {
    return -UNW_ENOINFO;
}

unw_addr_space_t create_space() {
    unw_accessors_t accessors{find_proc_info, put_unwind_info, get_dyn_info_list_addr,
                              access_mem,     access_reg,      access_fpreg,
                              resume,         get_proc_name};
    return unw_create_addr_space(&accessors, 0);  // copies them
}

std::string why_ended(const Context& context, int error) {
    if (context.reads > kMaxReads) return "its unwind table makes no sense";
    if (context.bp_wanted)
        return "the next frame is found by bp, which /proc does not tell; root with the module "
               "loaded "
               "sees it";
    if (context.info_missing) return "no unwind table says anything about this code";
    return fmt::format("libunwind: {}", unw_strerror(error));
}

}  // namespace

std::optional<ThreadRegisters> parse_syscall(const std::string& text) {
    // "NUMBER ARG0 ... ARG5 SP PC", "-1 SP PC" or "running"
    static constexpr std::array<std::size_t, 6> kArguments{UNW_X86_64_RDI, UNW_X86_64_RSI,
                                                           UNW_X86_64_RDX, UNW_X86_64_R10,
                                                           UNW_X86_64_R8,  UNW_X86_64_R9};
    std::vector<std::uint64_t> words;
    std::string_view rest = text;
    rest = rest.substr(0, rest.find('\n'));
    const std::string_view number = rest.substr(0, rest.find(' '));
    while ((rest = rest.substr(std::min(rest.find(" 0x"), rest.size()))).size() > 3) {
        rest.remove_prefix(3);
        std::uint64_t word = 0;
        const auto [stop, error] =
            std::from_chars(rest.data(), rest.data() + rest.size(), word, 16);
        if (error != std::errc{}) return std::nullopt;
        words.push_back(word);
        rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()));
    }
    const bool in_call = words.size() == kArguments.size() + 2;
    if (!in_call && !(words.size() == 2 && number == "-1")) return std::nullopt;
    ThreadRegisters registers;
    for (std::size_t i = 0; in_call && i < kArguments.size(); ++i)
        registers.values.at(kArguments.at(i)) = words.at(i);
    registers.values.at(ThreadRegisters::kSp) = words.at(words.size() - 2);
    registers.values.at(ThreadRegisters::kPc) = words.back();
    return registers;
}

LiveUnwinder::LiveUnwinder() : space_(create_space()) {
    if (space_ == nullptr) throw std::bad_alloc();
    // Processes share this address space object: nothing may be remembered.
    unw_set_caching_policy(space_, UNW_CACHE_NONE);
}

LiveUnwinder::~LiveUnwinder() {
    unw_destroy_addr_space(space_);
}

LiveWalk LiveUnwinder::walk(ProcessCode& code, const ThreadRegisters& registers) {
    LiveWalk walk;
    Context context{code, registers};
    code.forget_memory();
    unw_cursor_t cursor;
    int result = unw_init_remote(&cursor, space_, &context);
    while (result >= 0 && walk.frames.size() < kMaxFrames) {
        unw_word_t pc = 0;
        unw_word_t sp = 0;
        if (unw_get_reg(&cursor, UNW_REG_IP, &pc) < 0 || unw_get_reg(&cursor, UNW_REG_SP, &sp) < 0)
            break;
        walk.frames.push_back({pc, sp});
        result = unw_step(&cursor);
        walk.complete = result == 0;
        if (result == 0) return walk;
    }
    walk.why = result < 0 ? why_ended(context, result) : "too many frames";
    return walk;
}

}  // namespace lattop
