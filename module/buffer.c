// SPDX-License-Identifier: GPL-2.0-only
/*
 * A growing buffer, charged to the reader's memory cgroup. Called by
 * snapshot.c, select.c and text.c in process context.
 */
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "buffer.h"

#define LT_BUFFER_MAX	(1UL << 30)	/* bytes; kvmalloc gives no more than 2 GiB */

int lt_buffer_reserve(struct lt_buffer *b, size_t more)
{
	size_t room = max_t(size_t, b->room, 4096);
	char *data;

	if (b->err || b->room - b->len >= more)
		return b->err;
	while (room - b->len < more)
		room *= 2;
	data = room <= LT_BUFFER_MAX ? kvmalloc(room, GFP_KERNEL_ACCOUNT | __GFP_NOWARN) : NULL;
	if (!data) {
		b->err = -ENOMEM;
		return b->err;
	}
	if (b->len)
		memcpy(data, b->data, b->len);
	kvfree(b->data);
	b->data = data;
	b->room = room;
	return 0;
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

/* Printable ASCII as it is, all else and the backslash as \ooo. Ends at a NUL. */
void lt_buffer_escaped(struct lt_buffer *b, const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len && text[i]; i++) {
		unsigned char c = text[i];

		if (c >= 0x20 && c < 0x7f && c != '\\')
			lt_buffer_add(b, &c, 1);
		else
			lt_buffer_printf(b, "\\%03o", c);
	}
}

void lt_buffer_free(struct lt_buffer *b)
{
	kvfree(b->data);
	memset(b, 0, sizeof(*b));
}
