/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMU's plugin interface, version 4, as far as the plugins of this folder use
 * it (qemu/qemu-plugin.h): its header is not part of the packages that
 * tests/vm/fetch gets. And which instructions are marks.
 */
#ifndef TESTS_BENCH_QEMU_PLUGIN_H
#define TESTS_BENCH_QEMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "marks.h"

enum { CB_NO_REGS, CB_R_REGS };
enum { COND_NE = 3 };
enum { INLINE_ADD = 0 };

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_register;
struct qemu_plugin_scoreboard;

typedef struct {
    struct qemu_plugin_scoreboard* score;
    size_t offset;
} qemu_plugin_u64;

typedef struct {
    struct qemu_plugin_register* handle;
    const char* name;
    const char* feature;
} reg_descriptor;

typedef struct {
    reg_descriptor* data;
    unsigned len;
} GArray; /* GLib's, of descriptors */

typedef struct {
    uint8_t* data;
    unsigned len;
} GByteArray;

typedef void vcpu_cb(unsigned vcpu, void* data);

GByteArray* g_byte_array_new(void);
GByteArray* g_byte_array_set_size(GByteArray* array, unsigned length);
GArray* qemu_plugin_get_registers(void);
int qemu_plugin_read_register(struct qemu_plugin_register* handle, GByteArray* to);
struct qemu_plugin_scoreboard* qemu_plugin_scoreboard_new(size_t element_size);
void qemu_plugin_u64_set(qemu_plugin_u64 entry, unsigned vcpu, uint64_t value);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb* tb);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* tb, size_t index);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn* insn, void* to, size_t length);
void qemu_plugin_register_vcpu_init_cb(uint64_t id, void (*cb)(uint64_t id, unsigned vcpu));
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
                                           void (*cb)(uint64_t id, struct qemu_plugin_tb* tb));
void qemu_plugin_register_vcpu_tb_exec_cond_cb(struct qemu_plugin_tb* tb, vcpu_cb* cb, int flags,
                                               int cond, qemu_plugin_u64 entry, uint64_t operand,
                                               void* data);
void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_plugin_tb* tb, int op,
                                                       qemu_plugin_u64 entry, uint64_t operand);
uint64_t qemu_plugin_u64_get(qemu_plugin_u64 entry, unsigned vcpu);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn* insn, vcpu_cb* cb, int flags,
                                            void* data);

__attribute__((visibility("default"))) int qemu_plugin_version = 4;
__attribute__((visibility("default"))) int qemu_plugin_install(uint64_t id, const void* info,
                                                               int argc, char** argv);

/* The plugin's argument that begins with name, which ends in "=": what is behind it. */
static inline const char* argument(int argc, char** argv, const char* name) {
    for (int i = 0; i < argc; i++)
        if (!strncmp(argv[i], name, strlen(name))) return strdup(argv[i] + strlen(name));
    return NULL;
}

static inline bool is_mark(const struct qemu_plugin_insn* insn, const char* code) {
    uint8_t bytes[MARK_BYTES] = {0};

    return qemu_plugin_insn_data(insn, bytes, sizeof(bytes)) == MARK_BYTES &&
           !memcmp(bytes, code, MARK_BYTES);
}

#endif
