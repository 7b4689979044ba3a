/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plugin of QEMU's that counts the instructions that a guest of one vCPU runs
 * between two marks in one of its programs (tests/bench/marks.h), whoever runs
 * them; a CPU that waits runs none. bench builds it and hands it to tests/vm/run
 * --plugin; test-progs/run-marked.c sets the marks. Where irqs_off.c looks at
 * each block, this adds up in translated code: real work takes too long else.
 * At the second mark a line is appended to the file that out= names:
 *
 *	window ID instructions=N
 */
#include <inttypes.h>
#include <stdio.h>

#include "qemu_plugin.h"

static qemu_plugin_u64 counted;
static const char* out_path;
static uint64_t at_begin;
static unsigned windows;

static void on_begin(unsigned vcpu, void* data) {
    (void)data;
    at_begin = qemu_plugin_u64_get(counted, vcpu);
}

static void on_end(unsigned vcpu, void* data) {
    FILE* f = fopen(out_path, "a");

    (void)data;
    if (!f) return;
    fprintf(f, "window %u instructions=%" PRIu64 "\n", windows++,
            qemu_plugin_u64_get(counted, vcpu) - at_begin);
    fclose(f);
}

static void on_translate(uint64_t id, struct qemu_plugin_tb* tb) {
    size_t n = qemu_plugin_tb_n_insns(tb);

    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, INLINE_ADD, counted, n);
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);

        if (is_mark(insn, MARK_BEGIN_CODE))
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_begin, CB_NO_REGS, NULL);
        else if (is_mark(insn, MARK_END_CODE))
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_end, CB_NO_REGS, NULL);
    }
}

int qemu_plugin_install(uint64_t id, const void* info, int argc, char** argv) {
    (void)info;
    out_path = argument(argc, argv, "out=");
    if (!out_path) {
        fprintf(stderr, "instructions: no out=FILE\n");
        return 1;
    }
    counted.score = qemu_plugin_scoreboard_new(sizeof(uint64_t));
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
    return 0;
}
