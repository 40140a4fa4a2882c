/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An ext2/3/4 volume: its facts, its superblock copies with our extension,
 * and its blocks. The only room that uses libext2fs.
 */
#ifndef RJ_EXT4_VOLUME_H
#define RJ_EXT4_VOLUME_H

#include <stdbool.h>
#include <stdint.h>

#include "format/sbx.h"
#include "os/bio.h"
#include "util/error.h"

#define RJ_VOLUME_WRITE 0x1 /* for writing; refused (RJ_E_BUSY) while mounted,
			     * swapped on, or open exclusively elsewhere */
#define RJ_VOLUME_FORCE 0x2 /* open although a superblock field looks wrong */
#define RJ_VOLUME_MMP	0x4 /* the feature mmp is no reason to refuse: the
			     * caller looks with rj_volume_check_mmp() */
#define RJ_VOLUME_SALVAGE 0x8 /* of a volume with a remote journal: open it
			       * although its primary superblock is damaged, if
			       * the backups tell enough; see facts.super */

struct rj_volume;

/* The state of the primary superblock, and so where the facts are from. */
enum rj_super_state {
	RJ_SUPER_GOOD = 0,
	RJ_SUPER_TORN, /* only its checksum is wrong: its extension is whole, and
			* the backup of group super_group (0: there is none)
			* says the same of all that never changes */
	RJ_SUPER_LOST, /* the backup of group super_group is used instead, with the
			* primary's extension if that is whole */
	RJ_SUPER_GONE, /* as LOST, and the primary has no magic number either: the
			* backup may be of an earlier volume on the device */
	RJ_SUPER_STALE, /* the primary is whole, but from before the journal's
			 * last move: the backup of group super_group, which is
			 * newer, is used instead, and sbx_error.msg tells how
			 * they differ. With RJ_VOLUME_FORCE alone the facts are
			 * the primary's nevertheless */
};

struct rj_volume_facts {
	uint8_t uuid[RJ_UUID_BYTES];
	uint32_t block_size; /* bytes */
	uint64_t blocks;
	uint64_t space; /* blocks that fit on its device: more than BLOCKS before a resize */
	uint32_t groups;
	char label[17];
	bool has_journal;    /* feature bit */
	bool needs_recovery; /* feature bit */
	bool orphan_file;    /* feature bit; valid only with a journal */
	bool orphans;	     /* there are inodes to be deleted or truncated */
	bool clean;	     /* s_state: cleanly unmounted, no error flag */
	bool has_errors;     /* s_state's error flag */
	/* When the kernel unmounted the volume last, could not empty the journal,
	 * and cleared needs_recovery in spite of that: seconds since 1970. 0: the
	 * superblock does not say so, or was written by something else since. */
	uint64_t broken_unmount;
	bool metadata_csum;
	bool sums_of_uuid;   /* metadata_csum, and its seed is the volume's UUID */
	bool ext4_features;  /* anything that makes it more than ext3: extents,
			      * 64bit, flex_bg, metadata_csum, ... */
	bool fast_commit;    /* feature bit */
	bool inline_data;    /* feature bit */
	bool mmp;	     /* feature bit; needs RJ_VOLUME_MMP */
	/* s_mkfs_time, seconds since 1970. 0: not known: it is before 2000, or the
	 * last mount was before it, so that one of the clocks was wrong, or the
	 * volume was never mounted */
	uint64_t born;
	/* Where the groups begin, and the first of their descriptors, which are
	 * in one piece unless META_BG. */
	uint32_t first_block, group_blocks;
	uint32_t cluster_bits; /* a cluster has 1 << this blocks */
	uint32_t desc_bytes;   /* of a group descriptor */
	uint64_t desc_block;
	bool meta_bg;
	uint32_t mount_opts; /* s_default_mount_opts, see rj_mount_opts_*() */
	uint32_t journal_inode;	 /* 0: none */
	uint32_t journal_device; /* s_journal_dev */
	uint8_t journal_uuid[RJ_UUID_BYTES]; /* s_journal_uuid */
	bool has_sbx;	 /* the extension is there and good */
	bool placed; /* it names where the log went after the primary superblock was written */
	struct rj_sbx sbx;
	struct rj_error sbx_error; /* why has_sbx is false; see RJ_SUPER_STALE */
	uint32_t backups; /* backup superblocks this volume has */
	/* Byte offset of the one with the mark (format/mark.h); 0: this volume
	 * can have none. A mark is read on every machine; see rj_volume_no_mark(). */
	uint64_t mark_at;
	uint64_t mark; /* the mark, of the present journal; 0: there is none */
	enum rj_super_state super; /* GOOD without RJ_VOLUME_SALVAGE */
	uint32_t super_group;
};

