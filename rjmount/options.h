/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words that mount(8) and umount(8) give to their helpers. */
#ifndef RJ_MOUNT_OPTIONS_H
#define RJ_MOUNT_OPTIONS_H

#include <stdbool.h>

#include "util/buf.h"

/* Exit status, as mount(8). */
#define RJ_MOUNT_OK     0
#define RJ_MOUNT_USAGE  1
#define RJ_MOUNT_SYSTEM 2
#define RJ_MOUNT_FAILED 32

#define RJ_PASS_MAX 16

#define RJ_STOP_TIMEOUT_NAME "x-rj.stop-timeout"
#define RJ_STOP_TIMEOUT_WORD RJ_STOP_TIMEOUT_NAME "="
#define RJ_STOP_TIMEOUT_MAX  86400
#define RJ_METRICS_NAME      "x-rj.metrics"

struct rj_mount_options {
	const char *device, *dir;
	/* Given on to mount(8) or umount(8) as they are: -n, -s, -v, -N ns. */
	const char *pass[RJ_PASS_MAX];
	unsigned pass_count;
	bool fake, verbose;
	bool lazy; /* umount -l */
	/* The filesystem's own options, comma separated; helpers' words and
	 * logdev=URL taken out. */
	struct rj_buf words;
	struct rj_buf log_url; /* logdev=URL, of XFS; empty: not given */
	bool no_journal; /* noload or norecovery among them */
	bool read_only;	 /* ro among them, and no rw after it */
	bool remount;
	unsigned stop_timeout; /* x-rj.stop-timeout=, 0: not given */
	struct rj_buf metrics; /* x-rj.metrics=, text; empty: not given */
};

/* Parse the command line into O, for rj_mount_options_release(). Returns -1 to go on, else
 * the exit status: --help or -V was answered, or an error was printed. */
int rj_mount_options_parse(int argc, char **argv, struct rj_mount_options *out);
int rj_umount_options_parse(
	int argc, char **argv, struct rj_mount_options *out);
void rj_mount_options_release(struct rj_mount_options *o);

/*
 * Append the words of TEXT (as after -o) to O, without those that only
 * mount(8) and fstab(5) know: _netdev, x-*, auto, user, nofail, helper= ...
 * Keep the values of x-rj.stop-timeout=, x-rj.metrics= and logdev=URL.
 * 0, -RJ_E_NOMEM, or -RJ_E_INVAL: x-rj.stop-timeout= without a number.
 */
int rj_mount_words(struct rj_mount_options *o, const char *text);
/* Count the bytes of TEXT up to the next comma that is not in quotes, or to its end. */
size_t rj_mount_word_length(const char *text);
/* Take the x-rj.* words that were not given from the line of fstab for the device
 * and the mount point, of type rj: mount(8) does not give x-* words to helpers. As above. */
int rj_mount_fstab(struct rj_mount_options *o);

#endif
