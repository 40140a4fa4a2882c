/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records of a data file, as specified in doc/rjserver-storage.md. Each
 * record is header, body, padding, trailer; the trailer says the same as the
 * header, so that no single damaged byte can make a record nameless.
 * Pure: no I/O.
 */
#ifndef RJSERVER_RECORD_H
#define RJSERVER_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/object-key.h"

#define REC_HEAD_BYTES  192
#define REC_ALIGN       64   /* records start on this */
#define BATCH_ALIGN     4096 /* batches start on this */
#define RESERVE_ALIGN   512  /* in the part of a file kept for tombstones */
#define FILE_HEAD_BYTES 4096 /* the first record's offset */
#define FILE_HEAD_COPY  2048 /* offset of the second copy of the file header */
#define FILE_HEAD_USED  64
#define NAME_BYTES      64 /* a store's name, with the NUL */

enum rec_type {
	REC_OBJECT = 1,
	REC_TOMBSTONE = 2, /* the object of this key is deleted */
	REC_MARK = 3,      /* only carries the durable position */
	REC_BELOW = 4,     /* those of this directory below the number that
			    * have LEAST bytes are deleted */
	REC_DAMAGED = 5,   /* this object's bytes were damaged; it has none now */
};

#define REC_F_CLEAN 0x1 /* a mark: the server stopped in order here */

/* The full name of an object: /NAME/<uuid>/<kind>/<number>. */
struct okey {
	char name[NAME_BYTES];
	struct rj_key key;
};

struct rec {
	enum rec_type type;
	unsigned flags;
	uint32_t length; /* of the body, bytes */
	uint32_t body_crc;
	uint32_t least; /* REC_BELOW; REC_DAMAGED: bytes that the object had; else 0 */
	struct okey okey;
	uint64_t pos;  /* its own place: file << 32 | offset */
	uint64_t prev; /* place of the record before it; 0: it is the first */
	uint64_t durable; /* all before this place was on stable storage */
	uint64_t store_id;
	uint64_t time_ns;
};

static inline uint64_t pos_make(uint32_t file, uint64_t offset)
{
	return (uint64_t)file << 32 | offset;
}

static inline uint32_t pos_file(uint64_t pos)
{
	return (uint32_t)(pos >> 32);
}

static inline uint64_t pos_offset(uint64_t pos)
{
	return (uint32_t)pos;
}

static inline uint64_t align_up(uint64_t n, uint64_t align)
{
	return (n + align - 1) / align * align;
}

/* Offset of the trailer from the start of a record with LENGTH body bytes. */
static inline uint64_t rec_trailer_at(uint32_t length)
{
	return REC_HEAD_BYTES + align_up(length, REC_ALIGN);
}

/* All the bytes of a record; a multiple of REC_ALIGN. */
static inline uint64_t rec_total(uint32_t length)
{
	return rec_trailer_at(length) + REC_HEAD_BYTES;
}

/* For struct idx_entry: in seconds, 0 if they do not fit. */
static inline uint32_t rec_time_s(const struct rec *r)
{
	uint64_t s = r->time_ns / 1000000000;

	return s > UINT32_MAX ? 0 : (uint32_t)s;
}

void rec_encode(const struct rec *r, bool trailer, uint8_t raw[REC_HEAD_BYTES]);
/* False: not a header (or trailer) of the store STORE_ID, or damaged. */
bool rec_decode(const uint8_t raw[REC_HEAD_BYTES], bool trailer,
	uint64_t store_id, struct rec *out);

struct file_head {
	uint32_t number;
	uint64_t bytes; /* the size the file was given */
	uint64_t store_id;
	uint64_t time_ns;
};

/* RAW is the whole head: both copies are written, any good one is taken. */
void file_head_encode(const struct file_head *h, uint8_t raw[FILE_HEAD_BYTES]);
bool file_head_decode(const uint8_t raw[FILE_HEAD_BYTES], struct file_head *out,
	bool *copy_bad);

#endif
