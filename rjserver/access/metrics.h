/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Count requests and refusals, and print the counts for Prometheus (text format 0.0.4). */
#ifndef RJSERVER_METRICS_H
#define RJSERVER_METRICS_H

#include <stdint.h>

#include "rjserver/http/http.h"

enum refusal {
	REFUSED_NOBODY,  /* no credentials */
	REFUSED_UNKNOWN, /* unknown credentials */
	REFUSED_RIGHT,   /* an account without the right */
	REFUSED_VOLUME,  /* an account of other volumes */
	REFUSED_LIMIT,   /* an account's or a volume's limit */
	REFUSED_SPACE,   /* too little space left on the disk */
	REFUSED_KEPT,    /* too young to be deleted */
	REFUSED_TLS,     /* no handshake */
	REFUSALS,
};

#define METRICS_METHODS  (HTTP_METHOD_OTHER + 1)
#define METRICS_STATUSES 18
#define METRICS_BUCKETS  14 /* of commit times; the last has no upper end */

struct metrics {
	uint64_t requests[METRICS_METHODS][METRICS_STATUSES];
	uint64_t refused[REFUSALS];
	uint64_t in_bytes, out_bytes; /* bodies */
	uint64_t commits, commit_ns, bucket[METRICS_BUCKETS];
};

void metrics_request(struct metrics *m, enum http_method method, int status);
/* Count a stored PUT that took NS nanoseconds from its arrival to its answer. */
void metrics_commit(struct metrics *m, uint64_t ns);
/* Get the time in ns below which SHARE (of 1) of all commits were; 0: none yet. */
uint64_t metrics_quantile(const struct metrics *m, double share);
uint64_t metrics_refused(const struct metrics *m); /* all together */

/* Append all of M. Returns 0 or -RJ_E_NOMEM. */
int metrics_print(const struct metrics *m, struct rj_buf *out);
/* Append one series: its HELP and TYPE lines, and a first value without labels. */
int metrics_value(struct rj_buf *out, const char *name, const char *type,
	const char *help, uint64_t value);
int metrics_head(struct rj_buf *out, const char *name, const char *type,
	const char *help);

#endif