/*
 * Open PATH (block device or image file). UNDO_FILE (may be NULL; needs
 * RJ_VOLUME_WRITE): record the old contents of everything written through
 * this handle, as e2fsck -z does, for e2undo(8).
 * RJ_E_INVAL: not an ext2/3/4 filesystem (the message says what to try).
 * RJ_E_CORRUPT: its superblock is damaged or older than its
 * backups, or the device is shorter than the filesystem. RJ_E_UNSUPPORTED: features we do not know.
 */
int rj_volume_open(const char *path, unsigned flags, const char *undo_file,
	struct rj_volume **out, struct rj_error *err);
/* Read again after another program (e2fsck, replay) changed the volume. */
int rj_volume_reload(struct rj_volume *v, struct rj_error *err);
/* Close V, and return the error of the last writes or of close(); V is freed
 * in any case. NULL-safe (0). */
int rj_volume_close(struct rj_volume *v, struct rj_error *err);

const struct rj_volume_facts *rj_volume_facts(const struct rj_volume *v);
const char *rj_volume_path(const struct rj_volume *v);
/* Is RAW, from the log, a good primary superblock of V, by its checksum and by the
 * fields that never change? */
bool rj_volume_super_agrees(
	const struct rj_volume *v, const uint8_t raw[1024]);
/* Is RAW, from the log, of the same mount as V's superblock? */
bool rj_volume_super_of_mount(
	const struct rj_volume *v, const uint8_t raw[1024]);
/* Get the UUID of the volume from RAW, the 1024 bytes of a superblock: bytes of RAW. */
const uint8_t *rj_volume_super_uuid(const uint8_t *raw);
/* Get the bio over V's device, by byte offsets, to its last whole block. It belongs to V. */
struct rj_bio *rj_volume_bio(struct rj_volume *v);

/*
 * Write the mark (OLDEST 0: leave it as it is) and, where the log was moved while the volume was
 * mounted, its place as F has it, durably, through FD, open for reading and writing with O_DSYNC
 * (and perhaps O_DIRECT) on the volume that F is of; the volume may be mounted.
 * LOOK is a descriptor that reads through the page cache, where the kernel may have
 * a newer superblock that it has not written yet: then RJ_E_BUSY. A mark that is higher
 * than OLDEST and was put since F was read stays: that is no error. NAME is for
 * messages. RJ_E_UNSUPPORTED: this volume can have no mark. RJ_E_CORRUPT: in the
 * mark's place is no superblock of this volume. RJ_E_IO.
 */
int rj_volume_mark_put(int fd, int look, const char *name,
	const struct rj_volume_facts *f, uint64_t oldest, struct rj_error *err);
/*
 * Read the mark of the volume at PATH, that F is of, again into F: a writer on
 * another host that shares the disk may have raised it. The page cache, which may
 * have the older one, is bypassed. If that cannot be done, F stays as it is.
 */
void rj_volume_mark_again(const char *path, struct rj_volume_facts *f);
/* Why this machine raises no mark while F's volume is mounted, so that not every older copy of it
 * will be known: words that go on after a colon. NULL: it does. */
