// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Recognise an unmount that could not empty the journal. ext4_put_super() then calls
 * ext4_abort() and clears needs_recovery in spite of that, on the kernels between
 * "don't set SB_RDONLY after filesystem errors" (6.12, and in stable series from
 * 5.15 on) and the emergency state (6.15). What it leaves: the error flag, its own
 * name and the time with the last error, and the superblock written at that time.
 */
#include "ext4/ext4-priv.h"

#include <string.h>

/* Between the note of the error and the last write of the superblock the kernel
 * frees what it has in memory, and waits for the note to be written. */
#define LAST_WRITE_S 2

#define TIME(raw, field)                                                       \
	((uint64_t)*SB_AT(raw, field##_hi) << 32 | SB_LE32(raw, field))

#define ERRORS_AT  offsetof(struct ext2_super_block, s_error_count)
#define ERRORS_END offsetof(struct ext2_super_block, s_mount_opts)

static bool noted(const uint8_t raw[RJ_SUPER_BYTES])
{
	return SB_LE16(raw, s_state) & EXT2_ERROR_FS &&
	       SB_LE32(raw, s_error_count) &&
	       !strncmp((const char *)SB_AT(raw, s_last_error_func),
		       "ext4_put_super",
		       sizeof(((struct ext2_super_block *)0)
				       ->s_last_error_func));
}

uint64_t rj_ext4_broken_unmount(const uint8_t raw[RJ_SUPER_BYTES])
{
	uint64_t at = TIME(raw, s_last_error_time);
	uint64_t written = TIME(raw, s_wtime);

	if (!noted(raw) ||
		SB_LE32(raw, s_feature_incompat) &
			EXT3_FEATURE_INCOMPAT_RECOVER ||
		!(SB_LE32(raw, s_feature_compat) &
			EXT3_FEATURE_COMPAT_HAS_JOURNAL))
		return 0;
	return at >= TIME(raw, s_mtime) && at <= written &&
			       written - at <= LAST_WRITE_S
		       ? at
		       : 0;
}

void rj_ext4_undo_unmount(uint8_t raw[RJ_SUPER_BYTES])
{
	if (SB_LE32(raw, s_feature_compat) & EXT4_FEATURE_COMPAT_ORPHAN_FILE)
		SB_PUT32(raw, s_feature_ro_compat,
			SB_LE32(raw, s_feature_ro_compat) |
				EXT4_FEATURE_RO_COMPAT_ORPHAN_PRESENT);
	/* replay may have brought a superblock from before the note */
	if (!noted(raw) || SB_LE32(raw, s_error_count) != 1)
		return;
	SB_PUT16(raw, s_state, SB_LE16(raw, s_state) & ~EXT2_ERROR_FS);
	memset(raw + ERRORS_AT, 0, ERRORS_END - ERRORS_AT);
	*SB_AT(raw, s_first_error_time_hi) = 0;
	*SB_AT(raw, s_last_error_time_hi) = 0;
	*SB_AT(raw, s_first_error_errcode) = 0;
	*SB_AT(raw, s_last_error_errcode) = 0;
}
