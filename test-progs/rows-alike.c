/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Teaches itself rows whose places in a table are the same for who hashes by the kernel's hash_64(), as a program may choose where
 * its code lies: they must cost no more than others. In each of two processes ROWS rows, "spread" and "alike"; it says how long
 * the lessons took, in ns of CPU. tests/vm/cases/stack-rows-alike runs it. rows-alike [ROWS]
 */
#include "lesson.h"

#include <sys/mman.h>
#include <sys/wait.h>

/* Of include/linux/hash.h */
static const uint64_t golden_ratio_64 = 0x61C8864680B583EBull;
enum { AT_ONCE = LT_MAX_TEACH_ROWS };
static const uint64_t code_bytes = (uint64_t)1 << 30;

static struct lt_row rows[AT_ONCE];
static char buffer[TRUTH_BUFFER_BYTES];

/* Where a table of 2^19 places begins, or a smaller one: some 1,000 places in a row. */
static bool is_alike(uint64_t pc) { return (pc << 1) * golden_ratio_64 >> (64 - 19) < 16; }

static void teach_all(const char* role, bool alike, uint64_t all) {
    int fd = open(LT_PROC_PATH, O_RDONLY | O_CLOEXEC);
    char* code = mmap(NULL, code_bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    struct lt_row_range range = {(uintptr_t)code, (uintptr_t)code + code_bytes};
    struct lt_teach lesson = {.rows = (uintptr_t)rows, .ranges = (uintptr_t)&range, .n_ranges = 1};
    uint64_t pc = range.start, taught = 0, took = 0;

    truth_need(fd, LT_PROC_PATH);
    if (code == MAP_FAILED) truth_die("mmap");
    truth_lesson(&lesson, buffer, sizeof(buffer));
    while (taught < all) {
        uint64_t before;

        for (lesson.n_rows = 0; lesson.n_rows < AT_ONCE && taught + lesson.n_rows < all; pc += alike ? 1 : 64) {
            if (pc >= range.end) truth_die("too few such addresses");
            if (!alike || is_alike(pc)) rows[lesson.n_rows++] = (struct lt_row){.pc = pc, .kind = LT_ROW_SP, .cfa_offset = 8};
        }
        before = truth_clock(CLOCK_PROCESS_CPUTIME_ID);
        truth_teach(fd, &lesson);
        took += truth_clock(CLOCK_PROCESS_CPUTIME_ID) - before;
        taught += lesson.n_rows;
    }
    printf("%s rows=%llu ns=%llu\n", role, (unsigned long long)taught, (unsigned long long)took);
    fflush(stdout);
}

int main(int argc, char** argv) {
    uint64_t all = (uint64_t)truth_arg(argc, argv, 1, 16384);

    for (int alike = 0; alike <= 1; alike++) {
        pid_t child = fork();
        int status;

        truth_need(child, "fork");
        if (child == 0) {
            teach_all(alike ? "alike" : "spread", alike, all);
            return 0;
        }
        truth_need(waitpid(child, &status, 0), "waitpid");
        if (status) return 1;
    }
    return 0;
}
