// SPDX-License-Identifier: GPL-2.0-or-later
/* Find, read and check the bytes of one object. */
#include "store-object.h"

#include "os/fileio.h"
#include "rjserver/log.h"
#include "util/crc32c.h"

uint64_t object_offset(const struct object_place *at)
{
	return pos_offset(at->pos) + REC_HEAD_BYTES;
}

bool object_whole(const struct object_place *at, const void *data)
{
	return rj_crc32c(~0u, data, at->length) == at->crc;
}

int object_damaged(struct store *s, const struct okey *okey,
	const struct object_place *at, struct rj_error *err)
{
	char path[PATH_MAX], key[RJ_KEY_TEXT];

	store_file_path(s, pos_file(at->pos), path);
	log_error("%s: byte %llu: DAMAGED: the object /%s/%s", path,
		(unsigned long long)pos_offset(at->pos), okey->name,
		rj_key_text(&okey->key, key));
	return rj_fail(err, RJ_E_CORRUPT,
		"the object is damaged: its bytes fail their checksum");
}

int object_unread(struct store *s, const struct okey *okey,
	const struct object_place *at, const char *why, struct rj_error *err)
{
	char path[PATH_MAX], key[RJ_KEY_TEXT];

	store_file_path(s, pos_file(at->pos), path);
	log_error("%s: byte %llu: the object /%s/%s cannot be read now: %s",
		path, (unsigned long long)pos_offset(at->pos), okey->name,
		rj_key_text(&okey->key, key), why);
	return rj_fail(err, RJ_E_IO, "the object cannot be read now");
}

int object_find(struct store *s, const struct okey *okey,
	struct object_place *out, struct rj_error *err)
{
	struct idx_entry *e = idx_find(s->index, okey);

	if (!e && s->lost)
		return rj_fail(err, RJ_E_CORRUPT,
			"not found, but this store lost records it cannot "
			"name");
	if (!e || e->state == IDX_PENDING)
		return rj_fail(err, RJ_E_NOTFOUND, "no such object");
	*out = (struct object_place){
		.f = store_file(s, pos_file(e->pos)),
		.pos = e->pos,
		.length = e->length,
		.crc = e->body_crc,
	};
	if (e->state == IDX_DAMAGED || e->bare || !out->f)
		return object_damaged(s, okey, out, err);
	return 0;
}

int object_reserve(struct store *s, const struct okey *okey,
	struct object_place *at, struct rj_buf *out, struct rj_error *err)
{
	int rc = object_find(s, okey, at, err);

	/* an empty one, too, needs something to point at */
	if (!rc && rj_buf_reserve(out, at->length ? at->length : 1))
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	return rc;
}

int object_take(struct store *s, const struct okey *okey,
	const struct object_place *at, struct rj_buf *out,
	struct rj_error *err)
{
	if (!object_whole(at, out->data + out->len))
		return object_damaged(s, okey, at, err);
	out->len += at->length;
	return 0;
}

int object_get(struct store *s, const struct okey *okey, struct rj_buf *out,
	struct rj_error *err)
{
	struct object_place at;
	struct rj_error why;
	int rc = object_reserve(s, okey, &at, out, err);

	if (rc)
		return rc;
	if (rj_pread_all(at.f->fd, out->data + out->len, at.length,
		    object_offset(&at), "data file", &why))
		return object_unread(s, okey, &at, why.msg, err);
	return object_take(s, okey, &at, out, err);
}

int store_time(struct store *s, struct idx_entry *e, uint64_t *time_ns)
{
	struct datafile *f = store_file(s, pos_file(e->pos));
	uint8_t raw[REC_HEAD_BYTES];
	struct rec rec;

	if (!e->time_s) {
		if (f && rj_pread_all(f->fd, raw, sizeof(raw),
				 pos_offset(e->pos), f->path, NULL))
			return -RJ_E_IO;
		if (!f || !rec_decode(raw, false, s->store_id, &rec))
			return -RJ_E_CORRUPT;
		e->time_s = rec_time_s(&rec);
	}
	*time_ns = (uint64_t)e->time_s * 1000000000;
	return 0;
}
