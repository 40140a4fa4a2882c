// SPDX-License-Identifier: GPL-2.0-or-later
/* Drop data files in which nothing lives. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rjserver/log.h"
#include "store.h"

/* Where it goes: aside, to be used again, or away. */
static void put_away(struct store *s, const struct datafile *f)
{
	char to[PATH_MAX + 32];
	int rc;

	store_spare_path(s, to);
	if (f->damaged)
		snprintf(to, sizeof(to), "%s/damaged/%08u.rjd", s->dir,
			f->number);
	if (f->damaged)
		rc = rename(f->path, to);
	else if (f->bytes == s->file_bytes && !s->ahead && access(to, F_OK))
		rc = rename(f->path, to);
	else
		rc = unlink(f->path);
	if (rc)
		log_warning("%s: cannot remove: %s", f->path, strerror(errno));
	else if (f->damaged)
		log_notice("%s: its whole objects were copied; it is now %s",
			f->path, to);
}

void store_drop_oldest(struct store *s)
{
	put_away(s, &s->files[0]);
	store_file_close(&s->files[0]);
	s->file_count--;
	memmove(s->files, s->files + 1, s->file_count * sizeof(*s->files));
}

/*
 * Files are dropped from the oldest on only. So a tombstone in a dropped
 * file can not be missed (what it deleted lay in files that are gone), and a
 * file missing between others is always damage. Those from the checkpoint's
 * place on are what a start reads, and those of a store that lost something
 * say so. With received the tombstones are to be made durable first: a checkpoint
 * may name what they delete.
 */
void store_drop_dead(struct store *s)
{
	struct rj_error err;

	while (s->file_count > 1 && !s->files[0].live && !s->lost && !s->failed &&
		(!s->checkpoint_pos ||
			s->files[0].number < pos_file(s->checkpoint_pos))) {
		if (store_sync(s, &err)) {
			log_error("%s; no more writes until restart", err.msg);
			return;
		}
		store_drop_oldest(s);
	}
}
