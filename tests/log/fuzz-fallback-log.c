// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target for rj_fallback_open(); built and run by scripts/fuzz. An
 * input is a fallback file without its padding: a byte that says how it is
 * dressed up, two headers, then pieces, each of which begins a block of the
 * area. bit 0: right checksums, owner and size in the headers bit 1: right
 * checksums in the records In what opens every record that is said to be there
 * can be read, one more can be kept after them, and all are found again.
 *
 * With $RJ_SEEDS set the program writes a few inputs to that directory instead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/fallback/fallback-log.h"
#include "util/bytes.h"
#include "util/crc32c.h"

#define HEADERS	   1
#define RECORDS	   2
#define PIECE	   448u /* a record's head, a segment's header, and a bit */
#define AREA_AT	   56
#define OWNER_AT   24
#define OWNER	   32
#define BYTES_AT   40
#define PAYLOAD_AT 44
/* the smallest segment */
#define SEGMENT	   (RJ_SEG_HEADER_BYTES + RJ_SEG_BODY_HEAD)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static void put_crc(uint8_t *p, size_t at)
{
	rj_put_le32(p + at, rj_crc32c(~0u, p, at));
}

static void dress_up(uint8_t mode, uint8_t *disk, size_t bytes)
{
	uint8_t *p;
	uint32_t len;
	int i;

	for (i = 0; i < 2 && mode & HEADERS; i++) {
		p = disk + (size_t)i * RJ_FALLBACK_ALIGN;
		memset(p + OWNER_AT, 0, OWNER);
		rj_put_le64(p + AREA_AT, bytes - RJ_FALLBACK_AREA);
		put_crc(p, RJ_FALLBACK_HEADER_BYTES - 4);
	}
	for (p = disk + RJ_FALLBACK_AREA; p < disk + bytes && mode & RECORDS;
		p += RJ_FALLBACK_ALIGN) {
		len = rj_get_le32(p + BYTES_AT);
		if (len <= (size_t)(disk + bytes - p) - RJ_FALLBACK_RECORD_HEAD)
			rj_put_le32(p + PAYLOAD_AT,
				rj_crc32c(
					~0u, p + RJ_FALLBACK_RECORD_HEAD, len));
		put_crc(p, RJ_FALLBACK_RECORD_HEAD - 4);
	}
}

/* DATA with its padding; the caller frees it. */
static uint8_t *unfold(const uint8_t *data, size_t size, size_t *bytes)
{
	const size_t heads = 2 * RJ_FALLBACK_HEADER_BYTES;
	size_t pieces, i, len;
	uint8_t *disk;

	pieces = size > heads ? (size - heads + PIECE - 1) / PIECE : 0;
	*bytes = RJ_FALLBACK_AREA + pieces * RJ_FALLBACK_ALIGN;
	disk = calloc(1, *bytes);
	if (!disk)
		return NULL;
	for (i = 0; i < 2; i++) {
		len = size < RJ_FALLBACK_HEADER_BYTES ? size : RJ_FALLBACK_HEADER_BYTES;
		memcpy(disk + i * RJ_FALLBACK_ALIGN, data, len);
		data += len;
		size -= len;
	}
	for (i = 0; i < pieces; i++) {
		len = size < PIECE ? size : PIECE;
		memcpy(disk + RJ_FALLBACK_AREA + i * RJ_FALLBACK_ALIGN, data,
			len);
		data += len;
		size -= len;
	}
	return disk;
}

/* Can each record be read? */
static void read_all(
	const struct rj_fallback *s, const struct rj_fallback_facts *f)
{
	struct rj_fallback_place at;
	struct rj_buf buf = {0};
	uint64_t n, bytes = 0;

	if (f->last + 1 < f->next || f->first > f->last + 1 ||
		f->used > f->capacity)
		abort();
	for (n = f->next; n <= f->last && n; n++) {
		if (!rj_fallback_find(s, n, &at) ||
			rj_fallback_fetch(s, &at, &buf, NULL))
			abort();
		bytes += buf.len;
	}
	if (bytes != f->backlog)
		abort();
	rj_buf_free(&buf);
}

static struct rj_seghdr segment(uint64_t sequence, uint64_t epoch)
{
	return (struct rj_seghdr){
		.version = RJ_SEG_VERSION,
		.kind = RJ_SEG_FENCE,
		.flags = RJ_SEG_F_BREAK,
		.sequence = sequence,
		.epoch = epoch,
		.oldest = sequence,
		.stored_bytes = RJ_SEG_BODY_HEAD,
		.raw_bytes = RJ_SEG_BODY_HEAD,
	};
}

