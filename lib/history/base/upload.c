// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/base/upload.h"

#include <stdlib.h>
#include <string.h>

#include "log/listing.h"
#include "store/store.h"
#include "util/environ.h"

#define CHUNK	   RJ_BASE_CHUNK_BYTES
#define MOST_BLOCK (CHUNK / 1024)

struct rj_upload {
	struct rj_stored_base base; /* number 0: none */
	bool unfinished;	    /* it was found, */
	bool other_size;	    /* and the volume has grown since */
	struct rj_base_manifest m;
	/* the chunk that is read */
	const struct rj_copy *whole;
	uint64_t chunk;
	uint8_t *buf;		   /* its bytes */
	bool mark[MOST_BLOCK + 1]; /* its blocks that are not zero; the last one never */
	struct rj_seg_run runs[MOST_BLOCK / 2 + 1];
};

static int mark_chunk(struct rj_upload *u, uint64_t i, struct rj_error *err)
{
	size_t need = (size_t)(i / 8) + 1, had = u->m.chunks.len;

	if (had < need) {
		if (rj_buf_reserve(&u->m.chunks, need))
			return rj_fail(err, RJ_E_NOMEM, "out of memory");
		memset(u->m.chunks.data + had, 0, need - had);
		u->m.chunks.len = need;
	}
	u->m.chunks.data[i / 8] |= (uint8_t)(1u << i % 8);
	return 0;
}

struct chunks {
	struct rj_upload *u;
	struct rj_error *err;
};

static int take_chunk(void *arg, uint64_t number, uint64_t bytes)
{
	struct chunks *c = arg;
	uint64_t place = number % RJ_BASE_PLACES;

	(void)bytes;
	if (number / RJ_BASE_PLACES != c->u->base.number || !place || place == RJ_BASE_PLACES - 1)
		return 0;
	return mark_chunk(c->u, place - 1, c->err);
}

/* Read what the unfinished base S says, and which of its chunks are there. */
static int load(struct rj_upload *u, const struct rj_stored_seen *s, struct rj_error *err)
{
	struct rj_key dir = rj_log_key(&u->base.id, RJ_KEY_BASE, 0);
	struct rj_base_manifest m;
	struct chunks c = {u, err};
	int rc;

	u->base.number = s->number;
	rc = rj_stored_get_manifest(&u->base, true, &m, err);
	if (rc)
		return rc;
	u->m.record = m.record;
	u->m.hold = m.hold;
	u->m.time = m.time;
	u->unfinished = true;
	u->other_size = m.block_size != u->m.block_size || m.blocks != u->m.blocks;
	rj_base_manifest_free(&m);
	return rj_store_list(u->base.store, &dir, 0, take_chunk, &c, err);
}

static int find_unfinished(struct rj_upload *u, struct rj_error *err)
{
	struct rj_buf all = {0};
	struct rj_stored_seen s, last = {0};
	size_t i;
	int rc = rj_stored_list(u->base.store, &u->base.id, &all, err);

	for (i = 0; !rc && i < all.len; i += sizeof(s)) {
		memcpy(&s, all.data + i, sizeof(s));
		if (s.known && !s.finished && s.time >= last.time)
			last = s;
	}
	rj_buf_free(&all);
	return rc || !last.number ? rc : load(u, &last, err);
}

