// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find when the newest of the objects that a DELETE means was stored.
 * Count what is allocated on the disk and not written yet.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commit.h"
#include "store-read.h"

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
	uint64_t below, least = 0, t, n;
	struct idx_entry *e;
	int rc = -RJ_E_NOTFOUND;

	commit_flush(s->commit); /* all have their place, and their time */
	*time_ns = 0;
	if (okey->key.number) {
		e = idx_find(s->index, okey);
		rc = e ? store_time(s, e, time_ns) : rc;
		*time_ns += 1000000000;
		return rc;
	}
	widest(query, &below, &least);
	if (okey->key.kind == RJ_KEY_BASE) /* the manifest, which may be short, has the age */
		least = 0;
	for (n = 0; (e = idx_next(s->index, okey, n)); n = e->number) {
		if (e->number >= below || (rc && rc != -RJ_E_NOTFOUND))
			break;
		if (e->length < least)
			continue;
		rc = store_time(s, e, &t);
		*time_ns = !rc && t > *time_ns ? t : *time_ns;
	}
	*time_ns += 1000000000;
	return rc;
}

uint64_t store_spare(const struct store *s)
{
	const struct datafile *f =
		s->file_count ? &s->files[s->file_count - 1] : NULL;
	char path[PATH_MAX];
	struct stat st;
	uint64_t spare = 0;

	if (f && pos_file(s->end) == f->number &&
		pos_offset(s->end) < f->bytes)
		spare = f->bytes - pos_offset(s->end);
	store_spare_path(s, path);
	if (!stat(path, &st))
		spare += (uint64_t)st.st_blocks * 512;
	return spare;
}
