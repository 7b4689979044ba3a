// SPDX-License-Identifier: GPL-2.0-or-later
//
// See stack_walk.h. libunwind asks three things of us: a word of memory, a
// register, and where the unwind table for a pc lies.
#include "unwind/stack_walk.h"

#include <libunwind.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>

// Part of libunwind's library interface, used by its own ptrace and coredump
// libraries; only its header leaves it out. (include/dwarf.h of libunwind.)
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" int _Ux86_64_dwarf_search_unwind_table(unw_addr_space_t space, unw_word_t ip,
                                                  unw_dyn_info_t* info, unw_proc_info_t* found,
                                                  int need_unwind_info, void* context);

namespace lattop {
namespace {

/// What one walk has at hand.
struct Context {
    WalkedProcess& process;
    const ThreadRegisters& registers;
    std::optional<WalkTable> table{};  ///< the last one: most callers are in the same mapping
    std::size_t reads = 0;
    bool bp_wanted = false;     ///< bp was needed and not known
    bool info_missing = false;  ///< there is no unwind table for a pc
};

Context& context_of(void* argument) {
    return *static_cast<Context*>(argument);
}

/// It may lie in two pages.
bool read_word(WalkedProcess& process, std::uint64_t address, std::uint64_t& word) {
    if (address > UINT64_MAX - sizeof(word)) return false;
    std::size_t done = 0;
    while (done < sizeof(word)) {
        const std::size_t offset = (address + done) % kWalkPageBytes;
        const auto page = process.page_at(address + done - offset);
        if (offset >= page.size()) return false;
        const std::size_t bytes = std::min(sizeof(word) - done, page.size() - offset);
        std::memcpy(reinterpret_cast<char*>(&word) + done, page.data() + offset, bytes);
        done += bytes;
    }
    return true;
}

unw_dyn_info_t dyn_info(const WalkTable& table) {
    unw_dyn_info_t info{};
    info.format = UNW_INFO_FORMAT_REMOTE_TABLE;
    info.start_ip = table.start;
    info.end_ip = table.end;
    info.u.rti.segbase = table.base;
    info.u.rti.table_data = table.entries;
    info.u.rti.table_len = table.count;
    return info;
}

const std::optional<WalkTable>& find_table(Context& context, std::uint64_t pc) {
    std::optional<WalkTable>& table = context.table;
    if (!table || pc < table->start || pc >= table->end) table = context.process.table_at(pc);
    return table;
}

/// An error other than UNW_ENOINFO where there is nothing: on that one libunwind
/// would go on by guessing at frame pointers.
int find_proc_info(unw_addr_space_t space, unw_word_t pc, unw_proc_info_t* found, int need,
                   void* argument) {
    Context& context = context_of(argument);
    int result = -UNW_ENOINFO;
    if (const auto& table = find_table(context, pc)) {
        unw_dyn_info_t info = dyn_info(*table);
        result = _Ux86_64_dwarf_search_unwind_table(space, pc, &info, found, need, argument);
    }
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
    if (write != 0 || ++context.reads > kMaxStackReads) return -UNW_EINVAL;
    std::uint64_t word = 0;
    if (!read_word(context.process, address, word)) return -UNW_EINVAL;
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

unw_addr_space_t create_address_space() {
    unw_accessors_t accessors{find_proc_info, put_unwind_info, get_dyn_info_list_addr,
                              access_mem,     access_reg,      access_fpreg,
                              resume,         get_proc_name};
    return unw_create_addr_space(&accessors, 0);  // copies them
}

/// One for each walk: nothing may be remembered of another process.
class AddressSpace {
public:
    AddressSpace() : space_(create_address_space()) {
        if (space_ == nullptr) throw std::bad_alloc();
        unw_set_caching_policy(space_, UNW_CACHE_NONE);
    }
    AddressSpace(const AddressSpace&) = delete;
    AddressSpace& operator=(const AddressSpace&) = delete;
    ~AddressSpace() { unw_destroy_addr_space(space_); }

    [[nodiscard]] unw_addr_space_t get() const { return space_; }

private:
    unw_addr_space_t space_;
};

StackEnd end_of(const Context& context, int result) {
    if (result == 0) return StackEnd::Complete;
    if (result > 0) return StackEnd::TooManyFrames;
    if (context.reads > kMaxStackReads) return StackEnd::TooManyReads;
    if (context.bp_wanted) return StackEnd::BpWanted;
    return context.info_missing ? StackEnd::NoTable : StackEnd::Failed;
}

}  // namespace

StackWalk walk_stack(WalkedProcess& process, const ThreadRegisters& registers) {
    StackWalk walk;
    const AddressSpace space;
    Context context{process, registers};
    unw_cursor_t cursor;
    int result = unw_init_remote(&cursor, space.get(), &context);
    bool more = result >= 0;
    while (more && walk.frames.size() < kMaxStackFrames) {
        LiveFrame frame;
        result = unw_get_reg(&cursor, UNW_REG_IP, &frame.pc);
        if (result >= 0) result = unw_get_reg(&cursor, UNW_REG_SP, &frame.sp);
        if (result < 0) break;
        walk.frames.push_back(frame);
        result = unw_step(&cursor);
        more = result > 0;
    }
    walk.end = end_of(context, result);
    if (walk.end == StackEnd::Failed) walk.error = static_cast<std::uint8_t>(-result);
    return walk;
}

}  // namespace lattop
