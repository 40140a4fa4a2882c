// SPDX-License-Identifier: GPL-2.0-or-later
/* The named marks of a log belong to its copy, too. */
#include <string.h>

#include "copy.h"
#include "log/own.h"

/* A name that was used again stands for the later moment in the copy, too. */
static int put_point(struct copy *c, const struct rj_key *key, const struct rj_buf *text,
	struct rj_error *err)
{
	int rc = rj_log_put_own(c->to.store, key, text, 0, err);

	if (rc != -RJ_E_EXISTS)
		return rc;
	rc = rj_log_remove_own(c->to.store, key, err);
	return rc && rc != -RJ_E_NOTFOUND ? rc
					  : rj_log_put_own(c->to.store, key, text, 0, err);
}

/* Put the mark at KEY, unless it was put before; add its text to NOW. */
static int copy_point(struct copy *c, const struct rj_key *key, struct rj_buf *now,
	struct rj_error *err)
{
	struct rj_buf text = {0};
	int rc = rj_log_get_own(c->from->store, key, 0, &text, err);

	if (!rc && (!c->points.len ||
			   !memmem(c->points.data, c->points.len, text.data, text.len)))
		rc = put_point(c, key, &text, err);
	if (!rc && rj_buf_append(now, text.data, text.len))
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	rj_buf_free(&text);
	return rc == -RJ_E_NOTFOUND ? 0 : rc; /* it went */
}

int copy_put_points(struct copy *c, struct rj_error *err)
{
	struct rj_key key = rj_log_key(&c->from->id, RJ_KEY_POINT, 0);
	struct rj_buf from = {0}, now = {0};
	size_t i;
	int one, rc = rj_log_list_own(c->from->store, &c->from->id, RJ_KEY_POINT, 0, &from, err);

	for (i = 0; i < from.len; i += sizeof(key.number)) {
		memcpy(&key.number, from.data + i, sizeof(key.number));
		one = copy_point(c, &key, &now, rc ? NULL : err);
		rc = rc ? rc : one;
	}
	rj_buf_free(&from);
	rj_buf_free(&c->points);
	c->points = now;
	return rc;
}
