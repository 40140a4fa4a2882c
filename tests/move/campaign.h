/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All states of one move, each judged. */
#ifndef RJ_TEST_MOVE_CAMPAIGN_H
#define RJ_TEST_MOVE_CAMPAIGN_H

#include "options.h"
#include "setup.h"

struct tally {
	unsigned long moves, writes, puts;
	unsigned long states, whole, torn, missing; /* tried; by kind */
	unsigned long twice;   /* of them cut a second time, in the resume */
	unsigned long as_is;   /* exactly old or new without a resume */
	unsigned long to_old, to_new; /* by a resume */
	unsigned long bad;
	unsigned long moved_again; /* after a roll back, and it worked */
	unsigned long distinct; /* worlds that e2fsck saw */
	unsigned long mounts;
};

void tally_add(struct tally *sum, const struct tally *t);
/* 0, or -1 with WHY: the move itself does not work. */
int campaign_move(struct world *w, const struct tool *tool,
	const struct move *m, const struct options *o, struct tally *t,
	char *why, size_t size);

#endif
