/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The index in memory: (name, journal, kind) -> objects, ascending by number
 * -> where their bytes are. Pointers to entries are valid until the next
 * insert or removal.
 */
#ifndef RJSERVER_INDEX_H
#define RJSERVER_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "record.h"

enum idx_state {
	IDX_LIVE,
	IDX_PENDING,  /* in the batch that is not on stable storage yet */
	IDX_DAMAGED,  /* named by a good header, but its bytes are wrong */
	IDX_DELETING, /* its tombstone is in the batch */
};

struct idx_entry {
	uint64_t number;
	uint64_t pos; /* of the record */
	uint32_t length; /* of the object, also if its record has no bytes */
	uint32_t body_crc;
	enum idx_state state : 16;
	unsigned bare : 1; /* its record has no bytes: they were damaged */
	uint32_t time_s; /* when it was written; 0: only its record says */
};

/* Bytes of the record of E. */
static inline uint64_t idx_record(const struct idx_entry *e)
{
	return rec_total(e->bare ? 0 : e->length);
}

struct index;

struct index *idx_new(void);
void idx_free(struct index *idx); /* NULL-safe */

struct idx_entry *idx_find(struct index *idx, const struct okey *okey);
/* A new entry, all zero but for its number. NULL: no memory, or exists. */
struct idx_entry *idx_insert(struct index *idx, const struct okey *okey);
void idx_remove(struct index *idx, const struct okey *okey);
/* The first entry of OKEY's directory with a number above AFTER, and its last
 * one; NULL: there is none. */
struct idx_entry *idx_next(
	struct index *idx, const struct okey *okey, uint64_t after);
struct idx_entry *idx_last(struct index *idx, const struct okey *okey);
/* Remove those with a number below BELOW that are IDX_DELETING. */
void idx_remove_below(
	struct index *idx, const struct okey *okey, uint64_t below);

/* Each journal of NAME that has an object, ascending by uuid; FN returns
 * nonzero to stop. Returns that, or 0, or -RJ_E_NOMEM. */
int idx_journals(struct index *idx, const char *name,
	int (*fn)(void *arg, const uint8_t *uuid), void *arg);
/* Every entry, in no order. FN must not change the index. */
void idx_each(struct index *idx,
	void (*fn)(
		void *arg, const struct okey *okey, const struct idx_entry *e),
	void *arg);

#endif
