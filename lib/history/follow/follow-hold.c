// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * First the new hold, then the older ones go, and those only when they are a minute older: a
 * trimmer that lists the holds in between sees one of the two. Which ones are this base's is
 * in their text: a name made of the base's own number, which two standbys do not share, and
 * of the host and the path of the base, which it and a copy of it do not share.
 */
#include "history/follow/follow-hold.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/hold.h"
#include "os/hostname.h"
#include "util/crc32c.h"
#include "util/environ.h"

#define APART_S 60

static void program(const char *path, uint64_t id, char out[RJ_CLAIM_HOST])
{
	char host[RJ_CLAIM_HOST];
	char *real = realpath(path, NULL);
	const char *p = real ? real : path;
	uint32_t crc;

	rj_host_name(host, sizeof(host));
	crc = rj_crc32c(~0u, host, strlen(host));
	crc = rj_crc32c(crc, p, strlen(p));
	free(real);
	if (id)
		snprintf(out, RJ_CLAIM_HOST, "rjbackup-follow-%016" PRIx64 "-%08x", id, crc);
	else
		snprintf(out, RJ_CLAIM_HOST, "rjbackup-follow-%08x", crc);
}

/* Put the youngest one of NAME into *LAST. Remove those that are older than NOW, if that has a
 * number, by a minute. */
static int look(const struct rj_base_log *log, const char *name, const struct rj_hold *now,
	struct rj_hold *last, struct rj_error *err)
{
	struct rj_buf all = {0};
	struct rj_hold_seen s;
	size_t i;
	int rc = rj_hold_list(log->store, &log->id, 0, &all, err);

	for (i = 0; !rc && i < all.len; i += sizeof(s)) {
		memcpy(&s, all.data + i, sizeof(s));
		if (s.bad || strcmp(s.hold.program, name) != 0)
			continue;
		if (s.hold.time >= last->time)
			*last = s.hold;
		if (now->number && s.hold.number != now->number &&
			s.hold.time + APART_S <= now->time)
			rc = rj_hold_remove(log->store, &log->id, s.hold.number, err);
		if (rc == -RJ_E_NOTFOUND) /* another process removed it */
			rc = 0;
	}
	rj_buf_free(&all);
	return rc;
}

/* LAST still does what a new one, at segment FIRST, would do, or is too young to be replaced. */
static bool will_do(const struct rj_hold *last, uint64_t first, uint64_t seconds)
{
	int64_t age = rj_realtime_ns() / 1000000000 - last->time;

	return last->number && last->first <= first && !rj_hold_expired(last) &&
	       (age < APART_S || (last->first == first && age < (int64_t)(seconds / 2)));
}

int rj_follow_move_hold(const struct rj_base_log *log, const char *path,
	const struct rj_base_record *base, uint64_t seconds, struct rj_hold *hold,
	struct rj_error *err)
{
	char name[RJ_CLAIM_HOST];
	struct rj_hold last = {0}, new = {0};
	struct rj_seghdr needs, first;
	int rc;

	program(path, base->id, name);
	rc = rj_log_fetch_header(log->store, &log->id, base->from, &needs, err);
	if (!rc)
		rc = look(log, name, &new, &last, err);
	if (rc)
		return rc;
	if (will_do(&last, needs.oldest, seconds)) {
		*hold = last;
		return 0;
	}
	rc = rj_hold_put_at(log->store, &log->id, name, seconds, needs.oldest, &new, err);
	/* is there still what it is to keep? */
	if (!rc)
		rc = rj_log_fetch_header(log->store, &log->id, needs.oldest, &first, err);
	if (!rc)
		rc = look(log, name, &new, &last, err);
	if (!rc)
		*hold = new;
	return rc;
}
