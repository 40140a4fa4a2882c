// SPDX-License-Identifier: GPL-2.0-or-later
/* What two superblocks of one volume at one moment may differ in. */
#include <ext2fs/ext2_fs.h>
#include <stddef.h>
#include <string.h>

#include "blocks.h"

#define FIELD(name)                                       \
	{                                                 \
		offsetof(struct ext2_super_block, name),  \
			sizeof(((struct ext2_super_block *)0)->name) \
	}
/* the mark of a backup, and the extension: doc/superblock-extension.md */
#define EXTENSION {0x2DC, 0x3FC - 0x2DC}

static const struct {
	unsigned at, len;
} may_differ[] = {
	/* the kernel writes them without the log, at a mount, an unmount, or now and then */
	FIELD(s_free_blocks_count), FIELD(s_free_blocks_hi), FIELD(s_free_inodes_count),
	FIELD(s_mtime), FIELD(s_wtime), FIELD(s_mnt_count), FIELD(s_state),
	FIELD(s_last_mounted), FIELD(s_kbytes_written), FIELD(s_mount_opts),
	/* a restored volume's own */
	FIELD(s_uuid), FIELD(s_journal_uuid), FIELD(s_journal_dev), FIELD(s_feature_compat),
	FIELD(s_feature_incompat), FIELD(s_checksum_seed), FIELD(s_last_orphan),
	FIELD(s_checksum), EXTENSION,
};

int blocks_same_super(const uint8_t *a, const uint8_t *b, unsigned *at)
{
	uint8_t x[1024], y[1024];
	unsigned i;

	memcpy(x, a, sizeof(x));
	memcpy(y, b, sizeof(y));
	for (i = 0; i < sizeof(may_differ) / sizeof(may_differ[0]); i++) {
		memset(x + may_differ[i].at, 0, may_differ[i].len);
		memset(y + may_differ[i].at, 0, may_differ[i].len);
	}
	for (*at = 0; *at < sizeof(x); ++*at)
		if (x[*at] != y[*at])
			return 0;
	return 1;
}
