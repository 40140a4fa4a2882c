/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A rjournald --raw for as long as a tool needs the log of an XFS volume. */
#ifndef TOOLS_START_RAW_DAEMON_H
#define TOOLS_START_RAW_DAEMON_H

#include "util/error.h"
#include "util/uuid.h"

/*
 * Start rjournald --raw WORD... URL in the background (WORD: at most two options; NULL
 * ends them), and put the name of the log's block device into LOOP. What it says besides the
 * reason of a failure is shown. RJ_E_IO: it could not serve, with that reason.
 */
int raw_daemon_start(const char *const words[2], const char *url, char loop[64],
	struct rj_error *err);
/* Stop the daemon of the volume UUID, and wait until it has ended; DEVICE is for messages.
 * 0: it serves no more. RJ_E_BUSY: it still does, after two minutes. */
int raw_daemon_stop(const uint8_t uuid[RJ_UUID_BYTES], const char *device,
	struct rj_error *err);

#endif
