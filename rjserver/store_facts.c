// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store.h"
#include "util/environ.h"
#include "util/fileio.h"

/* The largest N of "below=N" anywhere in QUERY; 0: none. Whether the query is
 * right is the handler's to say. */
static uint64_t below_of(const char *query)
{
	uint64_t most = 0, n;

	for (; query && *query; query += *query == '&') {
		if (!strncmp(query, "below=", 6)) {
			n = strtoull(query + 6, NULL, 10);
			most = n > most ? n : most;
		}
		query += strcspn(query, "&");
	}
	return most;
}

int store_newest(struct store *s, const struct okey *okey, const char *query,
	uint64_t *time_ns)
{
	const struct idx_entry *e = NULL, *list;
	uint8_t raw[REC_HEAD_BYTES];
	struct datafile *f;
	struct rec rec;
	uint64_t below;
	size_t count;

	if (okey->key.number) {
		e = idx_find(s->index, okey);
	} else {
		below = below_of(query);
		list = idx_list(s->index, okey, 0, &count);
		while (count && list[count - 1].number >= below)
			count--;
		e = count ? &list[count - 1] : NULL;
	}
	f = e && e->state != IDX_PENDING ? store_file(s, pos_file(e->pos))
					 : NULL;
	if (!e || e->state == IDX_DAMAGED)
		return -RJ_E_NOTFOUND;
	if (e->state == IDX_PENDING) {
		*time_ns = (uint64_t)rj_realtime_ns();
		return 0;
	}
	if (!f || rj_pread_all(f->fd, raw, sizeof(raw), pos_offset(e->pos),
			  f->path, NULL) ||
		!rec_decode(raw, false, s->store_id, &rec))
		return -RJ_E_CORRUPT;
	*time_ns = rec.time_ns;
	return 0;
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
