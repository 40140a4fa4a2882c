// SPDX-License-Identifier: LGPL-2.1-or-later
/* List the runs of blocks of an inode. */
#include <stdlib.h>

#include "ext4/change/change-priv.h"

static int grow_run(struct run_list *l, uint64_t nr)
{
	struct run *last = l->count ? &l->runs[l->count - 1] : NULL, *more;

	if (last && last->first + last->count == nr) {
		last->count++;
		return 0;
	}
	if (l->count == l->capacity) {
		size_t capacity = l->capacity ? l->capacity * 2 : 16;

		more = realloc(l->runs, capacity * sizeof(*more));
		if (!more)
			return -1;
		l->runs = more;
		l->capacity = capacity;
	}
	l->runs[l->count++] = (struct run){.first = nr, .count = 1};
	return 0;
}

struct collect {
	struct run_list *data, *all;
	bool failed;
};

static int collect_block(ext2_filsys fs, blk64_t *nr, e2_blkcnt_t at,
	blk64_t ref, int ref_offset, void *arg)
{
	struct collect *c = arg;

	if ((at >= 0 && c->data && grow_run(c->data, *nr)) ||
		(c->all && grow_run(c->all, *nr))) {
		c->failed = true;
		return BLOCK_ABORT;
	}
	return 0;
}

errcode_t rj_change_collect(ext2_filsys fs, ext2_ino_t ino,
	struct run_list *data, struct run_list *all)
{
	struct collect c = {.data = data, .all = all};
	errcode_t e;

	e = ext2fs_block_iterate3(
		fs, ino, BLOCK_FLAG_READ_ONLY, NULL, collect_block, &c);
	return e ? e : c.failed ? EXT2_ET_NO_MEMORY : 0;
}
