/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Claim the runtime directory of a volume (os/rundir.h): one daemon serves it. */
#ifndef RJ_JOURNALD_RUNDIR_H
#define RJ_JOURNALD_RUNDIR_H

#include <sys/types.h>

#include "os/rundir.h"

struct rj_claimed_dir {
	int lock;
	char dir[RJ_RUNDIR_PATH], mnt[RJ_RUNDIR_PATH];
	char control[RJ_RUNDIR_PATH], metrics[RJ_RUNDIR_PATH];
	char lock_path[RJ_RUNDIR_PATH];
	char ublk[RJ_RUNDIR_PATH]; /* a file, with the number of the ublk device */
	uint64_t owner; /* of that device */
};

/*
 * Make the volume's runtime directory and take its lock; clear away what a
 * daemon that died left there (its FUSE mount or its ublk device, its sockets). PID is that of the
 * daemon, DEVICE has the volume (NULL: none has): for people and scripts, and
 * for rj_rundir_left(). RJ_E_BUSY: another daemon serves the volume.
 */
int rj_claim_dir(const uint8_t volume_uuid[RJ_UUID_BYTES], pid_t pid,
	const char *device, struct rj_claimed_dir *out, struct rj_error *err);
/* Name the directory that the worker before claimed; LOCK is its lock. */
int rj_claimed_dir_again(const uint8_t volume_uuid[RJ_UUID_BYTES], int lock,
	struct rj_claimed_dir *out, struct rj_error *err);
/* Note that the ublk device NUMBER is served, for the next rj_claim_dir(). RJ_E_IO. */
int rj_claimed_dir_note(
	const struct rj_claimed_dir *d, unsigned number, struct rj_error *err);
/* Remove the directory, and unlock it. */
void rj_release_dir(struct rj_claimed_dir *d);

#endif
