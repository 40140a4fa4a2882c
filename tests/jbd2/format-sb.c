// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * format-sb BLOCK_SIZE BLOCKS JOURNAL_UUID USER_UUID: a fresh external journal
 * superblock to stdout, for the shell tests.
 */
#include <stdio.h>
#include <stdlib.h>

#include "jbd2/jbd2.h"

int main(int argc, char **argv)
{
	uint8_t raw[RJ_JBD2_SB_BYTES], journal[RJ_UUID_BYTES],
		user[RJ_UUID_BYTES];

	if (argc != 5 || !rj_uuid_parse(argv[3], journal) ||
		!rj_uuid_parse(argv[4], user)) {
		fprintf(stderr, "usage: format-sb BLOCK_SIZE BLOCKS "
				"JOURNAL_UUID USER_UUID\n");
		return 2;
	}
	rj_jbd2_sb_format_external(raw, (uint32_t)strtoul(argv[1], NULL, 0),
		(uint32_t)strtoul(argv[2], NULL, 0), journal, user, 1);
	if (fwrite(raw, sizeof(raw), 1, stdout) != 1 || fflush(stdout))
		return 1;
	return 0;
}
