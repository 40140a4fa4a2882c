// SPDX-License-Identifier: GPL-2.0-or-later
/* Find when the newest of the objects that a DELETE means was stored. */
#include <stdlib.h>
#include <string.h>

#include "commit.h"
#include "store-read.h"
#include "util/environ.h"

/* Of "below=N" and "least=N" anywhere in QUERY, those by which most would go.
 * Whether the query is right is the handler's to say. */
static void widest(const char *query, uint64_t *below, uint64_t *least)
{
	uint64_t n;

	*below = 0;
	*least = UINT64_MAX;
	for (; query && *query; query += *query == '&') {
		if (!strncmp(query, "below=", 6)) {
			n = strtoull(query + 6, NULL, 10);
			*below = n > *below ? n : *below;
		} else if (!strncmp(query, "least=", 6)) {
			n = strtoull(query + 6, NULL, 10);
			*least = n < *least ? n : *least;
		}
		query += strcspn(query, "&");
	}
	if (*least == UINT64_MAX)
		*least = 0;
}

int store_newest(struct store *s, const struct okey *okey, const char *query,
	uint64_t *time_ns)
{
	uint64_t soon = (uint64_t)(rj_realtime_ns() + RJ_CLOCK_AHEAD_NS);
	uint64_t last = okey->key.number, n = last ? last - 1 : 0, least = 0, t;
	bool base = okey->key.kind == RJ_KEY_BASE, ahead = false, meant;
	int rc = -RJ_E_NOTFOUND, got;
	struct idx_entry *e;

	commit_flush(s->commit); /* all have their place, and their time */
	if (!last) {
		widest(query, &last, &least);
		last -= last > 0;
	}
	if (base) /* the manifest, which may be short, has the age */
		least = 0;
	*time_ns = 0;
	for (; (e = idx_next(s->index, okey, n)); n = e->number) {
		if (rc && rc != -RJ_E_NOTFOUND)
			break;
		meant = e->number <= last && e->length >= least;
		if (e->number > last && !ahead)
			break;
		if (!meant && !ahead)
			continue;
		got = store_time(s, e, &t);
		rc = meant ? got : rc;
		if (got)
			continue;
		/* a base's own pieces were stored before its manifest */
		ahead = t > soon || (ahead && base && e->number % RJ_BASE_PLACES);
		if (t <= soon && t > *time_ns)
			*time_ns = t;
	}
	*time_ns = (ahead ? soon : *time_ns) + 1000000000;
	return rc;
}
