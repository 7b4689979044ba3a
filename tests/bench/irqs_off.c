/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plugin of QEMU's that counts, between two marks in a program of the guest,
 * all instructions and the longest stretches of them with interrupts off.
 * bench builds it and hands it to tests/vm/run --plugin; snapshot-cost.c sets
 * the marks (tests/bench/marks.h).
 *
 * Debian's kernels have no irqsoff tracer, and one that has it runs other
 * code. From outside nothing is disturbed: the flag IF is read at the start of
 * each translated block, and blocks end wherever it can be set. It is cleared
 * by an interrupt, which begins a block, or by cli, whose place in its block is
 * known. So a length is exact but for a block that faults in its midst.
 *
 * A stretch is the module's when code of its text ran in it and cli began it;
 * an interrupt that wakes tasks, one after the other, is a stretch with hooks
 * in it; all else is others'. At the second mark a line is appended to the file
 * that out= names:
 *
 *	window ID instructions=N module=N at=OFFSET hooks=N at=OFFSET other=N at=ADDRESS
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "qemu_plugin.h"

enum { IF_FLAG = 1 << 9 };

/* A translated block, or one instruction in it: how many instructions from here to its end. */
struct block {
    uint64_t address, count, runs;
    struct block* next;
};

struct stretch {
    uint64_t length, address; /* of its first block, of the module where it is the module's */
    bool module, interrupt;
};

/* Both ends of a window; one vCPU. */
static struct {
    uint64_t id, text, text_end, instructions;
    struct stretch now, module, hooks, other;
    bool open;
} window;

static qemu_plugin_u64 armed;
static struct qemu_plugin_register *flags, *rdi, *rsi, *rdx;
static GByteArray* value;
static const char *out_path, *code_path;
static struct block* blocks;

static uint64_t read_register(struct qemu_plugin_register* handle) {
    uint64_t number = 0;

    g_byte_array_set_size(value, 0);
    qemu_plugin_read_register(handle, value);
    memcpy(&number, value->data, value->len < sizeof(number) ? value->len : sizeof(number));
    return number;
}

static void close_stretch(void) {
    struct stretch* longest = !window.now.module     ? &window.other
                              : window.now.interrupt ? &window.hooks
                                                     : &window.module;

    if (window.now.length > longest->length) *longest = window.now;
    memset(&window.now, 0, sizeof(window.now));
}

static void count(const struct block* b) {
    window.now.length += b->count;
    if (!window.now.address) window.now.address = b->address;
    if (!window.now.module && b->address >= window.text && b->address < window.text_end) {
        window.now.module = true;
        window.now.address = b->address;
    }
}

static void on_block(unsigned vcpu, void* data) {
    struct block* b = data;

    (void)vcpu;
    window.instructions += b->count;
    b->runs++;
    if (read_register(flags) & IF_FLAG) {
        close_stretch();
    } else {
        if (!window.now.length) window.now.interrupt = true;
        count(b);
    }
}

static void on_cli(unsigned vcpu, void* data) {
    (void)vcpu;
    if (window.open && !window.now.length) count(data);
}

static void on_begin(unsigned vcpu, void* data) {
    (void)data;
    memset(&window, 0, sizeof(window));
    window.id = read_register(rdi);
    window.text = read_register(rsi);
    window.text_end = window.text + read_register(rdx);
    window.open = true;
    for (struct block* b = blocks; b; b = b->next)
        b->runs = 0;
    qemu_plugin_u64_set(armed, vcpu, 1);
}

/* Which code ran how many instructions, for who wants to know where they go: code=FILE. */
static void write_code(void) {
    FILE* f = code_path ? fopen(code_path, "a") : NULL;

    if (!f) return;
    fprintf(f, "window %" PRIu64 " text=%" PRIx64 "\n", window.id, window.text);
    for (const struct block* b = blocks; b; b = b->next)
        if (b->runs) fprintf(f, "%" PRIx64 " %" PRIu64 "\n", b->address, b->runs * b->count);
    fclose(f);
}

static void on_end(unsigned vcpu, void* data) {
    FILE* f = fopen(out_path, "a");

    (void)data;
    qemu_plugin_u64_set(armed, vcpu, 0);
    window.open = false;
    close_stretch();
    if (f) {
        fprintf(f,
                "window %" PRIu64 " instructions=%" PRIu64 " module=%" PRIu64 " at=%" PRIx64
                " hooks=%" PRIu64 " at=%" PRIx64 " other=%" PRIu64 " at=%" PRIx64 "\n",
                window.id, window.instructions, window.module.length,
                window.module.address - window.text, window.hooks.length,
                window.hooks.address - window.text, window.other.length, window.other.address);
        fclose(f);
    }
    write_code();
}

static struct block* new_block(uint64_t address, uint64_t length) {
    struct block* b = calloc(1, sizeof(*b));

    if (!b) abort();
    b->address = address;
    b->count = length;
    return b;
}

static void on_translate(uint64_t id, struct qemu_plugin_tb* tb) {
    size_t n = qemu_plugin_tb_n_insns(tb);
    struct block* b = new_block(qemu_plugin_tb_vaddr(tb), n);

    (void)id;
    b->next = blocks;
    blocks = b;
    qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, on_block, CB_R_REGS, COND_NE, armed, 0, b);
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
        uint8_t first = 0;

        qemu_plugin_insn_data(insn, &first, sizeof(first));
        if (first == 0xfa)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_cli, CB_NO_REGS,
                                                   new_block(b->address, n - i));
        else if (is_mark(insn, MARK_BEGIN_CODE))
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_begin, CB_R_REGS, NULL);
        else if (is_mark(insn, MARK_END_CODE))
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_end, CB_R_REGS, NULL);
    }
}

static void on_vcpu(uint64_t id, unsigned vcpu) {
    const GArray* all = qemu_plugin_get_registers();
    static const char* const names[] = {"eflags", "rdi", "rsi", "rdx"};
    struct qemu_plugin_register** const to[] = {&flags, &rdi, &rsi, &rdx};

    (void)id;
    (void)vcpu;
    for (unsigned i = 0; i < all->len; i++)
        for (size_t k = 0; k < 4; k++)
            if (!strcmp(all->data[i].name, names[k])) *to[k] = all->data[i].handle;
    value = g_byte_array_new();
    if (!flags || !rdi || !rsi || !rdx) {
        fprintf(stderr, "irqs_off: this QEMU does not show the registers\n");
        exit(1);
    }
}

int qemu_plugin_install(uint64_t id, const void* info, int argc, char** argv) {
    (void)info;
    out_path = argument(argc, argv, "out=");
    code_path = argument(argc, argv, "code=");
    if (!out_path) {
        fprintf(stderr, "irqs_off: give out=FILE\n");
        return 1;
    }
    armed.score = qemu_plugin_scoreboard_new(sizeof(uint64_t));
    qemu_plugin_register_vcpu_init_cb(id, on_vcpu);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
    return 0;
}
