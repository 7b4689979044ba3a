/* SPDX-License-Identifier: GPL-2.0-only */
/* A growing buffer for what a reader is given. Process context. */
#ifndef LATTOP_BUFFER_H
#define LATTOP_BUFFER_H

#include <linux/compiler.h>
#include <linux/types.h>

struct lt_budget;

enum { LT_ESCAPE_BYTES = 4 };	/* that a byte takes at most */

/*
 * After an allocation failed, err is set and everything added is dropped. -EAGAIN:
 * it may not wait now, and wants room bytes when it may.
 */
struct lt_buffer {
	struct lt_budget *budget;	/* on whose account, from the beginning */
	char *data;
	size_t len, room;		/* bytes */
	size_t wanted;
	int err;
};

void *lt_buffer_add(struct lt_buffer *b, const void *data, size_t len);
int lt_buffer_reserve(struct lt_buffer *b, size_t more);
int lt_buffer_restart(struct lt_buffer *b);
__printf(2, 3) void lt_buffer_printf(struct lt_buffer *b, const char *format, ...);
size_t lt_escape(char *to, const char *text, size_t len);
void lt_buffer_escaped(struct lt_buffer *b, const char *text, size_t len);
void lt_buffer_free(struct lt_buffer *b);

#endif
