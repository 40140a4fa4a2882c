// SPDX-License-Identifier: LGPL-2.1-or-later
/* Write into the fallback file: its two headers, and sealed segments after them. */
#include "log/fallback/fallback-log.h"

#include <stdlib.h>
#include <string.h>

#include "log/fallback/fallback-log-priv.h"
#include "util/crc32c.h"
#include "util/environ.h"

/* Grow the buffer that writes go out from; aligned for direct I/O. */
static uint8_t *write_buffer(struct rj_fallback *s, size_t bytes)
{
	void *p;

	if (s->out_bytes >= bytes)
		return s->out;
	if (posix_memalign(&p, RJ_FALLBACK_ALIGN, bytes))
		return NULL;
	free(s->out);
	s->out = p;
	s->out_bytes = bytes;
	return s->out;
}

static int durable(struct rj_bio *bio, const void *data, size_t len,
	uint64_t off, struct rj_error *err)
{
	int rc = bio->write(bio, data, len, off, err);

	return rc ? rc : bio->flush(bio, err);
}

static int write_header(struct rj_bio *bio, uint8_t *buffer,
	const struct rj_fallback_header *h, struct rj_error *err)
{
	memset(buffer, 0, RJ_FALLBACK_ALIGN);
	rj_fallback_header_encode(h, buffer);
	return durable(bio, buffer, RJ_FALLBACK_ALIGN,
		h->generation % 2 * RJ_FALLBACK_ALIGN, err);
}

/*
 * What we read need not be durable: a process that dies between a write and its
 * flush leaves to the next one what the power may still take away. Before we
 * write over anything because the header allows it, it is written once more, in
 * its own slot: the other one may be all that is durable.
 */
static int settle_header(struct rj_fallback *s, struct rj_error *err)
{
	uint8_t *buffer;
	int rc;

	if (!s->only_seen)
		return 0;
	buffer = write_buffer(s, RJ_FALLBACK_ALIGN);
	if (!buffer)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	rc = write_header(s->bio, buffer, &s->h, err);
	s->only_seen = rc != 0;
	return rc;
}

/* The next generation of the header is NEW; memory follows the disk. */
static int advance(struct rj_fallback *s, struct rj_fallback_header *new,
	struct rj_error *err)
{
	uint8_t *buffer = write_buffer(s, RJ_FALLBACK_ALIGN);
	int rc;

	if (!buffer)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	rc = settle_header(s, err);
	if (rc)
		return rc;
	new->generation = s->h.generation + 1;
	rc = write_header(s->bio, buffer, new, err);
	/* a write that failed may be there nevertheless: nothing is kept until
	 * the header, in that same slot, says again what is true */
	s->unsure = rc != 0;
	if (!rc)
		s->h = *new;
	return rc;
}

int rj_fallback_format(
	struct rj_bio *bio, const struct rj_log_id *id, struct rj_error *err)
{
	struct rj_fallback_header h = {.generation = 2};
	void *buffer;
	int rc;

	if (bio->size_bytes < RJ_FALLBACK_MIN_BYTES)
		return rj_fail(err, RJ_E_NOSPACE,
			"%s: %llu bytes are too few for a fallback file; it needs %u MiB at least",
			bio->name, (unsigned long long)bio->size_bytes,
			RJ_FALLBACK_MIN_BYTES >> 20);
	if (posix_memalign(&buffer, RJ_FALLBACK_ALIGN, RJ_FALLBACK_ALIGN))
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	memcpy(h.volume_uuid, id->volume_uuid, RJ_UUID_BYTES);
	memcpy(h.journal_uuid, id->journal_uuid, RJ_UUID_BYTES);
	h.area_bytes = (bio->size_bytes - RJ_FALLBACK_AREA) /
		       RJ_FALLBACK_ALIGN * RJ_FALLBACK_ALIGN;
	rc = write_header(bio, buffer, &h, err);
	h.generation++;
	if (!rc)
		rc = write_header(bio, buffer, &h, err);
	free(buffer);
	return rc;
}

const char *rj_fallback_name(const struct rj_fallback *s)
{
	return s->bio->name;
}

/* Where a record of SPACE bytes goes that is to follow POSITION. */
static uint64_t place_behind(
	const struct rj_fallback *s, uint64_t position, uint64_t space)
{
	uint64_t at = position % s->h.area_bytes;

	return at + space <= s->h.area_bytes ? position
					    : position + s->h.area_bytes - at;
}

/* The position from which on records must not be written over. */
static uint64_t keep_from(const struct rj_fallback *s)
{
	return s->next <= s->last ? rj_fallback_entry(s, s->next)->position
				  : s->tail;
}

