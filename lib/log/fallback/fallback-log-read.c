// SPDX-License-Identifier: LGPL-2.1-or-later
/* Open a fallback file: which header counts, and which records are there. */
#include <stdlib.h>
#include <string.h>

#include "log/fallback/fallback-log-priv.h"
#include "util/crc32c.h"

#define LOOK_BYTES (1u << 20)

struct rj_fallback_entry *rj_fallback_entry(
	const struct rj_fallback *s, uint64_t sequence)
{
	return &s->entries[sequence % s->entry_count];
}

uint64_t rj_fallback_place_of(const struct rj_fallback *s, uint64_t position)
{
	return RJ_FALLBACK_AREA + position % s->h.area_bytes;
}

/* Of the two slots, the newest that checks; into H. */
static int read_headers(
	struct rj_bio *bio, struct rj_fallback_header *h, struct rj_error *err)
{
	uint8_t raw[RJ_FALLBACK_HEADER_BYTES];
	struct rj_fallback_header one;
	struct rj_error why[2];
	int rc[2], i, good = 0;

	for (i = 0; i < 2; i++) {
		rc[i] = bio->read(bio, raw, sizeof(raw),
			(uint64_t)i * RJ_FALLBACK_ALIGN, &why[i]);
		if (rc[i] == -RJ_E_IO || rc[i] == -RJ_E_INVAL) {
			if (err)
				*err = why[i];
			return rc[i];
		}
		if (!rc[i])
			rc[i] = rj_fallback_header_decode(raw, &one, &why[i]);
		if (!rc[i] && (!good++ || one.generation > h->generation))
			*h = one;
	}
	if (good) {
		/* one that we cannot read may be the newer one */
		i = rc[0] ? 0 : 1;
		if (rc[i] != -RJ_E_UNSUPPORTED)
			return 0;
		good = 0;
	} else {
		i = rc[0] == -RJ_E_NOTRJ ? 1 : 0;
	}
	if (err)
		*err = why[i];
	rj_fail_prefix(err, "%s", bio->name);
	return rc[i];
}

/* Is there whole record SEQUENCE at POSITION? Its bytes are left in BUF. 0 or
 * RJ_E_NOTFOUND; all else: not known, so it is not the end either. */
static int record_at(struct rj_fallback *s, uint64_t sequence,
	uint64_t position, struct rj_buf *buf, uint32_t *bytes,
	struct rj_error *err)
{
	struct rj_fallback_place at = {.session = s->h.session,
		.sequence = sequence, .position = position};
	uint8_t raw[RJ_FALLBACK_RECORD_HEAD];
	struct rj_fallback_record rec;
	int rc;

	rc = s->bio->read(s->bio, raw, sizeof(raw),
		rj_fallback_place_of(s, position), err);
	if (rc)
		return rc;
	if (rj_fallback_record_decode(raw, &rec, NULL) ||
		rec.session != s->h.session || rec.sequence != sequence ||
		rec.position != position ||
		position % s->h.area_bytes +
				rj_fallback_record_bytes(rec.bytes) >
			s->h.area_bytes)
		return -RJ_E_NOTFOUND;
	at.bytes = *bytes = rec.bytes;
	rc = rj_fallback_fetch(s, &at, buf, err);
	return rc == -RJ_E_CORRUPT ? -RJ_E_NOTFOUND : rc;
}

int rj_fallback_fetch(const struct rj_fallback *s,
	const struct rj_fallback_place *at, struct rj_buf *out,
	struct rj_error *err)
{
	uint64_t off = rj_fallback_place_of(s, at->position);
	uint8_t raw[RJ_FALLBACK_RECORD_HEAD];
	struct rj_fallback_record rec;
	int rc;

	out->len = 0;
	if (rj_buf_reserve(out, at->bytes))
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	rc = s->bio->read(s->bio, raw, sizeof(raw), off, err);
	if (!rc)
		rc = s->bio->read(s->bio, out->data, at->bytes,
			off + RJ_FALLBACK_RECORD_HEAD, err);
	if (rc)
		return rc;
	if (rj_fallback_record_decode(raw, &rec, NULL) ||
		rec.session != at->session || rec.sequence != at->sequence ||
		rec.bytes != at->bytes ||
		rec.payload != rj_crc32c(~0u, out->data, at->bytes))
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: segment %llu is damaged in the fallback file",
			s->bio->name, (unsigned long long)at->sequence);
	out->len = at->bytes;
	return 0;
}

void rj_fallback_took(
	struct rj_fallback *s, uint64_t sequence, uint64_t position, uint32_t bytes)
{
	uint64_t end = position + rj_fallback_record_bytes(bytes);

	*rj_fallback_entry(s, sequence) =
		(struct rj_fallback_entry){position, bytes};
	s->last = sequence;
	s->tail = end;
	s->backlog += bytes;
	/* what was written over can not be read any more */
	while (s->first < sequence &&
		rj_fallback_entry(s, s->first)->position + s->h.area_bytes <
			end)
		s->first++;
}

/* Is any record of this outage here that comes after SEQUENCE? */
static bool later_record(
	struct rj_fallback *s, uint64_t sequence, struct rj_buf *buf)
{
	uint64_t off, len, i;
	struct rj_fallback_record rec;