const char *rj_volume_no_mark(const struct rj_volume_facts *f);
/* Does the volume at PATH, that F is of, name the log's place as F has it? True also if that
 * cannot be read, or the log was not moved. */
bool rj_volume_names_place(const char *path, const struct rj_volume_facts *f);
/* Copy the mark of the volume that F is of, and the place of its log, into BLOCK, the block (of
 * 4096 bytes or more) at mark_at. BLOCK stays as it is if it has no superblock. */
void rj_volume_mark_copy(const struct rj_volume_facts *f, uint8_t *block);

/* Call TAP (NULL: none), which must outlive V, before every later write and flush; it
 * can refuse them. */
void rj_volume_set_tap(struct rj_volume *v, const struct rj_bio_tap *tap);

/*
 * What to change in the superblock: the fields after each set_* are used if that is
 * true. Every backup superblock is written first (one write of 1024 bytes each, then a
 * flush), the primary last, in one write of 1024 bytes with its checksum, then a
 * flush. The call increments generation.
 */
struct rj_volume_patch {
	bool set_sbx; /* backups get it without the intent of a move */
	struct rj_sbx sbx;
	bool set_journal; /* has_journal, s_journal_inum, _dev, _uuid */
	bool has_journal;
	uint32_t journal_inode;
	uint32_t journal_device;
	uint8_t journal_uuid[RJ_UUID_BYTES];
	bool set_needs_recovery;
	bool needs_recovery;
	bool set_error_flag; /* s_state's error flag: replayed s_errno */
	bool undo_unmount; /* undo what facts.broken_unmount tells: the note of an
			    * error, if it is the only one, and the clearing of
			    * orphan_present */
	bool set_free_counts; /* the primary's totals of free blocks and
			       * inodes, from the group descriptors: after a
			       * replay they are stale */
	bool set_mount_opts; /* s_default_mount_opts */
	uint32_t mount_opts;
	bool set_checksum_seed; /* s_checksum_seed from the UUID as it is: for
				 * a UUID that is about to change */
	bool clear_orphan_inode; /* s_orphan_file_inum 0, unless the feature
				  * is there */
	bool clear_orphan_present; /* the feature bit: the orphan file is empty */
	bool primary_only; /* leave the backups: for fields they need not carry,
			    * such as needs_recovery, epoch and floor */
};

int rj_volume_patch(struct rj_volume *v, const struct rj_volume_patch *p,
	struct rj_error *err);

/* Get ext2fs_default_journal_size() for this volume, in blocks; 0: the volume is too
 * small for a journal. */
uint32_t rj_volume_default_journal_blocks(const struct rj_volume *v);
/* Get that for a volume of VOLUME_BLOCKS blocks. */
uint32_t rj_journal_blocks_for(uint64_t volume_blocks);

/*
 * Change *BITS by default mount options in words, as tune2fs -o: comma separated, with
 * "^" before a word to clear it; the journal modes exclude each other. RJ_E_INVAL
 * names an unknown word.
 */
int rj_mount_opts_edit(
	uint32_t *bits, const char *words, struct rj_error *err);
/* Write the words for BITS into OUT, comma separated; returns OUT. */
const char *rj_mount_opts_text(uint32_t bits, char *out, size_t size);

/* What s_journal_dev says for a remote journal: major 0, a number that is never
 * a block device, and not 0, which tools read as "internal". */
#define RJ_JOURNAL_DEVICE_REMOTE 0x000000FFu

/*
 * Make the ext2 superblock of a journal *device* of BLOCKS blocks, for byte 1024 of
 * the device: what mke2fs -O journal_dev writes.
 */
void rj_journal_device_super(uint8_t raw[1024], uint32_t block_size,
	uint32_t blocks, const uint8_t journal_uuid[RJ_UUID_BYTES]);

#endif
