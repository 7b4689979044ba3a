// SPDX-License-Identifier: GPL-2.0-only
/*
 * In which files the user frames of a stack lie. Called by text.c in process
 * context.
 *
 * The program that is looked at chooses how long its paths are, and in how many
 * files its frames seem to lie. So there are up to LT_NAMES_BYTES of names a
 * stack, which is 127 frames of 128 bytes; the frames that are left are counted.
 * Names go to memory that is there already: with the program's mmap_lock held
 * nothing is allocated, which the reader's memory cgroup may make wait.
 */
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "buffer.h"
#include "compat/file.h"
#include "compat/mm.h"
#include "mapped.h"
#include "try_lock.h"

/* The file's name, escaped, goes to at; its bytes, 0 where it is too long for the kernel, too. */
static size_t name_of(const struct file *file, struct lt_mapped *m, char *at)
{
	const char *path = d_path(lt_compat_user_path(file), m->path, sizeof(m->path));
	size_t bytes = IS_ERR(path) ? 0 : lt_escape(at, path, strlen(path));

	at[bytes] = '\0';
	return bytes;
}

/* mmap_lock held. */
static void name_all(struct lt_mapped *m, struct mm_struct *mm, const u64 *frames, unsigned int n)
{
	size_t left = LT_NAMES_BYTES, bytes = 0;
	struct vm_area_struct *vma, *last = NULL;
	u32 name = 0, end = 1;
	unsigned int i;

	for (i = 0; i < n; i++) {
		vma = find_vma(mm, frames[i]);
		if (!vma || frames[i] < vma->vm_start || !vma->vm_file)
			continue;
		if (vma != last && left) {
			last = vma;
			name = end;
			bytes = name_of(vma->vm_file, m, m->names + name);
			end += bytes + 1;
		}
		if (!bytes || bytes >= left) {
			left = 0;	/* nor are those behind it looked up */
			m->unnamed++;
			continue;
		}
		left -= bytes + 1;
		m->frames[i].name = name;
		m->frames[i].offset = frames[i] - vma->vm_start + ((u64)vma->vm_pgoff << PAGE_SHIFT);
	}
}

/* No names where the program's memory map is not to be had, in the time that is left (try_lock.h). */
void lt_mapped_take(struct lt_mapped *m, const struct lt_viewer *v, const struct lt_whose *who,
		    const u64 *frames, unsigned int n, s64 *patience_ns)
{
	struct mm_struct *mm;

	m->unnamed = 0;
	memset(m->frames, 0, n * sizeof(*m->frames));
	if (!n || !who->pid)
		return;
	mm = lt_viewer_mm(v, who->pid, who->start_ns, who->exec_id, patience_ns);
	if (!mm)
		return;
	if (lt_lock_mm(mm, patience_ns)) {
		name_all(m, mm, frames, n);
		mmap_read_unlock(mm);
	}
	lt_compat_mmput(mm);
}
