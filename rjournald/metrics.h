/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Serve the page with metrics for Prometheus, on this machine only. */
#ifndef RJ_JOURNALD_METRICS_H
#define RJ_JOURNALD_METRICS_H

#include <stdbool.h>

#include "util/error.h"

#define RJ_METRICS_NONE "none" /* as an address: no page */

struct rj_daemon;

/*
 * Listen at ADDR: a path (of a unix socket, mode 0600; one without a listener
 * is replaced) or 127.0.0.1:PORT, [::1]:PORT, localhost:PORT. RJ_E_INVAL: none
 * of these, or not of this machine; RJ_E_BUSY, RJ_E_DENIED, RJ_E_IO.
 */
int rj_metrics_listen(const char *addr, int *fd, struct rj_error *err);
/* Check that ADDR is one of these. Opens no connection. */
bool rj_metrics_addr_valid(const char *addr);
/* Take one connection of LISTENER and answer it, whatever was asked. */
void rj_metrics_serve(const struct rj_daemon *d, int listener);

#endif
