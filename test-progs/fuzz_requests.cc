// SPDX-License-Identifier: GPL-2.0-or-later
// See fuzz_requests.h.
#include "fuzz_requests.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <utility>

namespace fuzz {
namespace {

template <typename T>
uint64_t address(T* at) {
    return reinterpret_cast<uintptr_t>(at);
}

template <typename T>
T* put_all(Random& random, const Memory& memory, const std::vector<T>& all) {
    return reinterpret_cast<T*>(memory.put(random, std::as_bytes(std::span(all))));
}

/// How many there are, mostly; else what there are not.
uint32_t count_of(Random& random, std::size_t n) {
    return random.one_in(16) ? random.edge32() : static_cast<uint32_t>(n);
}

/// Whole words of 32 bits, and bytes, are other ones; the eight bytes at each of `keep` stay.
template <std::size_t N>
void spoil_bytes(Random& random, std::span<std::byte> bytes,
                 const std::array<std::size_t, N>& keep) {
    if (!random.one_in(3)) return;
    for (uint64_t i = 1 + random.below(3); i > 0; --i) {
        const std::size_t at = random.below(bytes.size() / 4) * 4;
        if (std::ranges::any_of(keep, [&](std::size_t k) { return at >= k && at < k + 8; }))
            continue;
        uint32_t word = 0;
        std::memcpy(&word, &bytes[at], 4);
        switch (random.below(3)) {
            case 0: word = random.edge32(); break;
            case 1: word ^= 1U << random.below(32); break;
            default: word += static_cast<uint32_t>(random.below(3)) - 1;
        }
        std::memcpy(&bytes[at], &word, 4);
    }
}

/// As the contract has it.
lt_row make_row(Random& random, const lt_row_range& range) {
    lt_row row{};
    row.pc = range.start + random.below(range.end - range.start);
    row.kind = static_cast<uint32_t>(1 + random.below(LT_ROW_KIND_NR - 1));
    row.cfa_offset = random.pick({0, 8, 16, 24, -8, 128, 1 << 24, -(1 << 24), 3});
    row.bp_offset = random.pick({0, -16, -8, 8, 1 << 24, -(1 << 24), 5});
    row.flags = random.pick<uint32_t>({0, LT_ROW_BP_SAVED, LT_ROW_BP_AT_BP}) |
                (random.one_in(2) ? uint32_t{LT_ROW_EXACT} : 0U);
    return row;
}

void spoil_row(Random& random, lt_row& row) {
    switch (random.below(5)) {
        case 0: row.pc = random.edge(); break;
        case 1: row.kind = random.edge32(); break;
        case 2: row.cfa_offset = static_cast<int32_t>(random.edge32()); break;
        case 3: row.bp_offset = static_cast<int32_t>(random.edge32()); break;
        default: row.flags = random.edge32();
    }
}

lt_row_range range_around(Random& random, uint64_t pc) {
    const uint64_t start = pc & ~uint64_t{4095};
    return random.one_in(4) ? lt_row_range{pc - 1, pc + 1} : lt_row_range{start, start + 4096};
}

std::string make_term(Random& random) {
    const auto number = [&] {
        return random.one_in(2) ? std::to_string(random.one_in(2) ? 1 : getpid())
                                : std::to_string(random.edge32());
    };
    const auto list = [&] {
        std::string text = number();
        for (uint64_t n = random.one_in(8) ? random.below(200) : random.below(3); n > 0; --n)
            text += "," + number();
        return text;
    };
    switch (random.below(7)) {
        case 0: return "tgid=" + list();
        case 1: return "uid=" + list();
        case 2: return "cgroup=/";
        case 3: return "cgroup=/" + std::string(random.below(64), 'x') + "\\040\\000\\7";
        case 4: return "cgroup=/cgroup.procs";
        case 5: return "kthreads=no";
        default: return "none";
    }
}

}  // namespace

std::vector<lt_row_range> own_code() {
    std::vector<lt_row_range> ranges;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        unsigned long long start = 0, end = 0;
        char protection[8]{};
        if (std::sscanf(line.c_str(), "%llx-%llx %7s", &start, &end, protection) == 3 &&
            protection[2] == 'x' && end < 1ULL << 47)
            ranges.push_back({start, end});
    }
    return ranges;
}

