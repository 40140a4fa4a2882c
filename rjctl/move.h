/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Have a running rjournald move its volume's log: rjctl move, rjctl reseed. */
#ifndef RJCTL_MOVE_H
#define RJCTL_MOVE_H

#include "options.h"
#include "util/buf.h"
#include "util/error.h"
#include "util/uuid.h"

/*
 * Write into LINE what the rjournald of VOLUME is asked: the word of O's command, and O's URL; with
 * --all also the last part of the volume's own URL. An error: RJ_E_NOMEM, or of daemon_status().
 */
int move_request(const struct rj_ctl_options *o, const uint8_t volume[RJ_UUID_BYTES],
	struct rj_buf *line, struct rj_error *err);
/* Wait until the move that was asked for has ended. RJ_E_REFUSED: the log stays where it was; or as
 * daemon_status(). */
int move_wait(const uint8_t volume[RJ_UUID_BYTES], struct rj_error *err);

#endif
