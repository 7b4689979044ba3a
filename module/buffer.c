// SPDX-License-Identifier: GPL-2.0-only
/*
 * A growing buffer, charged to the reader's memory cgroup and to who opened the
 * descriptor (budget.c). Called by snapshot.c, select.c and text.c in process
 * context.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "budget.h"
#include "buffer.h"

#define LT_BUFFER_MAX	(1UL << 30)	/* bytes; kvmalloc gives no more than 2 GiB */

static int grow(struct lt_buffer *b, size_t room)
{
	gfp_t gfp = b->budget->hurry ? GFP_NOWAIT | __GFP_ACCOUNT : GFP_KERNEL_ACCOUNT;
	char *data;
	int err;

	if (room > LT_BUFFER_MAX)
		return -ENOMEM;
	err = lt_budget_take(b->budget, room);
	if (err)
		return err;
	data = kvmalloc(room, gfp | __GFP_NOWARN);
	if (!data) {
		lt_budget_give(b->budget, room);
		return b->budget->hurry ? -EAGAIN : -ENOMEM;
	}
	if (b->len)
		memcpy(data, b->data, b->len);
	kvfree(b->data);
	lt_budget_give(b->budget, b->room);
	b->data = data;
	b->room = room;
	return 0;
}

int lt_buffer_reserve(struct lt_buffer *b, size_t more)
{
	size_t room = max_t(size_t, b->room, 4096);

	if (b->err || b->room - b->len >= more)
		return b->err;
	while (room - b->len < more)
		room *= 2;
	b->err = grow(b, room);
	b->wanted = room;
	return b->err;
}

/* Empties it, now that it may wait for the room that it could not have in a hurry. */
int lt_buffer_restart(struct lt_buffer *b)
{
	b->len = 0;
	if (b->err == -EAGAIN)
		b->err = grow(b, b->wanted);
	return b->err;
}

/* Where the new bytes are (data NULL: zeros); NULL when there is no memory. */
void *lt_buffer_add(struct lt_buffer *b, const void *data, size_t len)
{
	void *at;

	if (lt_buffer_reserve(b, len))
		return NULL;
	at = b->data + b->len;
	if (data)
		memcpy(at, data, len);
	else
		memset(at, 0, len);
	b->len += len;
	return at;
}

void lt_buffer_printf(struct lt_buffer *b, const char *format, ...)
{
	va_list args;
	int n, tries;

	for (tries = 0; tries < 2 && !b->err; tries++) {
		va_start(args, format);
		n = vsnprintf(b->data + b->len, b->room - b->len, format, args);
		va_end(args);
		if (n < b->room - b->len) {
			b->len += n;
			return;
		}
		lt_buffer_reserve(b, n + 1);
	}
}

/* Printable ASCII as it is, all else and the backslash as \ooo; how many bytes that makes. */
size_t lt_escape(char *to, const char *text, size_t len)
{
	char *at = to;
	size_t i;

	for (i = 0; i < len; i++) {
		unsigned char c = text[i];

		if (c >= 0x20 && c < 0x7f && c != '\\') {
			*at++ = c;
			continue;
		}
		*at++ = '\\';
		*at++ = '0' + (c >> 6);
		*at++ = '0' + (c >> 3 & 7);
		*at++ = '0' + (c & 7);
	}
	return at - to;
}

/* Ends at a NUL. */
void lt_buffer_escaped(struct lt_buffer *b, const char *text, size_t len)
{
	len = strnlen(text, len);
	if (!lt_buffer_reserve(b, LT_ESCAPE_BYTES * len))
		b->len += lt_escape(b->data + b->len, text, len);
}

void lt_buffer_free(struct lt_buffer *b)
{
	if (b->data)
		lt_budget_give(b->budget, b->room);
	kvfree(b->data);
	*b = (struct lt_buffer) { .budget = b->budget };
}