int rj_upload_open(const char *url, const struct rj_log_id *id, uint32_t block_size,
	uint64_t blocks, struct rj_upload **out, struct rj_error *err)
{
	struct rj_upload *u = calloc(1, sizeof(*u));
	int rc;

	if (u)
		u->buf = malloc(CHUNK);
	if (!u || !u->buf) {
		rj_upload_free(u);
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	u->base.id = *id;
	u->m.block_size = block_size;
	u->m.blocks = blocks;
	rc = rj_store_open(url, NULL, &u->base.store, err);
	if (!rc)
		rc = find_unfinished(u, err);
	if (rc)
		rj_upload_free(u);
	else
		*out = u;
	return rc;
}

const struct rj_base_manifest *rj_upload_unfinished(const struct rj_upload *u, bool *other_size)
{
	*other_size = u->other_size;
	return u->unfinished ? &u->m : NULL;
}

void rj_upload_resume(struct rj_upload *u)
{
	u->unfinished = false;
}

int rj_upload_begin(struct rj_upload *u, const struct rj_base_record *record, uint64_t hold,
	struct rj_error *err)
{
	uint64_t number;
	int rc;

	if (rj_random_bytes(&number, sizeof(number)))
		return rj_fail(err, RJ_E_IO, "cannot get random bytes");
	u->base.number = number % (RJ_BASE_NUMBERS - 1) + 1;
	u->m.record = *record;
	u->m.hold = hold;
	u->m.time = (uint64_t)(rj_realtime_ns() / 1000000000);
	u->m.chunks.len = 0;
	rc = rj_stored_put_manifest(&u->base, true, &u->m, err);
	if (rc)
		u->base.number = 0;
	return rc;
}

static int gather(void *arg, const uint8_t *data, size_t len, uint64_t off, struct rj_error *err)
{
	struct rj_upload *u = arg;
	uint64_t at = off - u->chunk * CHUNK, b;

	(void)err;
	memcpy(u->buf + at, data, len);
	for (b = at / u->m.block_size; b <= (at + len - 1) / u->m.block_size; b++)
		u->mark[b] = true;
	return 0;
}

static int put_chunk(struct rj_upload *u, struct rj_error *err)
{
	uint32_t count = 0, b, end;
	int rc;

	for (b = 0; b < MOST_BLOCK; b = end) {
		for (end = b + 1; u->mark[b] && u->mark[end];)
			end++;
		if (u->mark[b])
			u->runs[count++] = (struct rj_seg_run){b, end - b};
	}
	if (!count)
		return 0;
	rc = rj_stored_put_chunk(
		&u->base, u->chunk, u->buf, u->m.block_size, u->runs, count, err);
	return rc ? rc : mark_chunk(u, u->chunk, err);
}

static int progress(void *arg, uint64_t done, uint64_t total)
{
	const struct rj_copy *c = ((struct rj_upload *)arg)->whole;

	(void)total; /* of the chunk */
	return c->progress ? c->progress(c->arg, done, c->bytes) : 0;
}

int rj_upload_copy(struct rj_upload *u, const struct rj_copy *c, struct rj_copied *done,
	struct rj_error *err)
{
	uint64_t count = rj_base_chunks(c->bytes);
	struct rj_copy part = *c;
	int rc = 0;

	u->whole = c;
	part.put = gather;
	part.progress = progress;
	part.arg = u;
	for (u->chunk = 0; !rc && u->chunk < count; u->chunk++) {
		if (rj_base_has_chunk(&u->m, u->chunk))
			continue;
		part.begin = u->chunk ? u->chunk * CHUNK : c->begin;
		part.bytes = (u->chunk + 1) * CHUNK < c->bytes ? (u->chunk + 1) * CHUNK : c->bytes;
		memset(u->buf, 0, CHUNK);
		memset(u->mark, 0, sizeof(u->mark));
		rc = rj_copy_sparse(&part, done, err);
		if (!rc)
			rc = put_chunk(u, err);
	}
	return rc;
}

struct there {
	const struct rj_upload *u;
	uint64_t chunks; /* of those that were put */
	bool begun;
};

static int count_there(void *arg, uint64_t number, uint64_t bytes)
{
	struct there *t = arg;
	uint64_t place = number % RJ_BASE_PLACES;

	(void)bytes;
	if (number / RJ_BASE_PLACES != t->u->base.number || !place)
		return 0;
	if (place == RJ_BASE_PLACES - 1)
		t->begun = true;
	else
		t->chunks += rj_base_has_chunk(&t->u->m, place - 1);
	return 0;
}

/* Is all still there that was put? To another process this was an unfinished base, which it may
 * have removed. */
static int check_there(struct rj_upload *u, struct rj_error *err)
{
	struct rj_key dir = rj_log_key(&u->base.id, RJ_KEY_BASE, 0);
	struct there t = {.u = u};
	uint64_t put = 0, i;
	int rc = rj_store_list(u->base.store, &dir, 0, count_there, &t, err);

	for (i = 0; i < 8 * u->m.chunks.len; i++)
		put += rj_base_has_chunk(&u->m, i);
	if (!rc && (!t.begun || t.chunks < put))
		rc = rj_fail(err, RJ_E_REFUSED,
			"%s: another rjbackup removed base %llu while it was made: one at a time",
			u->base.store->url, (unsigned long long)u->base.number);
	return rc;
}

int rj_upload_finish(struct rj_upload *u, const uint8_t head[RJ_BASE_HEAD],
	const struct rj_base_record *record, struct rj_error *err)
{
	int rc;

	memcpy(u->m.head, head, RJ_BASE_HEAD);
	u->m.record = *record;
	u->m.time = (uint64_t)(rj_realtime_ns() / 1000000000);
	rc = check_there(u, err);
	return rc ? rc : rj_stored_put_manifest(&u->base, false, &u->m, err);
}

int rj_upload_drop(struct rj_upload *u, struct rj_error *err)
{
	int rc = u->base.number ? rj_stored_remove(&u->base, false, err) : 0;

	u->unfinished = false;
	u->base.number = 0;
	u->m.chunks.len = 0;
	return rc == -RJ_E_NOTFOUND ? 0 : rc;
}

uint64_t rj_upload_number(const struct rj_upload *u)
{
	return u->base.number;
}

void rj_upload_free(struct rj_upload *u)
{
	if (!u)
		return;
	rj_store_close(u->base.store);
	rj_base_manifest_free(&u->m);
	free(u->buf);
	free(u);
}