void rj_fallback_facts(
	const struct rj_fallback *s, struct rj_fallback_facts *out)
{
	*out = (struct rj_fallback_facts){
		.state = s->h.state,
		.epoch = s->h.epoch,
		.fence = s->h.fence,
		.from = s->h.from,
		.next = s->next,
		.last = s->last,
		.first = s->first,
		.oldest = s->oldest,
		.backlog = s->backlog,
		.used = s->tail - keep_from(s),
		.capacity = s->h.area_bytes,
		.since_ns = s->h.since_ns,
	};
	out->self_sufficient = s->h.state == RJ_FALLBACK_LOCAL &&
			       s->last >= s->first && s->oldest >= s->first;
}

int rj_fallback_begin(struct rj_fallback *s, const struct rj_log_tail *tail,
	uint64_t epoch, uint64_t fence, struct rj_error *err)
{
	struct rj_fallback_header h = s->h;
	int rc;

	if (s->h.state == RJ_FALLBACK_GIVEN_UP ||
		(s->h.state == RJ_FALLBACK_LOCAL && s->next <= s->last))
		return rj_fail(err, RJ_E_INVAL,
			"%s: there are segments in it already", s->bio->name);
	/* what an earlier outage left in the area is never taken for this one */
	rc = rj_random_bytes(&h.session, sizeof(h.session));
	if (rc)
		return rj_fail(err, RJ_E_IO, "cannot get random bytes");
	h.state = RJ_FALLBACK_LOCAL;
	h.epoch = epoch;
	h.fence = fence;
	h.from = h.next = tail->sequence + 1;
	h.position = 0;
	h.last = 0;
	h.since_ns = rj_realtime_ns();
	memcpy(h.chain, tail->chain, sizeof(h.chain));
	rc = advance(s, &h, err);
	if (rc)
		return rc;
	s->first = s->next = h.next;
	s->last = h.next - 1;
	s->tail = s->oldest = s->backlog = 0;
	return 0;
}

static int change_state(struct rj_fallback *s, enum rj_fallback_state state,
	struct rj_error *err)
{
	struct rj_fallback_header h = s->h;

	h.state = state;
	h.next = s->next;
	h.position = keep_from(s);
	h.last = s->last;
	return advance(s, &h, err);
}

/* Say on disk what was shipped, so that its space can be used. */
static int release_shipped(struct rj_fallback *s, struct rj_error *err)
{
	return change_state(s, s->h.state, err);
}

int rj_fallback_note(struct rj_fallback *s, struct rj_error *err)
{
	if (s->h.state == RJ_FALLBACK_IDLE ||
		(s->h.last == s->last && s->h.next == s->next))
		return 0;
	return release_shipped(s, err);
}

/* Is there space for a record up to END? What is shipped makes some. */
static int make_space(struct rj_fallback *s, uint64_t end, struct rj_error *err)
{
	if (end - s->h.position <= s->h.area_bytes)
		return 0;
	if (end - keep_from(s) > s->h.area_bytes)
		return rj_fail(err, RJ_E_NOSPACE,
			"%s: the fallback file is full (segments %llu to %llu)",
			s->bio->name, (unsigned long long)s->next,
			(unsigned long long)s->last);
	return release_shipped(s, err);
}

static void encode_record(const struct rj_fallback *s,
	const struct rj_log_sealed *seg, uint64_t position, uint64_t space)
{
	struct rj_fallback_record rec = {
		.session = s->h.session,
		.sequence = seg->at.sequence,
		.epoch = seg->at.epoch,
		.position = position,
		.bytes = (uint32_t)seg->len,
		.payload = rj_crc32c(~0u, seg->bytes, seg->len),
	};
	size_t end = RJ_FALLBACK_RECORD_HEAD + seg->len;

	rj_fallback_record_encode(&rec, s->out);
	memcpy(s->out + RJ_FALLBACK_RECORD_HEAD, seg->bytes, seg->len);
	memset(s->out + end, 0, space - end);
}

int rj_fallback_append(struct rj_fallback *s, const struct rj_log_sealed *seg,
	struct rj_error *err)
{
	uint64_t space = rj_fallback_record_bytes(seg->len), at;
	int rc;

	if (s->h.state != RJ_FALLBACK_LOCAL || seg->at.sequence != s->last + 1)
		return rj_fail(err, RJ_E_INVAL,
			"%s: segment %llu is not the next one",
			s->bio->name, (unsigned long long)seg->at.sequence);
	/* nothing to keep: begin where a record of any size fits */
	at = place_behind(s, s->tail, space);
	rc = settle_header(s, err);
	if (!rc)
		rc = make_space(s, at + space, err);
	if (!rc && s->unsure)
		rc = release_shipped(s, err);
	if (rc)
		return rc;
	if (!write_buffer(s, space))
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	encode_record(s, seg, at, space);
	rc = durable(s->bio, s->out, space, rj_fallback_place_of(s, at), err);
	if (rc)
		return rc;
	rj_fallback_took(s, seg->at.sequence, at, (uint32_t)seg->len);
	s->oldest = seg->at.oldest;
	return 0;
}

