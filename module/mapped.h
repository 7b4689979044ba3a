/* SPDX-License-Identifier: GPL-2.0-only */
/* In which file a user frame lies, and where in it. */
#ifndef LATTOP_MAPPED_H
#define LATTOP_MAPPED_H

#include <linux/limits.h>
#include <linux/types.h>

#include "buffer.h"
#include "lattop.h"
#include "security.h"

enum {
	LT_NAMES_BYTES	= 16384,	/* of one stack, as they are written, each with what separates it */
};

/* Whose stack it is: who can say what is mapped where its frames are. */
struct lt_whose {
	u32 pid;		/* in the first pid namespace; 0: nobody's */
	u32 exec_id;
	u64 start_ns;
};

struct lt_mapped_frame {
	u64 offset;
	u32 name;		/* in names; 0: none */
};

/* Those of one stack. */
struct lt_mapped {
	unsigned int unnamed;	/* in files whose names found no room */
	struct lt_mapped_frame frames[LT_USER_DEPTH_MAX];
	char path[PATH_MAX];
	char names[LT_NAMES_BYTES + LT_ESCAPE_BYTES * PATH_MAX];	/* escaped, each with its NUL, from 1 on; and one that is too many */
};

void lt_mapped_take(struct lt_mapped *m, const struct lt_viewer *v, const struct lt_whose *who,
		    const u64 *frames, unsigned int n, s64 *patience_ns);

#endif