lt_query make_query(Random& random, const Memory& memory) {
    lt_query query{};
    query.size = sizeof(query);
    query.view = static_cast<uint32_t>(random.below(2));
    query.sort = static_cast<uint32_t>(random.below(LT_SORT_NR));
    query.limit = random.pick<uint32_t>({0, 1, 2, 10, 100, LT_TEXT_TASKS, LT_MAX_LIMIT});
    query.traces = static_cast<uint32_t>(random.below(LT_TRACES_NR));
    query.flags = random.one_in(2) ? 0 : static_cast<uint32_t>(random.below(LT_Q_ALL + 1));
    query.uid = random.pick<uint32_t>({LT_UID_ANY, LT_UID_ANY, 0, 30001, 65534});
    query.min_blocked_ns = random.one_in(2) ? 0 : random.edge();
    if (random.one_in(4)) {
        std::vector<uint32_t> pids(
            random.pick<std::size_t>({1, 2, 64, LT_MAX_PIDS - 1, LT_MAX_PIDS}));
        for (uint32_t& pid : pids)
            pid = random.one_in(8) ? random.edge32() : static_cast<uint32_t>(random.below(2000));
        query.n_pids = count_of(random, pids.size());
        query.pids = address(put_all(random, memory, pids));
    }
    return query;
}

lt_misses make_misses(Random& random, const Memory& memory, std::span<const int> events) {
    lt_misses misses{};
    misses.size = sizeof(misses);
    misses.n = random.pick<uint32_t>({0, 1, 8, LT_MAX_MISSES - 1, LT_MAX_MISSES});
    misses.misses = address(memory.any(random, misses.n * sizeof(lt_miss)));
    misses.event_fd = random.one_in(2) ? -1 : events[random.below(events.size())];
    return misses;
}

lt_regs make_registers(Random& random, uint32_t pid) {
    lt_regs registers{};
    registers.size = sizeof(registers);
    registers.pid = random.one_in(2) ? pid : static_cast<uint32_t>(random.below(2000));
    return registers;
}

lt_teach make_lesson(Random& random, const Memory& memory, const Pupil& pupil,
                     std::span<const lt_row_range> code) {
    std::vector<lt_row_range> ranges;
    const std::size_t n_ranges = random.one_in(8) ? 1 + random.below(LT_MAX_TEACH_RANGES) : 1;
    while (ranges.size() < n_ranges)
        ranges.push_back(pupil.pc == 0 ? code[random.below(code.size())]
                                       : range_around(random, pupil.pc));
    std::vector<lt_row> rows(random.one_in(8) ? 1 + random.below(LT_MAX_TEACH_ROWS)
                                              : 1 + random.below(8));
    for (lt_row& row : rows)
        row = make_row(random, ranges[random.below(ranges.size())]);
    if (pupil.pc != 0) rows[0].pc = pupil.pc;
    if (random.one_in(4)) spoil_row(random, rows[random.below(rows.size())]);
    if (random.one_in(8)) {
        lt_row_range& range = ranges[random.below(ranges.size())];
        (random.one_in(2) ? range.start : range.end) = random.edge();
    }
    lt_teach lesson{};
    lesson.size = sizeof(lesson);
    lesson.pid = pupil.pid;
    lesson.start_ns = pupil.start_ns;
    lesson.exec_id = pupil.exec_id;
    lesson.n_rows = count_of(random, rows.size());
    lesson.n_ranges = count_of(random, ranges.size());
    lesson.rows = address(put_all(random, memory, rows));
    lesson.ranges = address(put_all(random, memory, ranges));
    return lesson;
}

std::string make_command(Random& random) {
    std::string text = random.pick<const char*>({"reset", "filter", "filter none", "filter", ""});
    if (text == "filter")
        for (uint64_t n = 1 + random.below(random.one_in(8) ? 80 : 3); n > 0; --n)
            text += random.pick({" ", " ", "\t", "\n "}) + make_term(random);
    if (random.one_in(16)) text.insert(random.below(text.size() + 1), random.below(70000), 'x');
    if (random.one_in(2)) text += "\n";
    for (uint64_t n = random.one_in(2) ? random.below(4) : 0; n > 0 && !text.empty(); --n) {
        const std::size_t at = random.below(text.size());
        switch (random.below(4)) {
            case 0: text[at] = static_cast<char>(random.next()); break;
            case 1: text.erase(at, 1 + random.below(8)); break;
            case 2:
                text.insert(at, text.substr(random.below(text.size()), random.below(32)));
                break;
            default: text.insert(at, 1, random.pick({'\0', ' ', ',', '=', '/', '\\', '\n', '-'}));
        }
    }
    return text;
}

void spoil(Random& random, lt_query& request) {
    spoil_bytes(random, std::as_writable_bytes(std::span(&request, 1)),
                std::array{offsetof(lt_query, pids)});
}

void spoil(Random& random, lt_misses& request) {
    spoil_bytes(random, std::as_writable_bytes(std::span(&request, 1)),
                std::array{offsetof(lt_misses, misses)});
}

void spoil(Random& random, lt_regs& request) {
    spoil_bytes(random, std::as_writable_bytes(std::span(&request, 1)),
                std::array<std::size_t, 0>{});
}

void spoil(Random& random, lt_teach& request) {
    spoil_bytes(random, std::as_writable_bytes(std::span(&request, 1)),
                std::array{offsetof(lt_teach, rows), offsetof(lt_teach, ranges)});
}

}  // namespace fuzz
