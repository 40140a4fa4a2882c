/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The runtime directory: where a running rjournald is found. For each volume
 * served, <root>/<volume uuid>/ holds
 *   lock     write-locked (F_OFD_SETLK) as long as the daemon lives; its
 *            lines are the process id and the volume's device
 *   control  a UNIX stream socket: one line asks, the answer ends with EOF
 *   metrics  a UNIX stream socket: HTTP, with the metrics for Prometheus
 *   ublk     the number of the ublk device, if there is one
 *   mnt/     the FUSE mount with the file "journal"
 *   move, place, moved   of a log that is moved (rjournald/load/place.h)
 */
#ifndef RJ_OS_RUNDIR_H
#define RJ_OS_RUNDIR_H

#include <stdbool.h>
#include <stdint.h>

#include "util/buf.h"
#include "util/error.h"
#include "util/uuid.h"

#define RJ_RUNDIR_DEFAULT "/run/rjprogs"
#define RJ_STATE_DEFAULT   "/var/lib/rjprogs"
#define RJ_SERVE_RECOVER  4 /* exit status of rjournald: RJ_CAUSE_RECOVER */
#define RJ_SAVE_DIR_BYTES 119 /* of rjctl stop --save=: it is part of a log's URL */
#define RJ_RUNDIR_PATH    256 /* longest path made here, with the NUL */

/* $RJ_STATE, or the default: where journals are saved. */
const char *rj_state_dir(void);
/* Find the journal of the volume that was saved last below rj_state_dir(), into OUT. False: there
 * is none. It may be older than what the volume has. */
bool rj_saved_find(const uint8_t volume_uuid[RJ_UUID_BYTES], char out[RJ_SAVE_DIR_BYTES + 1]);
/* $RJ_RUN, or the default. */
const char *rj_rundir_root(void);
/*
 * <root>/<volume uuid>[/NAME] into OUT. NAME may be NULL. RJ_E_INVAL when
 * that is too long (a socket's path can have no more than 107 bytes).
 */
int rj_rundir_path(const uint8_t volume_uuid[RJ_UUID_BYTES], const char *name,
	char out[RJ_RUNDIR_PATH], struct rj_error *err);
/* Is a daemon alive for this volume? Where that cannot be told (no right to look), true. */
bool rj_rundir_served(const uint8_t volume_uuid[RJ_UUID_BYTES]);
/*
 * Is a daemon alive for the volume at DEVICE, whose UUID is UUID? Another program may have changed
 * that after the daemon began: FOUND (may be NULL, or UUID) gets the one by which the daemon is
 * found; UUID, if there is none.
 */
bool rj_rundir_of(const char *device, const uint8_t uuid[RJ_UUID_BYTES],
	uint8_t found[RJ_UUID_BYTES]);
/*
 * What the lock of a daemon that did not remove it says: PID, and the DEVICE that
 * it served. False: there is none, or it does not say both.
 */
bool rj_rundir_left(const uint8_t volume_uuid[RJ_UUID_BYTES], long *pid,
	char *device, size_t size);
/*
 * Send LINE (without a newline) to the daemon of this volume and append its
 * answer to OUT (a NUL follows, final newline removed). RJ_E_NOTFOUND: no
 * daemon serves the volume; RJ_E_UNREACHABLE: no whole answer within TIMEOUT_MS.
 */
int rj_rundir_ask(const uint8_t volume_uuid[RJ_UUID_BYTES], const char *line,
	int timeout_ms, struct rj_buf *out, struct rj_error *err);

#endif
