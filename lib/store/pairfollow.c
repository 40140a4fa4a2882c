// SPDX-License-Identifier: LGPL-2.1-or-later
/* Catch up who was away. */
#include <string.h>

#include "store/pair.h"
#include "util/log.h"

/* So many segments may be left to copy while the caller waits. */
#define LAST_STEP 8

static int give_up(struct pair *p, int y, const char *why)
{
	p->shared->diverged = true;
	rj_log(RJ_LOG_WARNING,
		"%s: %s; it is left alone, and the journal is kept in one "
		"store only: rjtune -J makes a new pair",
		p->url[y], why);
	return -RJ_E_FOREIGN;
}

/* Handles: of Y its own, of X a dup. */
static int open_both(struct pair *p, int x, struct rj_error *err)
{
	int rc = pair_open_side(p, !x, err);

	if (rc)
		return rc;
	if (p->from && p->from_side == x)
		return 0;
	rj_store_close(p->from);
	p->from = NULL;
	pthread_mutex_lock(&p->lock);
	rc = rj_store_dup(p->side[x], &p->from, err);
	pthread_mutex_unlock(&p->lock);
	p->from_side = x;
	return rc;
}

/* In mode B nothing can be put before the epoch is ours there, too. */
static int claim_there(struct pair *p, int y, uint64_t epoch,
	struct rj_error *err)
{
	struct rj_key key = {.kind = RJ_KEY_EPOCH, .number = epoch};
	int rc;

	memcpy(key.journal_uuid, p->journal, RJ_UUID_BYTES);
	rc = pair_copy(p, p->from, y, &key, err);
	if (rc == -RJ_E_EXISTS && !p->side[y]->caps.put_new)
		return give_up(p, y, "another writer claimed our epoch there");
	return rc == -RJ_E_EXISTS || rc == -RJ_E_NOTFOUND ? 0 : rc;
}

/* Y has what X has up to HAVE, and lacks what XV shows beyond, and what X was
 * given since: all that came after the first LONE_BYTES. */
static void note_behind(struct pair *p, int x, uint64_t have,
	const struct pair_view *xv, uint64_t end, uint64_t lone_bytes)
{
	const struct pair_object *o = (const void *)xv->objects.data;
	size_t count = xv->objects.len / sizeof(*o), i;
	uint64_t bytes = 0;

	for (i = 0; i < count; i++)
		if (o[i].number > have && o[i].number <= end)
			bytes += o[i].bytes;
	pthread_mutex_lock(&p->lock);
	p->shared->behind_segments = p->end[x] > have ? p->end[x] - have : 0;
	p->shared->behind_bytes = bytes + p->lone_bytes - lone_bytes;
	p->shared->known = true;
	pthread_mutex_unlock(&p->lock);
}

static void note_copied(struct pair *p, uint64_t segments, uint64_t bytes)
{
	p->shared->behind_segments -= segments;
	p->shared->behind_bytes -= bytes;
}

/* What X shows beyond Y's end, in order. */
static int copy_listed(struct pair *p, int y, const struct pair_view *xv,
	struct pair_end *end, struct rj_error *err)
{
	const struct pair_object *o = (const void *)xv->objects.data;
	size_t count = xv->objects.len / sizeof(*o), i;
	uint64_t noted = end->number;
	int rc = 0;

	for (i = 0; !rc && !p->stop && i < count; i++) {
		if (o[i].number <= noted)
			continue;
		rc = pair_copy_next(p, p->from, y, o[i].number, end, err);
		if (rc == -RJ_E_NOTFOUND && o[i].number < xv->last)
			rc = 0; /* trimmed meanwhile */
		else if (rc == -RJ_E_EXISTS)
			rc = give_up(p, y, "it holds another log by now");
		if (!rc) {
			note_copied(p, o[i].number - noted, o[i].bytes);
			noted = o[i].number;
		}
	}
	return rc;
}

/* The rest while the caller waits: then both hold the same. */
static int last_step(struct pair *p, int x, uint64_t have, struct rj_error *err)
{
	struct rj_key key = {.kind = RJ_KEY_LOG};
	int rc = 0;

	memcpy(key.journal_uuid, p->journal, RJ_UUID_BYTES);
	pthread_mutex_lock(&p->lock);
	if (p->stop || p->mark_due || !p->settled || p->end[x] < have ||
		p->end[x] - have > LAST_STEP)
		rc = -RJ_E_BUSY;
	while (!rc && have < p->end[x]) {
		key.number = have + 1;
		rc = pair_copy(p, p->from, !x, &key, err);
		have += !rc;
	}
	if (!rc) {
		p->end[!x] = have;
		p->shared->behind_segments = p->shared->behind_bytes = 0;
		p->rejoining = true;
		if (p->leave_out & RJ_PAIR_ORDER) {
			p->rejoining = false;
			p->shared->need = RJ_PAIR_BOTH;
		}
	}
	pthread_mutex_unlock(&p->lock);
	return rc;
}

static int catch_up(struct pair *p, struct pair_view *yv, struct pair_view *xv,
	struct rj_error *err)
{
	int x = p->shared->need, y = !x, rc;
	struct pair_end have;
	uint64_t end, lone_bytes;
	bool prefix;

	rc = open_both(p, x, err);
	if (rc)
		return rc;
	pthread_mutex_lock(&p->lock);
	end = p->end[x];
	lone_bytes = p->lone_bytes;
	pthread_mutex_unlock(&p->lock);
	pair_look_at(p->side[y], p->journal, yv);
	if (!yv->away)
		pair_look_at(p->from, p->journal, xv);
	if (yv->away || xv->away) {
		*err = yv->away ? yv->why : xv->why;
		return -(int)err->code;
	}
	rc = pair_is_prefix(p->side[y], yv, p->from, xv, p->journal, &prefix,
		err);
	if (rc)
		return rc;
	if (!prefix || yv->last > xv->last)
		return give_up(p, y, "it holds another log by now");
	have = (struct pair_end){yv->last, yv->bridge};
	note_behind(p, x, have.number, xv, end, lone_bytes);
	rc = claim_there(p, y, xv->epoch, err);
	if (!rc)
		rc = copy_listed(p, y, xv, &have, err);
	return rc ? rc : last_step(p, x, have.number, err);
}

void pair_follow(struct pair *p)
{
	struct pair_view yv = {0}, xv = {0};
	struct rj_error err = {0};
	int rc = catch_up(p, &yv, &xv, &err);

	if (rc && rc != -RJ_E_BUSY && err.msg[0])
		rj_log(RJ_LOG_DEBUG, "cannot catch up %s yet: %s",
			p->url[!p->shared->need], err.msg);
	pair_view_free(&yv);
	pair_view_free(&xv);
}

bool pair_behind(const struct pair *p)
{
	return p->looked && p->settled && p->shared->need != RJ_PAIR_BOTH &&
	       !p->shared->diverged && !p->rejoining;
}

void rj_pair_step(struct rj_store *s)
{
	struct pair *p = pair_of(s);

	if (pair_behind(p))
		pair_follow(p);
}
