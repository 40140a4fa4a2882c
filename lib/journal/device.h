/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An external journal device under a move. Private to lib/journal. */
#ifndef RJ_JOURNAL_DEVICE_H
#define RJ_JOURNAL_DEVICE_H

#include "jbd2/jbd2.h"
#include "journal/move.h"

struct rj_jdev {
	char *path;
	int fd;
	struct rj_bio *bio;
	uint32_t block_size;
	uint32_t number; /* as s_journal_dev */
	bool blank;	 /* nothing is on it; what follows is 0 */
	bool half_made;	 /* its UUID is there, the journal is not */
	uint8_t uuid[RJ_UUID_BYTES];
	struct rj_jbd2_sb sb;
};

/*
 * Open the device PATH for a volume of BLOCK_SIZE. WRITE: for itself alone.
 * A blank device is fine, anything but a journal or that is RJ_E_EXISTS.
 * RJ_E_BUSY. D is usable with rj_jdev_close() also after a failure.
 */
int rj_jdev_open(struct rj_jdev *d, const char *path, uint32_t block_size,
	bool write, const struct rj_move_opts *opts, struct rj_error *err);
/* Returns what close reports. */
int rj_jdev_close(struct rj_jdev *d, struct rj_error *err);

/* May VOLUME become its user, its only one? Its log must be empty. */
int rj_jdev_check_free(const struct rj_jdev *d,
	const uint8_t volume[RJ_UUID_BYTES], struct rj_error *err);
/* Is VOLUME a user of it, with an empty log? */
int rj_jdev_check_mine(const struct rj_jdev *d,
	const uint8_t volume[RJ_UUID_BYTES], struct rj_error *err);

/* Make a journal of the whole of a blank device, UUID, one user; flushed. */
int rj_jdev_format(struct rj_jdev *d, const uint8_t uuid[RJ_UUID_BYTES],
	const uint8_t user[RJ_UUID_BYTES], uint32_t fc_blocks,
	struct rj_error *err);
/* Take back rj_jdev_format(): the device is blank again; flushed. */
int rj_jdev_wipe(struct rj_jdev *d, struct rj_error *err);
/* Take OLD out of the users and put NEW in (each may be NULL); no other user is
 * touched. One write, flushed; none if nothing changes. */
int rj_jdev_change_user(struct rj_jdev *d, const uint8_t *old,
	const uint8_t *new, struct rj_error *err);
/* How many blocks of BLOCK_SIZE fit on it. */
uint32_t rj_jdev_space(const struct rj_jdev *d);

#endif
