// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checkpoints: the index as it is at one place of the log, so that a start
 * reads only what came later. Copied out on the event loop, written by a
 * thread. The format is in doc/rjserver-storage.md.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commit-priv.h"
#include "os/fileio.h"
#include "os/thread.h"
#include "rjserver/log.h"
#include "store-checkpoint.h"
#include "util/crc32c.h"
#include "util/environ.h"

/* On a full disk one that makes space is tried again so often, not at each turn. */
#define RETRY_NS 1000000000ll

struct checkpoint {
	pthread_t thread;
	bool threaded;
	struct rj_buf data;
	char path[PATH_MAX];
	uint64_t pos;
	int rc;
	struct rj_error err;
	atomic_bool done;
};

static void path_of(const struct store *s, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/store/checkpoint", s->dir);
}

static void *run(void *arg)
{
	struct checkpoint *c = arg;

	c->rc = rj_replace_file(c->path, 0600, c->data.data, c->data.len, &c->err);
	atomic_store(&c->done, true);
	return NULL;
}

static struct checkpoint *make(struct store *s)
{
	struct checkpoint *c;
	struct rj_error err;

	/* a last file without a record is removed at the next start */
	if (pos_file(s->last) != pos_file(s->end))
		return NULL;
	/* with received: it names nothing that the disk may not have */
	if (store_sync(s, &err)) {
		log_error("%s; no more writes until restart", err.msg);
		return NULL;
	}
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->pos = s->end;
	path_of(s, c->path);
	if (checkpoint_encode(s, &c->data)) {
		rj_buf_free(&c->data);
		free(c);
		return NULL;
	}
	/* the first: from now on it may be on the disk, also if writing it fails */
	if (!s->checkpoint_pos)
		s->checkpoint_pos = c->pos;
	return c;
}

static int finish(struct store *s)
{
	struct checkpoint *c = s->checkpoint;
	int rc;

	if (!c)
		return 0;
	s->checkpoint = NULL;
	if (c->threaded)
		pthread_join(c->thread, NULL);
	rc = c->rc;
	s->checkpoint_failed_ns = rc ? rj_monotonic_ns() : 0;
	if (rc) {
		log_warning("%s; the next start reads more of the log",
			c->err.msg);
	} else {
		s->checkpoint_pos = c->pos;
		s->checkpoint_bytes = c->data.len;
	}
	rj_buf_free(&c->data);
	free(c);
	return rc;
}

/* Only an older checkpoint keeps a file that is empty, and space is needed. */
static bool in_the_way(const struct store *s)
{
	return s->tight && s->file_count > 1 && !s->files[0].live &&
	       s->checkpoint_pos &&
	       pos_file(s->end) > pos_file(s->checkpoint_pos) &&
	       (!s->checkpoint_failed_ns ||
		       rj_monotonic_ns() > s->checkpoint_failed_ns + RETRY_NS);
}

/* While objects are lost, each start shall read everything and say so. The index has what
 * is in a batch, too, which is not written yet: the end of its flush asks again. */
static bool wanted(const struct store *s)
{
	uint64_t least = s->checkpoint_bytes * 4;

	if (least < s->file_bytes)
		least = s->file_bytes;
	return !s->scan_all && !s->lost && !s->failed && s->file_count &&
	       !s->commit->count &&
	       (s->appended >= least || in_the_way(s));
}

void store_checkpoint_tick(struct store *s)
{
	struct checkpoint *c = s->checkpoint;

	if (c) {
		if (!atomic_load(&c->done))
			return;
		if (!finish(s))
			store_drop_dead(s);
	}
	if (!wanted(s))
		return;
	c = make(s);
	if (!c)
		return;
	s->appended = 0;
	s->checkpoint = c;
	c->threaded = !rj_thread_start(&c->thread, run, c);
	if (!c->threaded)
		run(c);
}

void store_checkpoint_now(struct store *s)
{
	finish(s);
	if (!wanted(s))
		return;
	s->checkpoint = make(s);
	if (!s->checkpoint)
		return;
	run(s->checkpoint);
	if (!finish(s))
		store_drop_dead(s);
}

void store_checkpoint_end(struct store *s)
{
	finish(s);
}

int store_checkpoint_forget(struct store *s, struct rj_error *err)
{
	char path[PATH_MAX], dir[PATH_MAX];

	finish(s);
	path_of(s, path);
	if (unlink(path)) {
		if (errno != ENOENT)
			return rj_fail_errno(
				err, errno, "%s: cannot remove", path);
	} else {
		snprintf(dir, sizeof(dir), "%s/store", s->dir);
		if (rj_fsync_dir(dir, err))
			return -RJ_E_IO;
	}
	s->checkpoint_pos = 0;
	return 0;
}

int store_checkpoint_read(struct store *s, struct checkpoint_place *at,
	struct rj_error *err)
{
	struct rj_buf data = {0};
	char path[PATH_MAX];
	int rc;

	*at = (struct checkpoint_place){0};
	path_of(s, path);
	if (access(path, F_OK) && errno == ENOENT)
		return 0;
	rc = rj_read_file(path, SIZE_MAX / 2, &data, err);
	if (!rc)
		rc = checkpoint_decode(s, &data, at, path, err);
	if (rc == -RJ_E_CORRUPT) {
		/* the log says all that it says, only not as fast */
		log_warning("%s; the whole log is read instead", err->msg);
		*at = (struct checkpoint_place){0};
		rc = 0;
	} else if (!rc) {
		s->checkpoint_pos = at->pos;
		s->checkpoint_bytes = data.len;
	}
	rj_buf_free(&data);
	return rc;
}
