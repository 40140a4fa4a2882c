// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The entries of one block of a directory. The blocks of an htree's index have one, unused, that
 * spans them (ext4_dir_entry_2 in dx_node); so has the tail with a checksum.
 */
#include "ext4/files/files-priv.h"

#include <stdlib.h>

#define HEAD	8u /* bytes of an entry before its name */
#define LONG_BS 65536u

/* As ext2fs_get_rec_len() */
static uint32_t entry_bytes(uint32_t bs, const uint8_t *p)
{
	uint32_t len = rj_get_le16(p + 4);

	if (bs < LONG_BS)
		return len;
	return len == LONG_BS - 1 || !len ? bs : (len & (LONG_BS - 4)) | (len & 3) << 16;
}

int rj_files_entries(struct rj_files *f, uint64_t block,
	int (*fn)(void *arg, uint32_t child, unsigned type, const char *text, size_t len,
		struct rj_error *err),
	void *arg, struct rj_error *err)
{
	uint32_t bs = f->fs->blocksize, at, len = 0;
	bool typed = ext2fs_has_feature_filetype(f->fs->super);
	uint8_t *data = malloc(bs), *p;
	int rc = data ? rj_files_block(f, block, data, err)
		      : rj_fail(err, RJ_E_NOMEM, "out of memory");

	for (at = 0; !rc && at < bs; at += len) {
		p = data + at;
		len = bs - at < HEAD ? 0 : entry_bytes(bs, p);
		if (len < HEAD || len % 4 || len > bs - at ||
			(rj_get_le32(p) && (p[6] > len - HEAD || !p[6])))
			rc = rj_fail(err, RJ_E_CORRUPT,
				"%s: block %llu of a directory is damaged at byte %u", f->bio->name,
				(unsigned long long)block, at);
		else if (rj_get_le32(p))
			rc = fn(arg, rj_get_le32(p), typed ? p[7] : EXT2_FT_UNKNOWN,
				(char *)p + HEAD, p[6], err);
	}
	free(data);
	return rc;
}