	if (rj_buf_reserve(buf, LOOK_BYTES))
		return true; /* to be safe */
	for (off = 0; off < s->h.area_bytes; off += len) {
		len = s->h.area_bytes - off < LOOK_BYTES
			      ? s->h.area_bytes - off
			      : LOOK_BYTES;
		if (s->bio->read(s->bio, buf->data, (size_t)len,
			    RJ_FALLBACK_AREA + off, NULL))
			return true;
		for (i = 0; i < len; i += RJ_FALLBACK_ALIGN)
			if (!rj_fallback_record_decode(buf->data + i, &rec, NULL) &&
				rec.session == s->h.session &&
				rec.sequence > sequence)
				return true;
	}
	return false;
}

/* Find all records from the header's on. A record that is torn may be the last
 * one, which was never acknowledged; any other is damage. */
static int scan(struct rj_fallback *s, struct rj_error *err)
{
	uint64_t at = s->h.position, area = s->h.area_bytes, n;
	struct rj_buf buf = {0};
	struct rj_seghdr seg;
	uint32_t bytes = 0;
	int rc = 0;

	for (n = s->h.next;; n++) {
		rc = record_at(s, n, at, &buf, &bytes, err);
		if (rc == -RJ_E_NOTFOUND) {
			if (at % area)
				at += area - at % area;
			rc = record_at(s, n, at, &buf, &bytes, err);
		}
		if (rc == -RJ_E_NOTFOUND)
			break;
		if (rc)
			goto out;
		if (rj_seghdr_decode(buf.data, &seg, err)) {
			rc = rj_fail_prefix(err, "%s", s->bio->name);
			goto out;
		}
		rj_fallback_took(s, n, at, bytes);
		s->oldest = seg.oldest;
		at = s->tail;
	}
	rc = 0;
	if (n <= s->h.last || later_record(s, n, &buf))
		rc = rj_fail(err, RJ_E_CORRUPT,
			"%s: segment %llu is damaged in the fallback file, and others follow it: nothing of it is used (the file is kept)",
			s->bio->name, (unsigned long long)n);
out:
	rj_buf_free(&buf);
	return rc;
}

static int check_owner(const struct rj_fallback *s, const struct rj_log_id *id,
	struct rj_error *err)
{
	char a[RJ_UUID_TEXT], b[RJ_UUID_TEXT];

	if (!rj_uuid_equal(s->h.journal_uuid, id->journal_uuid))
		return rj_fail_cause(
			rj_fail(err, RJ_E_FOREIGN,
				"%s: it is the fallback file of journal %s, not of %s",
				s->bio->name, rj_uuid_text(s->h.journal_uuid, a),
				rj_uuid_text(id->journal_uuid, b)),
			RJ_CAUSE_TAKEN, err);
	if (!rj_uuid_equal(s->h.volume_uuid, id->volume_uuid)) {
		rj_uuid_text(s->h.volume_uuid, a);
		rj_fail(err, RJ_E_FOREIGN,
			"%s: it is the fallback file of volume %s, and its UUID is %s now", s->bio->name,
			a, rj_uuid_text(id->volume_uuid, b));
		rj_fail_suffix(err, RJ_RENAMED_VOLUME);
		return rj_fail_cause(-RJ_E_FOREIGN, RJ_CAUSE_RECOVER, err);
	}
	if (s->h.area_bytes > s->bio->size_bytes - RJ_FALLBACK_AREA)
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: the fallback file was cut off: it says that it has %llu bytes more",
			s->bio->name,
			(unsigned long long)(s->h.area_bytes +
					     RJ_FALLBACK_AREA -
					     s->bio->size_bytes));
	return 0;
}

void rj_fallback_close(struct rj_fallback *s)
{
	if (!s)
		return;
	free(s->entries);
	free(s->out);
	free(s);
}

int rj_fallback_open(struct rj_bio *bio, const struct rj_log_id *id,
	struct rj_fallback **out, struct rj_error *err)
{
	struct rj_fallback *s = calloc(1, sizeof(*s));
	int rc;

	*out = NULL;
	if (!s)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	s->bio = bio;
	if (bio->size_bytes < RJ_FALLBACK_AREA)
		rc = rj_fail(err, RJ_E_NOTRJ, "%s: not a fallback file",
			bio->name);
	else
		rc = read_headers(bio, &s->h, err);
	if (!rc)
		rc = check_owner(s, id, err);
	if (rc)
		goto out;
	s->entry_count = s->h.area_bytes / RJ_FALLBACK_ALIGN + 1;
	s->entries = calloc(s->entry_count, sizeof(*s->entries));
	if (!s->entries) {
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
		goto out;
	}
	s->first = s->next = s->h.next ? s->h.next : 1;
	s->last = s->next - 1;
	s->tail = s->h.position;
	s->only_seen = true;
	if (s->h.state != RJ_FALLBACK_IDLE)
		rc = scan(s, err);
	if (!rc) {
		*out = s;
		s = NULL;
	}
out:
	rj_fallback_close(s);
	return rc;
}
