// SPDX-License-Identifier: GPL-2.0-or-later
/* The named marks of a log belong to its copy, too. */
#include <string.h>

#include "copy.h"
#include "log/own.h"

int copy_put_points(struct copy *c, struct rj_error *err)
{
	struct rj_buf from = {0}, to = {0}, text = {0};
	struct rj_key key = rj_log_key(&c->from->id, RJ_KEY_POINT, 0);
	size_t i;
	int rc = rj_log_list_own(c->from->store, &c->from->id, RJ_KEY_POINT, 0, &from, err);

	if (!rc && from.len != c->points)
		rc = rj_log_list_own(c->to.store, &c->to.id, RJ_KEY_POINT, 0, &to, err);
	for (i = 0; !rc && from.len != c->points && i < from.len; i += sizeof(key.number)) {
		memcpy(&key.number, from.data + i, sizeof(key.number));
		if (rj_log_own_listed(&to, key.number))
			continue;
		rc = rj_log_get_own(c->from->store, &key, 0, &text, err);
		if (!rc)
			rc = rj_log_put_own(c->to.store, &key, &text, 0, err);
		if (rc == -RJ_E_NOTFOUND || rc == -RJ_E_EXISTS) /* it went, or came since */
			rc = 0;
	}
	c->points = rc ? 0 : from.len;
	rj_buf_free(&from);
	rj_buf_free(&to);
	rj_buf_free(&text);
	return rc;
}
