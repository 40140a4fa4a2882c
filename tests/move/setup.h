/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Volumes of every kind, journals in every place, and who moves them. */
#ifndef RJ_TEST_MOVE_SETUP_H
#define RJ_TEST_MOVE_SETUP_H

#include "world.h"

struct features {
	const char *name;
	const char *words; /* for mke2fs */
	uint32_t block_size;
	uint64_t blocks;
};
extern const struct features features[];
extern const unsigned features_count;

enum spot { SPOT_NONE, SPOT_INTERNAL, SPOT_DEVICE, SPOT_A, SPOT_B, SPOTS };
extern const char *const spot_names[SPOTS];

enum change { CHANGE_PLACE, CHANGE_SIZE, CHANGE_UUID };

struct move {
	const struct features *f;
	enum spot from, to; /* equal for CHANGE_SIZE and CHANGE_UUID */
	enum change change;
	const char *aged; /* a kind of tests/support/aged-volume; NULL: new */
};

/* Whether a move is one that TOOL has, and how it is done; each returns 0 or -1
 * with WHY. */
struct tool {
	const char *name;
	bool (*has)(const struct move *m);
	/* A volume with files in it and its journal at m->from; both disks. */
	int (*setup)(struct world *w, const struct move *m, char *why,
		size_t size);
	/* Do it, recorded into T (empty). */
	int (*run)(struct world *w, const struct move *m, struct trace *t,
		char *why, size_t size);
	/* After a cut: what an administrator is told to do; NULL: nothing. */
	int (*resume)(struct world *w, struct trace *t, char *why, size_t size);
};
extern const struct tool tool_ours, tool_tune2fs;

/* mke2fs with m's features and WORDS on the volume's file, with files in it. */
int setup_volume(struct world *w, const struct move *m, const char *words,
	char *why, size_t size);
/* Same randomness, and the same time, from here on. */
void setup_seed(unsigned long seed);

#endif
