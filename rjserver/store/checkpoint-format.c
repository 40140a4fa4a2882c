// SPDX-License-Identifier: GPL-2.0-or-later
/* The bytes of a checkpoint, as specified in doc/rjserver-storage.md. */
#include <stdlib.h>
#include <string.h>

#include "store-checkpoint.h"
#include "util/bytes.h"
#include "util/crc32c.h"
#include "util/environ.h"

#define MAGIC       "RJCKPT\n\1"
#define HEAD_BYTES  64
#define DIR_BYTES   88
#define ENTRY_BYTES 32

enum {
	H_MAGIC = 0,
	H_STORE_ID = 8,
	H_POS = 16,
	H_LAST = 24,
	H_TIME = 32,
	H_BYTES = 40, /* of all that follows the head */
	H_BODY_CRC = 48,
	H_CRC = 60,
	D_NAME = 0,
	D_UUID = 64,
	D_KIND = 80,
	D_COUNT = 84,
	E_NUMBER = 0,
	E_POS = 8,
	E_LENGTH = 16,
	E_CRC = 20,
	E_STATE = 24, /* 0 whole, 1 damaged, 2 damaged and its record has no bytes */
	E_TIME = 28,  /* 0 in those of earlier versions */
};

struct encoding {
	struct rj_buf *out;
	struct okey dir;  /* of the entries that are being added */
	size_t dir_at;    /* where its head is */
	uint32_t count;
	bool any;
	int rc;
};

static void begin_dir(struct encoding *en, const struct okey *okey)
{
	uint8_t raw[DIR_BYTES] = {0};

	memcpy(raw + D_NAME, okey->name, strnlen(okey->name, NAME_BYTES));
	memcpy(raw + D_UUID, okey->key.journal_uuid, RJ_UUID_BYTES);
	rj_put_le32(raw + D_KIND, okey->key.kind);
	en->dir = *okey;
	en->dir_at = en->out->len;
	en->count = 0;
	en->any = true;
	en->rc = rj_buf_append(en->out, raw, sizeof(raw));
}

static void add_entry(
	void *arg, const struct okey *okey, const struct idx_entry *e)
{
	struct encoding *en = arg;
	uint8_t raw[ENTRY_BYTES] = {0};

	if (en->rc)
		return;
	if (!en->any || okey->key.kind != en->dir.key.kind ||
		!rj_uuid_equal(
			okey->key.journal_uuid, en->dir.key.journal_uuid) ||
		strcmp(okey->name, en->dir.name))
		begin_dir(en, okey);
	rj_put_le64(raw + E_NUMBER, e->number);
	rj_put_le64(raw + E_POS, e->pos);
	rj_put_le32(raw + E_LENGTH, e->length);
	rj_put_le32(raw + E_CRC, e->body_crc);
	rj_put_le32(raw + E_STATE, e->bare ? 2 : e->state == IDX_DAMAGED);
	rj_put_le32(raw + E_TIME, e->time_s);
	if (!en->rc)
		en->rc = rj_buf_append(en->out, raw, sizeof(raw));
	if (!en->rc)
		rj_put_le32(
			en->out->data + en->dir_at + D_COUNT, ++en->count);
}

int checkpoint_encode(struct store *s, struct rj_buf *out)
{
	struct encoding en = {.out = out};
	uint8_t raw[HEAD_BYTES] = {0};

	en.rc = rj_buf_append(out, raw, sizeof(raw));
	if (!en.rc)
		idx_each(s->index, add_entry, &en);
	if (en.rc)
		return en.rc;
	memcpy(raw + H_MAGIC, MAGIC, 8);
	rj_put_le64(raw + H_STORE_ID, s->store_id);
	rj_put_le64(raw + H_POS, s->end);
	rj_put_le64(raw + H_LAST, s->last);
	rj_put_le64(raw + H_TIME, (uint64_t)rj_realtime_ns());
	rj_put_le64(raw + H_BYTES, out->len - HEAD_BYTES);
	rj_put_le32(raw + H_BODY_CRC, rj_crc32c(~0u, out->data + HEAD_BYTES,
					      out->len - HEAD_BYTES));
	rj_put_le32(raw + H_CRC, rj_crc32c(~0u, raw, H_CRC));
	memcpy(out->data, raw, sizeof(raw));
	return 0;
}

static bool head_good(const struct rj_buf *data)
{
	const uint8_t *raw = data->data;

	return data->len >= HEAD_BYTES && !memcmp(raw + H_MAGIC, MAGIC, 8) &&
	       rj_get_le32(raw + H_CRC) == rj_crc32c(~0u, raw, H_CRC) &&
	       rj_get_le64(raw + H_BYTES) == data->len - HEAD_BYTES &&
	       rj_get_le32(raw + H_BODY_CRC) ==
		       rj_crc32c(~0u, raw + HEAD_BYTES, data->len - HEAD_BYTES);
}

static int take_entry(struct store *s, struct okey *okey, const uint8_t *raw,
	struct rj_error *err)
{
	struct idx_entry *e;

	okey->key.number = rj_get_le64(raw + E_NUMBER);
	e = idx_insert(s->index, okey);
	if (!e)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", s->dir);
	e->pos = rj_get_le64(raw + E_POS);
	e->length = rj_get_le32(raw + E_LENGTH);
	e->body_crc = rj_get_le32(raw + E_CRC);
	e->state = rj_get_le32(raw + E_STATE) ? IDX_DAMAGED : IDX_LIVE;
	e->bare = rj_get_le32(raw + E_STATE) == 2;
	e->time_s = rj_get_le32(raw + E_TIME);
	store_count(s, e, 1);
	return 0;
}

int checkpoint_decode(struct store *s, const struct rj_buf *data,
	struct checkpoint_place *at, const char *path, struct rj_error *err)
{
	const uint8_t *p = data->data + HEAD_BYTES, *end;
	uint32_t count;
	struct okey okey;
	int rc = 0;

	if (!head_good(data))
		return rj_fail(err, RJ_E_CORRUPT, "%s: damaged", path);
	end = data->data + data->len;
	if (s->store_id &&
		rj_get_le64(data->data + H_STORE_ID) != s->store_id)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: is of another store: move it away, if the data "
			"files are the right ones",
			path);
	s->store_id = rj_get_le64(data->data + H_STORE_ID);
	at->pos = rj_get_le64(data->data + H_POS);
	at->last = rj_get_le64(data->data + H_LAST);
	while (!rc && end - p >= DIR_BYTES) {
		memset(&okey, 0, sizeof(okey));
		memcpy(okey.name, p + D_NAME, NAME_BYTES - 1);
		memcpy(okey.key.journal_uuid, p + D_UUID, RJ_UUID_BYTES);
		okey.key.kind = (enum rj_key_kind)rj_get_le32(p + D_KIND);
		if (okey.key.kind >= RJ_KEY_KINDS)
			return rj_fail(err, RJ_E_REFUSED,
				"%s: is of a later version of rjserver, which has objects of a kind that this one does not know: start that version",
				path);
		count = rj_get_le32(p + D_COUNT);
		p += DIR_BYTES;
		for (; !rc && count && end - p >= ENTRY_BYTES; count--) {
			rc = take_entry(s, &okey, p, err);
			p += ENTRY_BYTES;
		}
	}
	return rc;
}
