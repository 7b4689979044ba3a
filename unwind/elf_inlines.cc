// SPDX-License-Identifier: GPL-2.0-or-later
//
// See elf_inlines.h.
#include "unwind/elf_inlines.h"

#include <dwarf.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstring>
#include <optional>

#include "unwind/demangle.h"

namespace lattop {
namespace {

/// Namespaces and types around a function; blocks and calls within it.
constexpr int kMaxOuter = 32;
constexpr int kMaxInner = 256;

/// Entries looked at for one address; the largest units have a tenth.
constexpr std::size_t kMaxEntries = std::size_t{4} << 20;

/// What a frame keeps of its inlined calls: each frame has a copy.
constexpr std::size_t kMaxName = 4096;
constexpr std::size_t kMaxTexts = std::size_t{32} << 10;

class Finder {
public:
    explicit Finder(std::uint64_t address) : address_(address) {}

    /// Whether functions are looked for in namespaces and types, or in functions too: types that
    /// are local to these, as lambdas are, have functions that are not in their code.
    enum class Where { Outside, Everywhere };

    /// The function below `parent` that holds the address.
    std::optional<Dwarf_Die> function_in(Dwarf_Die& parent, Where where, int depth = 0) {
        if (depth == kMaxOuter) return std::nullopt;
        Dwarf_Die child;
        for (bool more = first(parent, child); more; more = next(child)) {
            const int tag = dwarf_tag(&child);
            if (tag == DW_TAG_subprogram && dwarf_haspc(&child, address_) > 0) return child;
            if (!may_hold(tag, where)) continue;
            if (auto found = function_in(child, where, depth + 1)) return found;
        }
        return std::nullopt;
    }

    /// The inlined calls of a function that hold the address, outermost first.
    std::vector<Dwarf_Die> calls_in(Dwarf_Die function) {
        std::vector<Dwarf_Die> calls;
        std::optional<Dwarf_Die> scope = function;
        for (int depth = 0; scope && depth < kMaxInner; ++depth) {
            scope = scope_in(*scope);
            if (scope && dwarf_tag(&*scope) == DW_TAG_inlined_subroutine) calls.push_back(*scope);
        }
        return calls;
    }

private:
    static bool may_hold(int tag, Where where) {
        switch (tag) {
            case DW_TAG_namespace:
            case DW_TAG_structure_type:
            case DW_TAG_class_type:
            case DW_TAG_union_type:
            case DW_TAG_module: return true;
            case DW_TAG_subprogram:
            case DW_TAG_lexical_block: return where == Where::Everywhere;
            default: return false;
        }
    }
    bool first(Dwarf_Die& parent, Dwarf_Die& child) {
        return entries_++ < kMaxEntries && dwarf_child(&parent, &child) == 0;
    }
    bool next(Dwarf_Die& child) {
        return entries_++ < kMaxEntries && dwarf_siblingof(&child, &child) == 0;
    }

    std::optional<Dwarf_Die> scope_in(Dwarf_Die& parent) {
        Dwarf_Die child;
        for (bool more = first(parent, child); more; more = next(child)) {
            const int tag = dwarf_tag(&child);
            const bool scope = tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
                               tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
            if (scope && dwarf_haspc(&child, address_) > 0) return child;
        }
        return std::nullopt;
    }

    std::uint64_t address_;
    std::size_t entries_ = 0;
};

/// The name that the linker would see tells namespace and parameters too.
std::string name_of(Dwarf_Die& call) {
    Dwarf_Attribute attribute;
    for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name})
        if (dwarf_attr_integrate(&call, name, &attribute) != nullptr)
            if (const char* text = dwarf_formstring(&attribute)) return demangle(text);
    const char* plain = dwarf_diename(&call);
    return plain == nullptr ? "" : demangle(plain);
}

Dwarf_Word number_of(Dwarf_Die& call, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (dwarf_attr(&call, name, &attribute) == nullptr || dwarf_formudata(&attribute, &value) != 0)
        return 0;
    return value;
}

SourceLine call_line(Dwarf_Die& unit, Dwarf_Die& call) {
    Dwarf_Files* files = nullptr;
    std::size_t n_files = 0;
    const Dwarf_Word index = number_of(call, DW_AT_call_file);
    const Dwarf_Word line = number_of(call, DW_AT_call_line);
    if (line > UINT32_MAX || dwarf_getsrcfiles(&unit, &files, &n_files) != 0 || index >= n_files)
        return {};
    const char* file = dwarf_filesrc(files, index, nullptr, nullptr);
    if (file == nullptr) return {};
    return source_line(file, static_cast<std::uint32_t>(line));
}

}  // namespace

SourceLine source_line(const char* file, std::uint32_t line) {
    return {std::string(file, strnlen(file, PATH_MAX)), line};
}

void bound_texts(std::vector<InlinedCall>& calls) {
    std::size_t left = kMaxTexts;
    const auto cut = [&left](std::string& text, std::size_t most) {
        most = std::min(most, left);
        if (text.size() > most) text.erase(most);
        text.shrink_to_fit();
        left -= text.size();
    };
    for (InlinedCall& call : calls) {
        cut(call.function, kMaxName);
        cut(call.call.file, PATH_MAX);
    }
}

std::vector<InlinedCall> inlined_at(Dwarf_Die& unit, std::uint64_t address) {
    std::vector<InlinedCall> inlined;
    Finder finder(address);
    auto function = finder.function_in(unit, Finder::Where::Outside);
    if (!function) function = finder.function_in(unit, Finder::Where::Everywhere);
    if (!function) return inlined;
    std::vector<Dwarf_Die> calls = finder.calls_in(*function);
    std::ranges::reverse(calls);
    for (Dwarf_Die& call : calls)
        inlined.push_back({name_of(call), call_line(unit, call)});
    bound_texts(inlined);
    return inlined;
}

}  // namespace lattop
