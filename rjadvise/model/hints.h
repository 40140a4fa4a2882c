/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings beside the journal's place and the data mode: what to do with each, and why. */
#ifndef RJADVISE_HINTS_H
#define RJADVISE_HINTS_H

#include "model.h"

#define HINTS_MAX 8

struct hint {
	const char *setting;
	char now[48];
	char advice[96];   /* "leave", or what to set */
	char because[200]; /* with the figure it rests on */
};

/* What the hints need beside the load. */
struct hint_facts {
	bool noatime, relatime;
	bool rotates; /* the volume's disk */
	double readahead_blocks;
	double transaction_blocks; /* the longest that the journal allows; NAN */
};

/* Fill OUT; returns how many. Pure. */
int hints_make(const struct load *l, const struct hint_facts *f, struct hint out[HINTS_MAX]);

/*
 * May --apply change the data mode? By the first of the COUNT ranked predictions P that
 * keep the journal where it is. Returns the words for "tune2fs -o", or NULL, with the reason
 * in WHY (SIZE bytes with the NUL), if nothing is to be changed or the figures leave doubts.
 */
const char *hints_apply(const struct load *l, const struct prediction *p, int count, char *why,
	unsigned size);

#endif
