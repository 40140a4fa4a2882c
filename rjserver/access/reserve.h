/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Divide the reserve of a full disk, or above a limit, among volumes and accounts, so that
 * logs can be trimmed and recovered.
 */
#ifndef RJSERVER_RESERVE_H
#define RJSERVER_RESERVE_H

#include "rjserver/access/usage.h"

/* What a PUT is for. */
enum urgency {
	URGENCY_NONE,
	URGENCY_PROGRESS, /* with it a log can be trimmed */
	URGENCY_BASE,	  /* a small one, which may end a recovery */
	URGENCY_CLAIM,	  /* an epoch or a fence: a recovery, a takeover */
};

struct taker;

/* Of the disk. All zero at first. */
struct reserve {
	bool full;	/* when the disk was looked at last */
	unsigned times; /* that it became full */
	struct taker *takers; /* since then */
	size_t count;
};

/* How much of a reserve of BYTES a PUT may use: the last quarter is only for
 * bases and claims, half of that only for claims. */
uint64_t reserve_share(enum urgency urgency, uint64_t bytes);

/* Note whether the disk is full. If it is not, forget all that was taken. */
void reserve_look(struct reserve *r, bool full);
/* May BYTES more of the disk's reserve, of which SHARE is for URGENCY, go to V,
 * and to WHO (an account, or the name of a volume that is for all clients)? */
bool reserve_allows(const struct reserve *r, const char *who,
	const struct volume *v, enum urgency urgency, uint64_t bytes,
	uint64_t share);
/* Take BYTES of the reserve; or give them back. */
void reserve_take(struct reserve *r, const char *who, struct volume *v,
	enum urgency urgency, uint64_t bytes);
void reserve_give(struct reserve *r, const char *who, struct volume *v,
	enum urgency urgency, uint64_t bytes);
void reserve_free(struct reserve *r);

#endif
