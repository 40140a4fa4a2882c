// SPDX-License-Identifier: LGPL-2.1-or-later
#include "log/spool.h"

#include <stdlib.h>
#include <string.h>

#include "log/spool-inside.h"
#include "util/crc32c.h"
#include "util/environ.h"

/* Grow the buffer that writes go out from; aligned for direct I/O. */
static uint8_t *write_buffer(struct rj_spool *s, size_t bytes)
{
	void *p;

	if (s->out_bytes >= bytes)
		return s->out;
	if (posix_memalign(&p, RJ_SPOOL_ALIGN, bytes))
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
	const struct rj_spool_header *h, struct rj_error *err)
{
	memset(buffer, 0, RJ_SPOOL_ALIGN);
	rj_spool_header_encode(h, buffer);
	return durable(bio, buffer, RJ_SPOOL_ALIGN,
		h->generation % 2 * RJ_SPOOL_ALIGN, err);
}

/*
 * What we read need not be durable: a process that dies between a write and its
 * flush leaves to the next one what the power may still take away. Before we
 * write over anything because the header allows it, it is written once more, in
 * its own slot: the other one may be all that is durable.
 */
static int settle_header(struct rj_spool *s, struct rj_error *err)
{
	uint8_t *buffer;
	int rc;

	if (!s->only_seen)
		return 0;
	buffer = write_buffer(s, RJ_SPOOL_ALIGN);
	if (!buffer)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	rc = write_header(s->bio, buffer, &s->h, err);
	s->only_seen = rc != 0;
	return rc;
}

/* The next generation of the header is NEW; memory follows the disk. */
static int advance(struct rj_spool *s, struct rj_spool_header *new,
	struct rj_error *err)
{
	uint8_t *buffer = write_buffer(s, RJ_SPOOL_ALIGN);
	int rc;

	if (!buffer)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	rc = settle_header(s, err);
	if (rc)
		return rc;
	new->generation = s->h.generation + 1;
	rc = write_header(s->bio, buffer, new, err);
	/* a write that failed may be there all the same: nothing is kept until
	 * the header, in that same slot, says again what is true */
	s->unsure = rc != 0;
	if (!rc)
		s->h = *new;
	return rc;
}

int rj_spool_format(
	struct rj_bio *bio, const struct rj_log_id *id, struct rj_error *err)
{
	struct rj_spool_header h = {.generation = 2};
	void *buffer;
	int rc;

	if (bio->size_bytes < RJ_SPOOL_MIN_BYTES)
		return rj_fail(err, RJ_E_NOSPACE,
			"%s: %llu bytes are too few for a fallback file; it needs %u MiB at least",
			bio->name, (unsigned long long)bio->size_bytes,
			RJ_SPOOL_MIN_BYTES >> 20);
	if (posix_memalign(&buffer, RJ_SPOOL_ALIGN, RJ_SPOOL_ALIGN))
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	memcpy(h.volume_uuid, id->volume_uuid, RJ_UUID_BYTES);
	memcpy(h.journal_uuid, id->journal_uuid, RJ_UUID_BYTES);
	h.area_bytes = (bio->size_bytes - RJ_SPOOL_AREA) / RJ_SPOOL_ALIGN *
		       RJ_SPOOL_ALIGN;
	rc = write_header(bio, buffer, &h, err);
	h.generation++;
	if (!rc)
		rc = write_header(bio, buffer, &h, err);
	free(buffer);
	return rc;
}

const char *rj_spool_name(const struct rj_spool *s)
{
	return s->bio->name;
}

struct rj_spool_entry *rj_spool_entry(
	const struct rj_spool *s, uint64_t sequence)
{
	return &s->entries[sequence % s->entry_count];
}

uint64_t rj_spool_place_of(const struct rj_spool *s, uint64_t position)
{
	return RJ_SPOOL_AREA + position % s->h.area_bytes;
}

