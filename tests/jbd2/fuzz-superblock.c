// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target: a journal superblock is decoded and emptied. The first
 * byte says whether its checksum is made right before.
 */
#include <stdlib.h>
#include <string.h>

#include "jbd2/jbd2.h"
#include "util/bytes.h"
#include "util/crc32c.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the scan relies on. */
static void check(const struct rj_jbd2_sb *s)
{
	if (s->block_size < 1024 || s->block_size > 65536 ||
		(s->block_size & (s->block_size - 1)))
		abort();
	if (!s->first || s->first >= s->last || s->last > s->maxlen)
		abort();
	if (s->start && (s->start < s->first || s->start >= s->last))
		abort();
	if (s->nr_users > 48 || s->version < 1 || s->version > 2)
		abort();
	if (s->version == 1 && (s->compat | s->incompat | s->num_fc_blocks))
		abort();
	if ((s->incompat & ~0x3Fu) || s->ro_compat)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t raw[RJ_JBD2_SB_BYTES] = {0}, was[RJ_JBD2_SB_BYTES];
	struct rj_error err = {0};
	struct rj_jbd2_sb sb, after;
	size_t n = size ? size - 1 : 0;

	if (!size)
		return 0;
	memcpy(raw, data + 1, n < sizeof(raw) ? n : sizeof(raw));
	if (data[0] & 1) {
		raw[0x50] = 4;
		rj_put_be32(raw + 0xFC, 0);
		rj_put_be32(raw + 0xFC, rj_crc32c(~0u, raw, sizeof(raw)));
	}
	memcpy(was, raw, sizeof(was));
	if (rj_jbd2_sb_decode(raw, &sb, &err)) {
		/* refused: with a reason, and never touched */
		if (!err.msg[0] || !rj_jbd2_sb_make_empty(raw, 5, &err) ||
			memcmp(raw, was, sizeof(raw)))
			abort();
		return 0;
	}
	check(&sb);
	if (rj_jbd2_sb_make_empty(raw, 0x89ABCDEF, &err) ||
		rj_jbd2_sb_decode(raw, &after, &err))
		abort();
	if (after.start || after.fs_errno || after.sequence != 0x89ABCDEF)
		abort();
	after.start = sb.start;
	after.fs_errno = sb.fs_errno;
	after.sequence = sb.sequence;
	if (after.maxlen != sb.maxlen || after.first != sb.first ||
		after.last != sb.last || after.head != sb.head ||
		after.incompat != sb.incompat || after.compat != sb.compat ||
		memcmp(after.users, sb.users, sizeof(sb.users)))
		abort();
	return 0;
}
