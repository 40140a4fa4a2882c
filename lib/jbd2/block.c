// SPDX-License-Identifier: LGPL-2.1-or-later
/* What one log block is. */
#include "jbd2/private.h"

bool rj_jbd2_block_header(
	const void *block, enum rj_jbd2_block_type *type, uint32_t *tid)
{
	const uint8_t *p = block;

	if (rj_get_be32(p) != RJ_JBD2_MAGIC)
		return false;
	*type = (enum rj_jbd2_block_type)rj_get_be32(p + 4);
	*tid = rj_get_be32(p + 8);
	return true;
}
