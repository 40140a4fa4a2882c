/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of lib/ext4 only. */
#ifndef RJ_EXT4_EXT4_PRIV_H
#define RJ_EXT4_EXT4_PRIV_H

#include <stddef.h>
#include <stdint.h>

#include <sys/types.h>
#include <linux/types.h> /* before ext2fs.h, which makes types of its own on ppc64el */
#include <ext2fs/ext2fs.h>

#include "ext4/volume.h"
#include "os/direct.h"
#include "util/bytes.h"

#define RJ_SUPER_BYTES  1024
#define RJ_SUPER_OFFSET 1024 /* of the primary, in bytes */

/* Fields of a raw superblock, by the names of ext2_fs.h. */
#define SB_AT(raw, field)       ((raw) + offsetof(struct ext2_super_block, field))
#define SB_LE16(raw, field)     rj_get_le16(SB_AT(raw, field))
#define SB_LE32(raw, field)     rj_get_le32(SB_AT(raw, field))
#define SB_PUT16(raw, field, v) rj_put_le16(SB_AT(raw, field), (v))
#define SB_PUT32(raw, field, v) rj_put_le32(SB_AT(raw, field), (v))

struct backup {
	uint32_t group;
	uint64_t offset; /* bytes */
};

struct rj_volume {
	struct rj_bio bio; /* first: rj_volume_bio() hands out its address */
	char *path;
	unsigned flags;
	int fd;
	struct rj_direct direct; /* the same file */
	bool dirty; /* written since the last flush */
	const struct rj_bio_tap *tap; /* sees all writes; may be NULL */
	struct rj_volume_facts facts;
	uint8_t super[RJ_SUPER_BYTES]; /* the primary, as read */
	struct backup *backups;        /* facts.backups of them */

	/* With an undo file all writes go through this channel. */
	io_channel undo;
	char *undo_path;
	int undo_fd;     /* the same file, for fsync */
	bool undo_used;  /* something was recorded */
	bool undo_fresh; /* the file was empty or not there before */
};

/* Fail with FMT and libext2fs's words for ERRCODE. Returns -CODE. */
int rj_ext4_fail(struct rj_error *err, enum rj_code code, long errcode,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Open the volume at NAME as ext2fs_open() does, by MANAGER: its channels have STATE as
 * private_data, and it has the functions below. They keep nothing back, so a flush does nothing. */
errcode_t rj_ext4_open_over(const char *name, int flags, struct struct_io_manager *manager,
	void *state, ext2_filsys *fs);
errcode_t rj_ext4_channel_open(const char *name, int flags, io_channel *channel);
errcode_t rj_ext4_channel_set_blksize(io_channel channel, int bytes);
errcode_t rj_ext4_channel_flush(io_channel channel);
errcode_t rj_ext4_channel_close(io_channel channel);

/* Is PATH mounted, swapped on or busy? RJ_E_BUSY, else 0. */
int rj_ext4_check_unused(const char *path, struct rj_error *err);
/* mounted.c: get facts.broken_unmount from RAW; and undo what that unmount wrote, as
 * far as it can be known (the caller seals RAW). */
uint64_t rj_ext4_broken_unmount(const uint8_t raw[RJ_SUPER_BYTES]);
void rj_ext4_undo_unmount(uint8_t raw[RJ_SUPER_BYTES]);
/* Fill v->facts from v->super (backups excepted). */
void rj_ext4_facts_from_super(struct rj_volume *v);
bool rj_ext4_has_magic(const struct rj_volume *v);
/* Check that v->super can be used; v->facts are filled before. RJ_E_INVAL,
 * RJ_E_CORRUPT, RJ_E_UNSUPPORTED, as rj_volume_open(). */
int rj_ext4_check_super(const struct rj_volume *v, struct rj_error *err);
/*
 * Fill v->super, which has the damage of WHY, and v->facts from what is whole on the
 * device of DEVICE_BYTES bytes; facts.super tells from where. If that cannot be done,
 * return WHY's code, negated.
 */
int rj_ext4_salvage(struct rj_volume *v, uint64_t device_bytes,
	const struct rj_error *why);
/*
 * v->super looks good. If only its extension is lost, and a backup of the same
 * volume with the same journal has one, use the backup (RJ_SUPER_LOST).
 */
void rj_ext4_salvage_extension(struct rj_volume *v, uint64_t device_bytes);
/*
 * Check that v->super, which is good, is not older than v->backups
 * (RJ_SUPER_STALE). RJ_E_CORRUPT if it is, unless v->flags has RJ_VOLUME_FORCE, or
 * has RJ_VOLUME_SALVAGE and the backups name a remote journal: then a backup is used.
 */
int rj_ext4_check_age(struct rj_volume *v, struct rj_error *err);
/* Make RAW, a backup, a primary superblock. What backups do not have is not known, so
 * it gets needs_recovery. */
void rj_ext4_super_promote(uint8_t raw[RJ_SUPER_BYTES]);
/* Does GROUP, above 0, have a backup superblock, by RAW? */
bool rj_ext4_has_super(const uint8_t raw[RJ_SUPER_BYTES], uint32_t group);
/* Fill v->backups, facts.backups and facts.groups. */
int rj_ext4_find_backups(struct rj_volume *v, struct rj_error *err);
/* Fill facts.mark_at; v->backups are known. */
void rj_ext4_find_mark(struct rj_volume *v);
/* Recompute s_checksum where the features ask for one. */
void rj_ext4_super_seal(uint8_t raw[RJ_SUPER_BYTES]);
/* Is s_checksum right, or do the features ask for none? */
bool rj_ext4_super_sealed(const uint8_t raw[RJ_SUPER_BYTES]);

/* Put P's fields into the primary superblock RAW, and seal it. */
int rj_ext4_patch_super(struct rj_volume *v, uint8_t raw[RJ_SUPER_BYTES],
	const struct rj_volume_patch *p, struct rj_error *err);
/*
 * Make SUPER the superblock, except for the extension and the rest of the second
 * sector. Its journal, UUID and extension are written into the backups first, with a
 * flush if FLUSH_FIRST (something else was written before), then its first sector and
 * the checksum into the primary, in one write, and flushed. The primary's extension
 * must hold an intent, for a cut in between.
 */
int rj_ext4_install_super(struct rj_volume *v,
	const uint8_t super[RJ_SUPER_BYTES], bool flush_first,
	struct rj_error *err);

/* Set up v->bio over v->fd, and the undo channel if UNDO_FILE is given. */
int rj_ext4_io_open(
	struct rj_volume *v, const char *undo_file, struct rj_error *err);
/* Flush what is not flushed, and close the channel. Returns the first error. */
int rj_ext4_io_close(struct rj_volume *v, struct rj_error *err);

#endif