/* Where a record of ROOM bytes goes that is to follow POSITION. */
static uint64_t place_behind(
	const struct rj_spool *s, uint64_t position, uint64_t room)
{
	uint64_t at = position % s->h.area_bytes;

	return at + room <= s->h.area_bytes ? position
					    : position + s->h.area_bytes - at;
}

/* The position from which on records must not be written over. */
static uint64_t keep_from(const struct rj_spool *s)
{
	return s->next <= s->last ? rj_spool_entry(s, s->next)->position
				  : s->tail;
}

void rj_spool_facts(const struct rj_spool *s, struct rj_spool_facts *out)
{
	*out = (struct rj_spool_facts){
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
	out->self_sufficient = s->h.state == RJ_SPOOL_LOCAL &&
			       s->last >= s->first && s->oldest >= s->first;
}

int rj_spool_begin(struct rj_spool *s, const struct rj_log_tail *tail,
	uint64_t epoch, uint64_t fence, struct rj_error *err)
{
	struct rj_spool_header h = s->h;
	int rc;

	if (s->h.state == RJ_SPOOL_GIVEN_UP ||
		(s->h.state == RJ_SPOOL_LOCAL && s->next <= s->last))
		return rj_fail(err, RJ_E_INVAL,
			"%s: there are segments in it already", s->bio->name);
	/* what an earlier outage left in the area is never taken for this one */
	rc = rj_random_bytes(&h.session, sizeof(h.session));
	if (rc)
		return rj_fail(err, RJ_E_IO, "no random bytes to be had");
	h.state = RJ_SPOOL_LOCAL;
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

/* Say on disk what was shipped, so that its room can be used. */
static int release_shipped(struct rj_spool *s, struct rj_error *err)
{
	struct rj_spool_header h = s->h;

	h.next = s->next;
	h.position = keep_from(s);
	h.last = s->last;
	return advance(s, &h, err);
}

int rj_spool_note(struct rj_spool *s, struct rj_error *err)
{
	if (s->h.state == RJ_SPOOL_IDLE ||
		(s->h.last == s->last && s->h.next == s->next))
		return 0;
	return release_shipped(s, err);
}

/* Is there room for a record up to END? What is shipped makes some. */
static int make_room(struct rj_spool *s, uint64_t end, struct rj_error *err)
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

static void encode_record(const struct rj_spool *s,
	const struct rj_log_sealed *seg, uint64_t position, uint64_t room)
{
	struct rj_spool_record rec = {
		.session = s->h.session,
		.sequence = seg->at.sequence,
		.epoch = seg->at.epoch,
		.position = position,
		.bytes = (uint32_t)seg->len,
		.payload = rj_crc32c(~0u, seg->bytes, seg->len),
	};
	size_t end = RJ_SPOOL_RECORD_HEAD + seg->len;

	rj_spool_record_encode(&rec, s->out);
	memcpy(s->out + RJ_SPOOL_RECORD_HEAD, seg->bytes, seg->len);
	memset(s->out + end, 0, room - end);
}

int rj_spool_append(struct rj_spool *s, const struct rj_log_sealed *seg,
	struct rj_error *err)
{
	uint64_t room = rj_spool_record_room(seg->len), at;
	int rc;

	if (s->h.state != RJ_SPOOL_LOCAL || seg->at.sequence != s->last + 1)
		return rj_fail(err, RJ_E_INVAL,
			"%s: segment %llu is not the next one",
			s->bio->name, (unsigned long long)seg->at.sequence);
	/* nothing to keep: begin where a record of any size fits */
	at = place_behind(s, s->tail, room);
	rc = settle_header(s, err);
	if (!rc)
		rc = make_room(s, at + room, err);
	if (!rc && s->unsure)
		rc = release_shipped(s, err);
	if (rc)
		return rc;
	if (!write_buffer(s, room))
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	encode_record(s, seg, at, room);
	rc = durable(s->bio, s->out, room, rj_spool_place_of(s, at), err);
	if (rc)
		return rc;
	rj_spool_took(s, seg->at.sequence, at, (uint32_t)seg->len);
	s->oldest = seg->at.oldest;
	return 0;
}

int rj_spool_append_again(struct rj_spool *s, const struct rj_log_sealed *seg,
	struct rj_error *err)
{
	uint64_t room = rj_spool_record_room(seg->len);
	struct rj_spool_place at;
	struct rj_buf bytes = {0};
	int rc;

	if (s->last != seg->at.sequence ||
		!rj_spool_find(s, s->last, &at))
		return rj_fail(err, RJ_E_INVAL,
			"%s: segment %llu is not the last one", s->bio->name,
			(unsigned long long)seg->at.sequence);
	rc = rj_spool_fetch(s, &at, &bytes, err);
	if (!rc && (bytes.len != seg->len ||
			   memcmp(bytes.data, seg->bytes, seg->len)))
		rc = rj_fail(err, RJ_E_CORRUPT,
			"%s: segment %llu is another one than was sealed",
			s->bio->name, (unsigned long long)at.sequence);
	if (!rc && !write_buffer(s, room))
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	rj_buf_free(&bytes);
	if (rc)
		return rc;
	encode_record(s, seg, at.position, room);
	return durable(
		s->bio, s->out, room, rj_spool_place_of(s, at.position), err);
}

void rj_spool_took(
	struct rj_spool *s, uint64_t sequence, uint64_t position, uint32_t bytes)
{
	uint64_t end = position + rj_spool_record_room(bytes);

	*rj_spool_entry(s, sequence) = (struct rj_spool_entry){position, bytes};
	s->last = sequence;
	s->tail = end;
	s->backlog += bytes;
	/* what was written over can not be read any more */
	while (s->first < sequence &&
		rj_spool_entry(s, s->first)->position + s->h.area_bytes < end)
		s->first++;
}

void rj_spool_shipped(struct rj_spool *s, uint64_t sequence)
{
	while (s->next <= sequence && s->next <= s->last)
		s->backlog -= rj_spool_entry(s, s->next++)->bytes;
}

static int change_state(
	struct rj_spool *s, enum rj_spool_state state, struct rj_error *err)
{
	struct rj_spool_header h = s->h;

	h.state = state;
	h.next = s->next;
	h.position = keep_from(s);
	h.last = s->last;
	return advance(s, &h, err);
}

int rj_spool_idle(struct rj_spool *s, struct rj_error *err)
{
	return s->h.state == RJ_SPOOL_IDLE
		       ? 0
		       : change_state(s, RJ_SPOOL_IDLE, err);
}

int rj_spool_serve(struct rj_spool *s, uint64_t epoch, struct rj_error *err)
{
	struct rj_spool_header h = s->h;

	if (h.state != RJ_SPOOL_IDLE || h.epoch >= epoch)
		return 0;
	h.epoch = epoch;
	return advance(s, &h, err);
}

bool rj_spool_missed(const struct rj_spool *s, uint64_t epoch)
{
	return s->h.state == RJ_SPOOL_IDLE && s->h.epoch < epoch;
}

int rj_spool_give_up(struct rj_spool *s, struct rj_error *err)
{
	return change_state(s, RJ_SPOOL_GIVEN_UP, err);
}

bool rj_spool_find(const struct rj_spool *s, uint64_t sequence,
	struct rj_spool_place *out)
{
	const struct rj_spool_entry *e;

	if (sequence < s->first || sequence > s->last)
		return false;
	e = rj_spool_entry(s, sequence);
	*out = (struct rj_spool_place){
		.session = s->h.session,
		.sequence = sequence,
		.position = e->position,
		.bytes = e->bytes,
	};
	return true;
}

void rj_spool_close(struct rj_spool *s)
{
	if (!s)
		return;
	free(s->entries);
	free(s->out);
	free(s);
}
