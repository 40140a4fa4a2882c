/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The disks and stores that a move touches, as files of a scratch directory
 * (on a tmpfs, for speed), and what a power cut leaves of them.
 */
#ifndef RJ_TEST_MOVE_WORLD_H
#define RJ_TEST_MOVE_WORLD_H

#include <limits.h>
#include <stdbool.h>

#include "move/recorder/trace.h"

enum { VOLUME, DEVICE, DISKS }; /* the targets of the trace */

struct disk {
	char path[PATH_MAX];
	uint8_t *map;  /* the file itself */
	uint8_t *base; /* as it was before the move */
	uint64_t size; /* bytes */
};

struct range {
	uint32_t disk;
	uint64_t off, len;
};

struct world {
	char dir[PATH_MAX];
	struct disk disks[DISKS];
	char store[PATH_MAX];	/* directory of the stores "a" and "b" */
	struct trace objects;	/* before the move, as puts */
	bool store_touched;
	struct range *touched;	/* since the last reset */
	size_t touched_count, touched_room;
};

/*
 * One state that a power cut can leave: events 0 to CUT-1 of a trace happened.
 * TORN (not 0): of the last one, a write, only sectors of 512 bytes before
 * (positive) or from (negative) this one on. MISSING: this event, which was
 * never flushed, did not reach the disk; SIZE_MAX: none.
 */
struct state {
	size_t cut;
	long torn;
	size_t missing;
};

/* Make the directories below DIR, which is there. 0, or -1 with errno. */
int world_init(struct world *w, const char *dir);
/* A new file of SIZE bytes of zeroes (no less than before is kept). */
int world_disk(struct world *w, unsigned disk, uint64_t size);
/* What the disks and stores hold now is what world_reset() goes back to. */
int world_snapshot(struct world *w);
int world_reset(struct world *w);
/* The world is as after world_reset(): make it what S says of trace T. */
int world_apply(struct world *w, const struct trace *t, const struct state *s);
/* The stores' objects as they are now, as puts. */
int world_objects(struct world *w, struct trace *out);
/* Somebody did T to the world. */
int world_touched(struct world *w, const struct trace *t);
void world_free(struct world *w);

/*
 * All states of T in turn, from the cut before event FIRST on: each cut; with
 * the last write torn; with one unflushed earlier event missing. FN returns
 * non-zero to stop.
 */
int states_all(const struct trace *t, size_t first,
	int (*fn)(void *arg, const struct state *s), void *arg);

#endif
