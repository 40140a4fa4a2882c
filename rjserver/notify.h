/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sd_notify(3): tell the service manager how we are. One datagram to the
 * socket named by $NOTIFY_SOCKET, as its manual page specifies; too little to
 * link libsystemd for.
 */
#ifndef RJSERVER_NOTIFY_H
#define RJSERVER_NOTIFY_H

#include <stdint.h>

/* STATE as "READY=1", lines joined with "\n". Without a manager nothing
 * happens; a datagram that is lost is no error of ours. */
void notify_send(const char *state);
/* "RELOADING=1" with the time that the manager wants beside it. */
void notify_reloading(void);
/* How often the manager wants "WATCHDOG=1", microseconds; 0: never. */
uint64_t notify_watchdog_us(void);

#endif
