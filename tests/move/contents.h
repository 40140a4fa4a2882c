/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is in a volume, by libext2fs: an eye that is not the library's own. */
#ifndef RJ_TEST_MOVE_CONTENTS_H
#define RJ_TEST_MOVE_CONTENTS_H

#include <stddef.h>
#include <stdint.h>

struct contents {
	uint64_t used_hash; /* of all blocks that are in use */
	uint64_t free_blocks, free_inodes;
};

/* PATH is the volume, MAP the same in memory. 0 or -1 with WHY. */
int contents_used(const char *path, const uint8_t *map, struct contents *out,
	char *why, size_t size);
/* A hash over the name, mode, owner, times, size and bytes of every file below
 * the root, and how many there are. */
int contents_files(const char *path, uint64_t *hash, unsigned *count,
	char *why, size_t size);

uint64_t contents_hash(uint64_t hash, const void *data, size_t len);

#endif
