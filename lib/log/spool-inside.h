/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The fallback file's inside, shared by spool.c (writing) and spool-read.c
 * (opening and reading). */
#ifndef RJ_LOG_SPOOL_INSIDE_H
#define RJ_LOG_SPOOL_INSIDE_H

#include "log/spool.h"

struct rj_spool_entry {
	uint64_t position;
	uint32_t bytes;
};

struct rj_spool {
	struct rj_bio *bio;	  /* the caller's */
	struct rj_spool_header h; /* as on disk */
	bool unsure; /* a write of it failed: the disk may say otherwise */
	bool only_seen; /* it was read; who wrote it may have died before that
			 * was durable */
	/* Newer than that: */
	uint64_t next;	/* first segment that was not shipped */
	uint64_t last;	/* last record; next - 1 or more */
	uint64_t first; /* first record that was not written over */
	uint64_t tail;	/* position behind the last record */
	uint64_t oldest; /* of the last segment; 0: none */
	uint64_t backlog; /* bytes of next..last */
	/* Of segment n at n % entry_count: a record takes at least one block,
	 * so there are never more records than these. */
	struct rj_spool_entry *entries;
	uint64_t entry_count;
	uint8_t *out; /* what is being written, aligned */
	size_t out_bytes;
};

struct rj_spool_entry *rj_spool_entry(
	const struct rj_spool *s, uint64_t sequence);
/* The byte of the file at which POSITION is. */
uint64_t rj_spool_place_of(const struct rj_spool *s, uint64_t position);
/* Record SEQUENCE of BYTES is at POSITION, behind all others. */
void rj_spool_took(struct rj_spool *s, uint64_t sequence, uint64_t position,
	uint32_t bytes);

#endif
