/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Is what a power cut (and what came after) left exactly one of two? */
#ifndef RJ_TEST_MOVE_JUDGE_H
#define RJ_TEST_MOVE_JUDGE_H

#include "format/sbx.h"
#include "world.h"

struct look {
	enum rj_placement placement;
	uint32_t block_size;
	uint8_t volume_uuid[RJ_UUID_BYTES];
	uint8_t journal_uuid[RJ_UUID_BYTES];
	uint32_t journal_blocks; /* 0: no journal */
	uint32_t journal_device;
	char url[RJ_SBX_URL_BYTES];
	bool inflight; /* the extension holds an intent */
	uint32_t orphan_inode; /* of the orphan file; 0: none */
	bool device_user; /* the journal device has this volume as its user */
	uint64_t free_blocks;
	uint64_t hash; /* of all that counts: equal ones get one verdict */
};

struct judge {
	struct world *w;
	struct look old, new;
	uint64_t files; /* the hash that every state must have */
	bool own_checks_off; /* another tool's move: no remote, no extension */
	/* verdicts that were given, by look.hash */
	struct verdict {
		uint64_t hash;
		bool good;
	} *known;
	size_t known_count, known_room;
	unsigned long fsck_runs, mounts;
	unsigned mount_every; /* a kernel mount of every Nth new one; 0: none */
	char why[512];
};

/* What the volume says of itself. 0 or -1 with j->why. */
int judge_look(struct judge *j, struct look *out);
/* The volume as it is now must have the files of the first call; sets
 * j->files. */
int judge_files(struct judge *j);
/*
 * Is the world now exactly as before or after the move? Placement, UUIDs, size
 * and free blocks equal one of the two, nothing under way; e2fsck -fn finds
 * nothing; every file is as it was; the journal can be used. 0 or -1 with
 * j->why; *IS_NEW (may be NULL) says which.
 */
int judge_world(struct judge *j, bool *is_new);
/* The kernel mounts a copy, and reads all files. Needs root. 0 or -1 with
 * j->why. */
int judge_mount(struct judge *j, const struct look *look);
void judge_free(struct judge *j);

#endif
