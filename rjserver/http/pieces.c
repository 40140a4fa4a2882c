// SPDX-License-Identifier: GPL-2.0-or-later
#include "pieces.h"

#include "rjserver/store/commit.h"

bool pieces_wanted(struct store *s, const struct okey *okey)
{
	const struct idx_entry *e = idx_find(s->index, okey);

	return e && e->length > PIECE_BYTES;
}

void pieces_end(struct pieces *p)
{
	read_wait_end(&p->wait);
	p->wait.job = NULL;
	p->wait.rc = 0;
	p->at = 0;
	p->state = PIECES_NONE;
	p->waits = false;
}

/* What W waited for has come, or failed. */
static int come(struct read_wait *w, struct rj_error *err)
{
	if (w->job)
		return -RJ_E_BUSY;
	return w->rc ? rj_fail(err, (enum rj_code)-w->rc, "the object cannot be read") : 0;
}

int pieces_begin(
	struct pieces *p, struct store *s, const struct okey *okey, struct rj_error *err)
{
	struct object_place at;
	int rc;

	if (p->state == PIECES_NONE) {
		p->s = s;
		p->okey = *okey;
		p->state = PIECES_CHECK;
		rc = object_find(s, okey, &at, err);
		if (!rc) {
			p->length = at.length;
			p->crc = at.crc;
			rc = read_wait_check(s, okey, &at, &p->wait, err);
		}
	} else {
		rc = come(&p->wait, err);
	}
	rj_buf_free(&p->wait.body); /* the check's memory */
	if (!rc)
		p->state = PIECES_SEND;
	else if (rc != -RJ_E_BUSY)
		pieces_end(p);
	return rc;
}

int pieces_next(struct pieces *p, struct rj_buf *out, struct rj_error *err)
{
	uint32_t left = p->length - p->at, len = left < PIECE_BYTES ? left : PIECE_BYTES;
	struct object_place at;
	int rc;

	if (p->waits) {
		rc = come(&p->wait, err);
		if (!rc && rj_buf_append(out, p->wait.body.data, p->wait.body.len))
			rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
		if (rc != -RJ_E_BUSY) {
			rj_buf_free(&p->wait.body);
			p->waits = false;
		}
	} else {
		rc = object_find(p->s, &p->okey, &at, err);
		/* one that was deleted and put again may be another */
		if (!rc && (at.length != p->length || at.crc != p->crc))
			rc = rj_fail(err, RJ_E_NOTFOUND, "it is another object now");
		if (!rc)
			rc = read_wait_part(
				p->s, &p->okey, &at, p->at, len, out, &p->wait, err);
		p->waits = rc == -RJ_E_BUSY;
	}
	if (!rc)
		p->at += len;
	return rc;
}
