/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The index in memory: (name, journal, kind) -> objects, ascending by number
 * -> where their bytes are. Pointers to entries are valid until the next
 * insert or removal.
 */
#ifndef RJSERVER_STORE_INDEX_H
#define RJSERVER_STORE_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "store_record.h"

enum idx_state {
	IDX_LIVE,
	IDX_PENDING,  /* in the batch that is not on stable storage yet */
	IDX_DAMAGED,  /* named by a good header, but its bytes are wrong */
	IDX_DELETING, /* its tombstone is in the batch */
};

struct idx_entry {
	uint64_t number;
	uint64_t pos; /* of the record */
	uint32_t length;
	uint32_t body_crc;
	enum idx_state state;
};

struct index;

struct index *idx_new(void);
void idx_free(struct index *idx); /* NULL-safe */

struct idx_entry *idx_find(struct index *idx, const struct okey *okey);
/* A new entry, all zero but for its number. NULL: no memory, or exists. */
struct idx_entry *idx_insert(struct index *idx, const struct okey *okey);
void idx_remove(struct index *idx, const struct okey *okey);
/* The entries of OKEY's directory with a number below BELOW. */
struct idx_entry *idx_below(struct index *idx, const struct okey *okey,
	uint64_t below, size_t *count);
/* Remove those of them that are IDX_DELETING. */
void idx_remove_below(
	struct index *idx, const struct okey *okey, uint64_t below);

/* The entries of OKEY's directory with a number above AFTER. */
const struct idx_entry *idx_list(struct index *idx, const struct okey *okey,
	uint64_t after, size_t *count);

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