int rj_fallback_append_again(struct rj_fallback *s,
	const struct rj_log_sealed *seg, struct rj_error *err)
{
	uint64_t space = rj_fallback_record_bytes(seg->len);
	struct rj_fallback_place at;
	struct rj_buf bytes = {0};
	int rc;

	if (s->last != seg->at.sequence ||
		!rj_fallback_find(s, s->last, &at))
		return rj_fail(err, RJ_E_INVAL,
			"%s: segment %llu is not the last one", s->bio->name,
			(unsigned long long)seg->at.sequence);
	rc = rj_fallback_fetch(s, &at, &bytes, err);
	if (!rc && (bytes.len != seg->len ||
			   memcmp(bytes.data, seg->bytes, seg->len)))
		rc = rj_fail(err, RJ_E_CORRUPT,
			"%s: segment %llu is another one than was sealed",
			s->bio->name, (unsigned long long)at.sequence);
	if (!rc && !write_buffer(s, space))
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	rj_buf_free(&bytes);
	if (rc)
		return rc;
	encode_record(s, seg, at.position, space);
	return durable(s->bio, s->out, space,
		rj_fallback_place_of(s, at.position), err);
}

void rj_fallback_shipped(struct rj_fallback *s, uint64_t sequence)
{
	while (s->next <= sequence && s->next <= s->last)
		s->backlog -= rj_fallback_entry(s, s->next++)->bytes;
}

int rj_fallback_note_tail(struct rj_fallback *s, const struct rj_log_tail *tail,
	struct rj_error *err)
{
	struct rj_fallback_header h = s->h;
	uint8_t *buffer;
	int rc;

	if (h.state != RJ_FALLBACK_IDLE || (h.floor_epoch == tail->epoch &&
						h.floor_sequence == tail->sequence))
		return 0;
	buffer = write_buffer(s, RJ_FALLBACK_ALIGN);
	if (!buffer)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	h.generation++;
	h.floor_epoch = tail->epoch;
	h.floor_sequence = tail->sequence;
	memcpy(h.floor_chain, tail->chain, sizeof(h.floor_chain));
	rc = settle_header(s, err);
	if (!rc)
		rc = write_header(s->bio, buffer, &h, err);
	if (rc)
		return rc;
	/* and nothing else: another thread reads it */
	s->h.generation = h.generation;
	s->h.floor_epoch = h.floor_epoch;
	s->h.floor_sequence = h.floor_sequence;
	memcpy(s->h.floor_chain, h.floor_chain, sizeof(h.floor_chain));
	return 0;
}

void rj_fallback_noted_tail(
	const struct rj_fallback *s, struct rj_log_tail *out)
{
	memset(out, 0, sizeof(*out));
	out->epoch = s->h.floor_epoch;
	out->sequence = s->h.floor_sequence;
	memcpy(out->chain, s->h.floor_chain, sizeof(out->chain));
}

int rj_fallback_idle(struct rj_fallback *s, struct rj_error *err)
{
	return s->h.state == RJ_FALLBACK_IDLE
		       ? 0
		       : change_state(s, RJ_FALLBACK_IDLE, err);
}

int rj_fallback_serve(
	struct rj_fallback *s, uint64_t epoch, struct rj_error *err)
{
	struct rj_fallback_header h = s->h;

	if (h.state != RJ_FALLBACK_IDLE || h.epoch >= epoch)
		return 0;
	if (!h.epoch)
		h.made = epoch;
	h.epoch = epoch;
	return advance(s, &h, err);
}

bool rj_fallback_was_elsewhere(const struct rj_fallback *s, uint64_t epoch)
{
	return s->h.state == RJ_FALLBACK_IDLE && (s->h.epoch < epoch || s->h.made > epoch);
}

int rj_fallback_give_up(struct rj_fallback *s, struct rj_error *err)
{
	return change_state(s, RJ_FALLBACK_GIVEN_UP, err);
}

bool rj_fallback_find(const struct rj_fallback *s, uint64_t sequence,
	struct rj_fallback_place *out)
{
	const struct rj_fallback_entry *e;

	if (sequence < s->first || sequence > s->last)
		return false;
	e = rj_fallback_entry(s, sequence);
	*out = (struct rj_fallback_place){
		.session = s->h.session,
		.sequence = sequence,
		.position = e->position,
		.bytes = e->bytes,
	};
	return true;
}
