// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * put_super IMAGE [SECONDS]: what ext4_put_super() does at the end on kernels from
 * 6.12 to 6.14 (and 5.15, 6.1, 6.6 of then) although emptying the journal failed:
 * needs_recovery and orphan_present are cleared. Only with its own error noted, which
 * any kernel does. SECONDS: and it was so much earlier.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ext2fs/ext2_fs.h>

#include "util/bytes.h"
#include "util/crc32c.h"

#define BYTES 1024
#define AT(f)                                                                  \
	(raw + __builtin_offsetof(struct ext2_super_block, f))

static void earlier(uint8_t *at, uint32_t seconds)
{
	rj_put_le32(at, rj_get_le32(at) - seconds);
}

static int change(uint8_t raw[BYTES], uint32_t seconds)
{
	if (strcmp((char *)AT(s_last_error_func), "ext4_put_super") != 0)
		return 1;
	rj_put_le32(AT(s_feature_incompat),
		rj_get_le32(AT(s_feature_incompat)) &
			~(uint32_t)EXT3_FEATURE_INCOMPAT_RECOVER);
	rj_put_le32(AT(s_feature_ro_compat),
		rj_get_le32(AT(s_feature_ro_compat)) &
			~(uint32_t)EXT4_FEATURE_RO_COMPAT_ORPHAN_PRESENT);
	earlier(AT(s_last_error_time), seconds);
	earlier(AT(s_wtime), seconds);
	earlier(AT(s_mtime), seconds);
	if (rj_get_le32(AT(s_feature_ro_compat)) &
		EXT4_FEATURE_RO_COMPAT_METADATA_CSUM)
		rj_put_le32(AT(s_checksum),
			rj_crc32c(~0u, raw,
				__builtin_offsetof(
					struct ext2_super_block, s_checksum)));
	return 0;
}

int main(int argc, char **argv)
{
	uint32_t seconds = argc > 2 ? (uint32_t)atoi(argv[2]) : 0;
	uint8_t raw[BYTES];
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CLOEXEC) : -1;

	if (fd < 0 || pread(fd, raw, BYTES, BYTES) != BYTES) {
		perror("put_super");
		return 1;
	}
	if (change(raw, seconds)) {
		fprintf(stderr, "put_super: the kernel noted no such error\n");
		return 1;
	}
	return pwrite(fd, raw, BYTES, BYTES) != BYTES || close(fd);
}
