// SPDX-License-Identifier: LGPL-2.1-or-later
/* Recognise by the primary superblock what a mount, and an unmount that failed, made of it. */
#include "ext4/mounted.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ext4/ext4-priv.h"
#include "os/fileio.h"

/* What direct I/O is aligned to, in memory and on any disk. */
#define UNIT 4096

int rj_super_open(const char *device)
{
	struct stat st;

	if (stat(device, &st))
		return -1;
	/* an image has no other cache than its own, which its loop device writes to */
	return open(device, O_RDONLY | O_CLOEXEC |
				    (S_ISBLK(st.st_mode) ? O_DIRECT : 0));
}

bool rj_super_read(int fd, uint8_t raw[RJ_RAW_SUPER_BYTES])
{
	_Alignas(UNIT) uint8_t unit[UNIT];

	if (rj_pread_all(fd, unit, sizeof(unit), 0, "", NULL))
		return false;
	memcpy(raw, unit + RJ_SUPER_OFFSET, RJ_SUPER_BYTES);
	return true;
}

/* s_kbytes_written and the times of mount and write are whatever they are, and so is the
 * checksum over them; ext4_update_super() in fs/ext4/super.c. */
static void take_clocks(uint8_t *raw, const uint8_t *from)
{
	static const struct {
		size_t at, bytes;
	} fields[] = {
		{offsetof(struct ext2_super_block, s_mtime), 4},
		{offsetof(struct ext2_super_block, s_mtime_hi), 1},
		{offsetof(struct ext2_super_block, s_wtime), 4},
		{offsetof(struct ext2_super_block, s_wtime_hi), 1},
		{offsetof(struct ext2_super_block, s_kbytes_written), 8},
		{offsetof(struct ext2_super_block, s_checksum), 4},
	};
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		memcpy(raw + fields[i].at, from + fields[i].at, fields[i].bytes);
}

/* BEFORE after a mount and its unmount, with the clocks of NOW. False: BEFORE is not
 * clean. */
static bool mount_once(const uint8_t *before, const uint8_t *now, uint8_t *raw)
{
	struct rj_super_marks m;

	rj_super_marks(before, &m);
	memcpy(raw, before, RJ_SUPER_BYTES);
	take_clocks(raw, now);
	SB_PUT16(raw, s_mnt_count, (uint16_t)(m.mounts + 1));
	return m.clean;
}

bool rj_super_is_idle_mount_of(const uint8_t before[RJ_RAW_SUPER_BYTES],
	const uint8_t now[RJ_RAW_SUPER_BYTES])
{
	uint8_t raw[RJ_SUPER_BYTES];

	return mount_once(before, now, raw) && !memcmp(raw, now, sizeof(raw));
}

bool rj_super_is_mount_of(const uint8_t before[RJ_RAW_SUPER_BYTES],
	const uint8_t now[RJ_RAW_SUPER_BYTES])
{
	uint8_t raw[RJ_SUPER_BYTES];

	if (!mount_once(before, now, raw))
		return false;
	SB_PUT32(raw, s_feature_incompat,
		SB_LE32(raw, s_feature_incompat) |
			EXT3_FEATURE_INCOMPAT_RECOVER);
	if (SB_LE32(raw, s_feature_compat) & EXT4_FEATURE_COMPAT_ORPHAN_FILE)
		SB_PUT32(raw, s_feature_ro_compat,
			SB_LE32(raw, s_feature_ro_compat) |
				EXT4_FEATURE_RO_COMPAT_ORPHAN_PRESENT);
	return !memcmp(raw, now, sizeof(raw));
}

void rj_super_marks(const uint8_t raw[RJ_RAW_SUPER_BYTES],
	struct rj_super_marks *out)
{
	out->mounts = SB_LE16(raw, s_mnt_count);
	out->checked = SB_LE32(raw, s_lastcheck);
	out->mounted = SB_LE32(raw, s_mtime);
	out->clean = SB_LE16(raw, s_magic) == EXT2_SUPER_MAGIC &&
		     SB_LE16(raw, s_state) == EXT2_VALID_FS &&
		     !(SB_LE32(raw, s_feature_incompat) &
			     EXT3_FEATURE_INCOMPAT_RECOVER);
}

/*
 * Recognise an unmount that could not empty the journal. ext4_put_super() then calls
 * ext4_abort() and clears needs_recovery in spite of that, on the kernels between
 * "don't set SB_RDONLY after filesystem errors" (6.12, and in stable series from
 * 5.15 on) and the emergency state (6.15). What it leaves: the error flag, its own
 * name and the time with the last error, and the superblock written at that time.
 */

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
