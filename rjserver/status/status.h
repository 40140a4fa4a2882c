/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the server and its volumes are: for the page and "stats" as JSON, and
 * for Prometheus. X sees the volumes that it covers. */
#ifndef RJSERVER_STATUS_H
#define RJSERVER_STATUS_H

#include "rjserver/access/access.h"
#include "util/buf.h"

/* Each appends to OUT, and returns 0 or -RJ_E_NOMEM. */
int status_json(
	struct access_control *g, const struct account *x, struct rj_buf *out);
int status_metrics(
	struct access_control *g, const struct account *x, struct rj_buf *out);
/* The names alone, a line each, ascending; one that has several journals once. */
int status_names(
	struct access_control *g, const struct account *x, struct rj_buf *out);

#endif
