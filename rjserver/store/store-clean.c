// SPDX-License-Identifier: GPL-2.0-or-later
/* Copy the live objects of the oldest file to the end of the log. */
#include "store-clean.h"

#include <stdlib.h>
#include <string.h>

#include "commit.h"
#include "store-read.h"
#include "util/environ.h"

#define STEP_LEAST (64u << 10) /* bytes copied along with a batch, at least */
#define STEP_MOST  (2u << 20)  /* and at most */
#define UNREAD_NS  5000000000ll /* after the disk could not read */

struct clean {
	uint32_t file; /* being cleaned; 0: none */
	struct rj_buf keys; /* struct okey: what lived in it */
	size_t at;          /* bytes of keys that are done */
	struct rj_buf bodies[256];
	size_t body_count; /* in the batch */
	/* the object that a thread reads, or has read */
	struct read_wait wait;
	uint64_t read_pos; /* where it was; nothing else is ever there */
	int64_t not_before; /* monotonic; ns */
	bool wanted, stopped;
};

static void free_bodies(struct clean *cl)
{
	size_t i;

	for (i = 0; i < sizeof(cl->bodies) / sizeof(cl->bodies[0]); i++)
		rj_buf_free(&cl->bodies[i]);
}

void clean_free(struct clean *cl)
{
	if (!cl)
		return;
	free_bodies(cl);
	rj_buf_free(&cl->keys);
	read_wait_end(&cl->wait);
	free(cl);
}

void clean_stop(struct store *s)
{
	if (s->clean)
		s->clean->stopped = true;
}

/* The last file is being written, and cleaning needs space: so two files more
 * than twice what lives may stay; but not where writes wait for space. There the oldest
 * file may be full of what lives, and those after it empty. */
static bool worth_it(const struct store *s)
{
	uint64_t all = 0, live = 0;
	size_t i;

	if (s->lost || s->file_count < 2)
		return false;
	if (s->tight && s->files[0].live_bytes < s->files[0].bytes / 2)
		return true;
	if (s->file_count < 3)
		return false;
	for (i = 0; i + 1 < s->file_count; i++) {
		all += s->files[i].bytes;
		live += s->files[i].live_bytes;
	}
	return all > 2 * live + (s->tight ? 0 : 2 * s->file_bytes);
}

static void collect(
	void *arg, const struct okey *okey, const struct idx_entry *e)
{
	struct clean *cl = arg;

	/* what finds no memory now is found at the next turn */
	if (pos_file(e->pos) == cl->file && e->state != IDX_PENDING &&
		rj_buf_append(&cl->keys, okey, sizeof(*okey)))
		return;
}

/* A file to be cleaned, and what lives in it. */
static struct clean *begin(struct store *s)
{
	struct clean *cl = s->clean;

	if (!cl)
		cl = s->clean = calloc(1, sizeof(*cl));
	if (!cl || cl->stopped || rj_monotonic_ns() < cl->not_before)
		return NULL;
	if (cl->at < cl->keys.len && store_file(s, cl->file))
		return cl;
	cl->file = 0;
	cl->keys.len = cl->at = 0;
	if (!worth_it(s) || !s->files[0].live)
		return NULL;
	cl->file = s->files[0].number;
	idx_each(s->index, collect, cl);
	return cl->keys.len ? cl : NULL;
}

/* The bytes of OKEY, whose entry is E. RJ_E_BUSY: they are waited for, without
 * delaying a request. */
static int bytes_of(struct store *s, struct clean *cl, const struct okey *okey,
	const struct idx_entry *e, struct rj_buf *body)
{
	struct rj_error err = {0};
	int rc = cl->wait.rc;

	body->len = 0;
	if (cl->wait.job)
		return -RJ_E_BUSY;
	if (!cl->wanted || cl->read_pos != e->pos) {
		cl->read_pos = e->pos;
		rc = read_wait_begin(s, okey, body, &cl->wait, &err);
		cl->wanted = rc == -RJ_E_BUSY;
		return rc;
	}
	cl->wanted = false;
	rj_buf_free(body);
	*body = cl->wait.body;
	cl->wait.body = (struct rj_buf){0};
	return rc;
}

/* Copy one object, if it still lives in the file. False: the batch is full, or it cannot be
 * copied yet. Only one that was read and is wrong is given up, for good; what the disk does
 * not read now stays where it is. */
static bool copy_one(struct store *s, struct clean *cl, const struct okey *okey,
	uint64_t *bytes)
{
	struct idx_entry *e = idx_find(s->index, okey);
	struct rj_buf *body = &cl->bodies[cl->body_count];
	uint64_t time_ns = 0;
	int rc;

	if (!e || pos_file(e->pos) != cl->file || e->state == IDX_DELETING ||
		e->state == IDX_PENDING)
		return true;
	rc = e->state == IDX_DAMAGED || e->bare
		     ? -RJ_E_CORRUPT
		     : bytes_of(s, cl, okey, e, body);
	/* time 0: its header is damaged */
	if ((rc && rc != -RJ_E_CORRUPT) || store_time(s, e, &time_ns) == -RJ_E_IO) {
		if (rc != -RJ_E_BUSY)
			cl->not_before = rj_monotonic_ns() + UNREAD_NS;
		return false;
	}
	if (rc && !e->bare) /* else its bytes were set aside with another file */
		store_file(s, cl->file)->damaged = true;
	if (!commit_move(s->commit, okey, e, time_ns,
		    rc ? NULL : body->data ? (void *)body->data : (void *)""))
		return false;
	*bytes += idx_record(e);
	cl->body_count++;
	return true;
}

static bool add(struct store *s, uint64_t most)
{
	struct clean *cl = begin(s);
	uint64_t bytes = 0;
	struct okey okey;

	if (!cl)
		return false;
	free_bodies(cl); /* of the batch before: each could become as large as any object */
	for (cl->body_count = 0; cl->at < cl->keys.len && bytes < most &&
		cl->body_count < sizeof(cl->bodies) / sizeof(cl->bodies[0]);
		cl->at += sizeof(okey)) {
		memcpy(&okey, cl->keys.data + cl->at, sizeof(okey));
		if (!copy_one(s, cl, &okey, &bytes))
			break;
	}
	return cl->body_count > 0;
}

void clean_add(struct store *s, uint64_t bytes)
{
	bytes *= 2;
	if (bytes < STEP_LEAST)
		bytes = STEP_LEAST;
	add(s, bytes < STEP_MOST ? bytes : STEP_MOST);
}

bool clean_step(struct store *s)
{
	uint64_t end;

	if (s->failed)
		return false;
	commit_flush(s->commit);
	end = s->end;
	if (!add(s, STEP_MOST))
		return s->clean && s->clean->wait.job;
	commit_flush(s->commit);
	return !s->failed && s->end != end; /* there may be no space for it */
}
