// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The next data file is made while the last one fills, by a thread of its
 * own, so that no commit waits for it. The thread shares nothing with the
 * store but this struct, and that only until it is joined.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "os/thread.h"
#include "rjserver/log.h"
#include "store.h"
#include "util/environ.h"

struct ahead {
	pthread_t thread;
	struct file_head head;
	char dir[PATH_MAX], path[PATH_MAX], spare[PATH_MAX];
	int fd, rc;
};

static void *make(void *arg)
{
	struct ahead *a = arg;

	/* A full disk is said when the file is needed, and tried again. */
	a->rc = store_file_make(
		a->dir, a->path, a->spare, &a->head, &a->fd, NULL);
	return NULL;
}

void store_ahead_begin(struct store *s)
{
	struct datafile *f = &s->files[s->file_count - 1];
	struct ahead *a;
	int rc;

	if (s->ahead || s->ahead_tried == f->number ||
		pos_offset(s->end) < f->bytes / 2)
		return;
	s->ahead_tried = f->number;
	a = calloc(1, sizeof(*a));
	if (!a)
		return;
	a->head.number = s->next_number;
	a->head.bytes = s->file_bytes;
	a->head.store_id = s->store_id;
	a->head.time_ns = (uint64_t)rj_realtime_ns();
	snprintf(a->dir, sizeof(a->dir), "%s/store", s->dir);
	store_file_path(s, a->head.number, a->path);
	store_spare_path(s, a->spare);
	rc = rj_thread_start(&a->thread, make, a);
	if (rc)
		free(a);
	else
		s->ahead = a;
}

bool store_ahead_take(
	struct store *s, uint64_t least, int *fd, struct file_head *head)
{
	struct ahead *a = s->ahead;
	bool ok;

	if (!a)
		return false;
	s->ahead = NULL;
	pthread_join(a->thread, NULL);
	ok = !a->rc && a->head.bytes >= least;
	if (ok) {
		*fd = a->fd;
		*head = a->head;
	} else if (!a->rc) {
		close(a->fd); /* nothing is in it */
		if (unlink(a->path))
			log_warning("%s: cannot remove", a->path);
	}
	free(a);
	return ok;
}

void store_ahead_end(struct store *s)
{
	struct file_head head;
	int fd;

	/* no file is as large as that: it is removed */
	store_ahead_take(s, UINT64_MAX, &fd, &head);
}