static void one_more(struct rj_bio *bio, const struct rj_log_id *id,
	struct rj_fallback *s, const struct rj_fallback_facts *f)
{
	uint8_t raw[SEGMENT] = {0};
	struct rj_seghdr h = segment(f->last + 1, f->epoch);
	struct rj_log_sealed seg = {.at = {.sequence = f->last + 1,
					    .epoch = f->epoch,
					    .oldest = f->last + 1},
		.bytes = raw, .len = sizeof(raw)};
	struct rj_fallback_facts now;
	struct rj_fallback *again;

	if (f->state != RJ_FALLBACK_LOCAL || !f->last ||
		f->last >= UINT64_MAX - 1)
		return;
	rj_seghdr_encode(&h, raw);
	if (rj_fallback_append(s, &seg, NULL))
		return; /* no room */
	if (rj_fallback_open(bio, id, &again, NULL))
		abort();
	rj_fallback_facts(again, &now);
	if (now.last != f->last + 1 || now.next != f->next)
		abort();
	read_all(again, &now);
	rj_fallback_close(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct rj_log_id id;
	struct rj_fallback_facts f;
	struct rj_fallback *s;
	struct rj_error err = {0};
	struct rj_bio *bio;
	uint8_t *disk;
	size_t bytes;

	if (!size)
		return 0;
	disk = unfold(data + 1, size - 1, &bytes);
	bio = disk ? rj_bio_new_mem(disk, bytes, "fuzzed") : NULL;
	if (!bio)
		abort();
	dress_up(data[0], disk, bytes);
	if (!rj_fallback_open(bio, &id, &s, &err)) {
		rj_fallback_facts(s, &f);
		read_all(s, &f);
		one_more(bio, &id, s, &f);
		rj_fallback_close(s);
	} else if (!err.msg[0]) {
		abort();
	}
	rj_bio_free(bio);
	free(disk);
	return 0;
}

#define SEED_PIECES 6

static void write_seed(
	const char *dir, const char *name, uint8_t mode, const uint8_t *disk)
{
	char path[512];
	FILE *f;
	int i;

	snprintf(path, sizeof(path), "%s/%s-%u", dir, name, mode);
	f = fopen(path, "w");
	if (!f || putc(mode, f) == EOF)
		exit(1);
	for (i = 0; i < 2 + SEED_PIECES; i++)
		if (fwrite(disk + (size_t)i * RJ_FALLBACK_ALIGN,
			    i < 2 ? RJ_FALLBACK_HEADER_BYTES : PIECE, 1,
			    f) != 1)
			exit(1);
	if (fclose(f))
		exit(1);
}

static void write_seeds(const char *dir)
{
	static uint8_t disk[RJ_FALLBACK_AREA + SEED_PIECES * RJ_FALLBACK_ALIGN];
	struct rj_fallback_header h = {
		.generation = 2,
		.state = RJ_FALLBACK_LOCAL,
		.area_bytes = SEED_PIECES * RJ_FALLBACK_ALIGN,
		.session = 7,
		.epoch = 3,
		.fence = 4,
		.from = 9,
		.next = 9,
	};
	struct rj_fallback_record rec = {
		.session = 7, .epoch = 3, .bytes = SEGMENT};
	struct rj_seghdr seg;
	uint8_t mode, *p;
	int i;

	for (i = 0; i < 3; i++) {
		p = disk + RJ_FALLBACK_AREA + (size_t)i * RJ_FALLBACK_ALIGN;
		rec.sequence = 9 + (uint64_t)i;
		seg = segment(rec.sequence, 3);
		rec.position = (uint64_t)i * RJ_FALLBACK_ALIGN;
		rj_seghdr_encode(&seg, p + RJ_FALLBACK_RECORD_HEAD);
		rec.payload = rj_crc32c(
			~0u, p + RJ_FALLBACK_RECORD_HEAD, rec.bytes);
		rj_fallback_record_encode(&rec, p);
	}
	rj_fallback_header_encode(&h, disk);
	h.generation++;
	h.last = 10;
	rj_fallback_header_encode(&h, disk + RJ_FALLBACK_ALIGN);
	for (mode = 0; mode < 4; mode++)
		write_seed(dir, "three", mode, disk);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *dir = getenv("RJ_SEEDS");

	if (dir) {
		write_seeds(dir);
		exit(0);
	}
	return 0;
}
