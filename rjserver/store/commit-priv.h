/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What commit.c, commit-write.c and store-checkpoint.c share: the batch. */
#ifndef RJSERVER_COMMIT_PRIV_H
#define RJSERVER_COMMIT_PRIV_H

#include "commit.h"

#define BATCH_ITEMS 256
#define BATCH_BYTES (8u << 20) /* flush at once when this much has gathered */

struct item {
	struct rec rec;
	const void *body; /* NULL: none */
	uint8_t *frame; /* where its record is in a record_buffer; NULL: nowhere */
	uint64_t moved_from; /* not 0: it is a copy of the record there */
	commit_fn done;
	void *arg;
};

struct commit {
	struct store *s;
	commit_fill_fn fill;
	commit_wanted_fn wanted;
	void *wanted_arg;
	struct item *items;
	int count;
	uint64_t bytes; /* of the records gathered */
	bool has_object;
	int moved; /* how many items, the last ones, are copies */
};

/* Write the batch; SYNC: and make it durable. Sets s->end and s->last. */
int commit_write(struct commit *c, bool sync, struct rj_error *err);

#endif
