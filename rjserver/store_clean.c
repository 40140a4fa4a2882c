// SPDX-License-Identifier: GPL-2.0-or-later
#include "store_clean.h"

#include <stdlib.h>
#include <string.h>

#include "commit.h"
#include "util/fileio.h"

#define STEP_LEAST (64u << 10) /* bytes copied along with a batch, at least */
#define STEP_MOST  (2u << 20)  /* and at most */

struct clean {
	uint32_t file; /* being cleaned; 0: none */
	struct rj_buf keys; /* struct okey: what lived in it */
	size_t at;          /* bytes of keys that are done */
	struct rj_buf bodies[256];
	size_t body_count; /* in the batch */
	bool stopped;
};

void clean_free(struct clean *cl)
{
	size_t i;

	if (!cl)
		return;
	for (i = 0; i < sizeof(cl->bodies) / sizeof(cl->bodies[0]); i++)
		rj_buf_free(&cl->bodies[i]);
	rj_buf_free(&cl->keys);
	free(cl);
}

void clean_stop(struct store *s)
{
	if (s->clean)
		s->clean->stopped = true;
}

/* The last file is being written, and cleaning needs room: so two files more
 * than twice what lives may stay. */
static bool worth_it(const struct store *s)
{
	uint64_t all = 0, live = 0;
	size_t i;

	if (s->file_count < 3 || s->lost)
		return false;
	for (i = 0; i + 1 < s->file_count; i++) {
		all += s->files[i].bytes;
		live += s->files[i].live_bytes;
	}
	return all > 2 * live + 2 * s->file_bytes;
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
	if (!cl || cl->stopped)
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

/* When it was first written; 0: its header is damaged. */
static uint64_t time_of(struct store *s, const struct idx_entry *e)
{
	struct datafile *f = store_file(s, pos_file(e->pos));
	uint8_t raw[REC_HEAD_BYTES];
	struct rec rec;

	if (!f || rj_pread_all(f->fd, raw, sizeof(raw), pos_offset(e->pos),
			  f->path, NULL) ||
		!rec_decode(raw, false, s->store_id, &rec))
		return 0;
	return rec.time_ns;
}

/* Copy one object, if it still lives in the file. False: the batch is full. */
static bool copy_one(struct store *s, struct clean *cl, const struct okey *okey,
	uint64_t *bytes)
{
	struct idx_entry *e = idx_find(s->index, okey);
	struct rj_buf *body = &cl->bodies[cl->body_count];
	struct rj_error err = {0};
	int rc;

	if (!e || pos_file(e->pos) != cl->file || e->state == IDX_DELETING ||
		e->state == IDX_PENDING)
		return true;
	body->len = 0;
	rc = e->state == IDX_DAMAGED ? -RJ_E_CORRUPT
				     : store_get(s, okey, body, &err);
	if (rc && rc != -RJ_E_CORRUPT)
		return false; /* no memory: later */
	if (rc)
		store_file(s, cl->file)->damaged = true;
	if (!commit_move(s->commit, okey, e, time_of(s, e),
		    rc ? NULL : body->data ? (void *)body->data : (void *)""))
		return false;
	*bytes += rec_total(e->length);
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
	if (s->failed)
		return false;
	commit_flush(s->commit);
	if (!add(s, STEP_MOST))
		return false;
	commit_flush(s->commit);
	return !s->failed;
}
