/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Find, read and check journals that are not remote: inode 8 of the volume, or a
 * journal device. */
#ifndef RJ_EXT4_JOURNAL_H
#define RJ_EXT4_JOURNAL_H

#include "ext4/volume.h"

/*
 * Make a bio over the volume's journal inode: byte 0 is the journal superblock.
 * Reads and writes go through V's own bio (and its undo file), so V must
 * outlive it; free it with rj_bio_free(). When the inode itself is damaged, the
 * copy of its block map in the superblock (s_jnl_blocks) is used, as e2fsck
 * does. RJ_E_CORRUPT: neither is usable, or a block lies outside the volume.
 */
int rj_volume_journal_bio(
	struct rj_volume *v, struct rj_bio **out, struct rj_error *err);

/*
 * Find the block device that holds the external journal of V: HINT (a path,
 * may be NULL), else as rj_journal_find(). *PATH gets its path, for free().
 * RJ_E_NOTFOUND names the UUID; RJ_E_REFUSED the two devices that have it.
 */
int rj_volume_find_journal(const struct rj_volume *v, const char *hint,
	char **path, struct rj_error *err);

/*
 * Find the device of journal UUID with BLOCK_SIZE: among HINTS (paths, also of
 * image files; NULL-terminated; may be NULL), else on every device of this machine, with
 * no cache file, last at s_journal_dev NUMBER (0: not known). *PATH gets its path, for free().
 * RJ_E_REFUSED: two devices have it, as after a snapshot, and no hint says which; a number
 * proves nothing, the copy may have it now. RJ_E_NOTFOUND.
 */
int rj_journal_find(const uint8_t uuid[RJ_UUID_BYTES], uint32_t block_size,
	uint32_t number, const char *const *hints, char **path,
	struct rj_error *err);

/* Does another block device use DEV, as a multipath uses its paths and a mirror its halves? */
bool rj_device_is_part(dev_t dev);
/*
 * Call FN with the path of each block device of this machine that holds a volume
 * of this UUID (there may be several: snapshots, the parts of a mirror). The devices
 * are read, not a cache file. If FN does not return 0, no more calls are made, and
 * that is returned.
 */
int rj_volume_each(const uint8_t uuid[RJ_UUID_BYTES],
	int (*fn)(void *arg, const char *path), void *arg);

/* Are the 1024 bytes at byte 1024 of a device, RAW, a journal device's ext2
 * superblock? UUID gets the journal's. */
bool rj_journal_device_uuid(
	const uint8_t raw[1024], uint8_t uuid[RJ_UUID_BYTES]);

/*
 * Check that the device or file FD holds no fallback file (doc/fallback.md), not even a damaged
 * one: it may have the only copy of acknowledged segments, and libblkid does not know it.
 * RJ_E_EXISTS tells PATH, the volume, and how to remove it. RJ_E_IO.
 */
int rj_check_no_fallback(int fd, const char *path, struct rj_error *err);

/* Does FD hold something that libblkid knows, and that is no ext2, ext3 or ext4 volume? WHAT, of
 * SIZE bytes, gets its name ("crypto_LUKS", "btrfs", "swap", ...). */
bool rj_device_other_format(int fd, char *what, size_t size);
/*
 * Check that FD holds nothing that libblkid knows, nor a fallback file. Other bytes may be there.
 * RJ_E_EXISTS tells PATH, what it is, and how to remove it. RJ_E_IO.
 */
int rj_check_blank(int fd, const char *path, struct rj_error *err);

/* Check that PATH is not mounted, swapped on or otherwise in use. RJ_E_BUSY says how
 * it is used. */
int rj_journal_device_unused(const char *path, struct rj_error *err);

/* Encode the device number DEV (st_rdev) for s_journal_dev, as new_encode_dev(). */
uint32_t rj_journal_device_number(uint64_t dev);

/* Check V's multi-mount protection. RJ_E_BUSY names the host that has V mounted, or
 * did not unmount it. 0 also for a volume without MMP. */
int rj_volume_check_mmp(struct rj_volume *v, struct rj_error *err);

/*
 * Check that the 1024 bytes at byte 1024 of a device, RAW, are the ext2
 * superblock of journal device JOURNAL_UUID with BLOCK_SIZE.
 * RJ_E_FOREIGN, RJ_E_CORRUPT; NAME is for the message.
 */
int rj_journal_device_check(const uint8_t raw[1024], uint32_t block_size,
	const uint8_t journal_uuid[RJ_UUID_BYTES], const char *name,
	struct rj_error *err);

/*
 * Write LEN bytes (a multiple of 1024) at byte OFF (likewise) of journal
 * device PATH, their old contents recorded in UNDO_FILE for e2undo(8). Durable
 * when it returns 0. RJ_E_IO.
 */
int rj_journal_device_write_undo(const char *path, const char *undo_file,
	const void *data, uint32_t len, uint64_t off, struct rj_error *err);

#endif
