/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Give up a store that is away while the machine shuts down. A process that waits for
 * the journal cannot be killed: systemd would wait for sessions and the unmount up to
 * its own limits, and then stop the network and the daemon.
 */
#ifndef RJ_JOURNALD_POWEROFF_H
#define RJ_JOURNALD_POWEROFF_H

#include <stdbool.h>
#include <stdint.h>

#include "rjournald/commit/pipeline.h"

/* How often to look, in ms. */
#define RJ_POWEROFF_TICK 2000

struct rj_poweroff {
	int64_t looked_ns;  /* when rj_poweroff_expired() looked last */
	int64_t asked_ns;   /* when systemd was asked last */
	int64_t down_ns;    /* the machine shuts down since; 0: it does not */
};

/* Is this a machine that systemd runs? */
bool rj_poweroff_known(void);
/*
 * Look whether the machine shuts down and a segment waits for the store URL, say
 * so on the console, and tell whether both have been so for SECONDS.
 */
bool rj_poweroff_expired(struct rj_poweroff *p,
	const struct rj_pipeline_stat *st, unsigned seconds, const char *device,
	const char *url);

#endif
