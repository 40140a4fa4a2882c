/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Before the handlers: who asks, may they, and is there room? Nothing of the
 * store is looked at for somebody who may not. Counts and logs who is refused.
 */
#ifndef RJSERVER_GATE_H
#define RJSERVER_GATE_H

#include "accounts.h"
#include "http.h"
#include "metrics.h"
#include "settings.h"
#include "store.h"
#include "usage.h"

struct gate {
	struct store *store;
	const struct settings *set;
	bool open; /* no accounts: everybody may do all */
	struct account everybody;
	struct accounts accounts;
	struct usage usage;
	struct metrics metrics;
	int64_t started_ns; /* monotonic */
	/* what statvfs() said last, and when; free: with what the store has set
	 * aside */
	int64_t space_ns;
	uint64_t free_bytes, disk_bytes;
	/* refusals said in this stretch of time, and those only counted */
	int64_t said_since_ns;
	unsigned said, unsaid;
};

/* ACCOUNTS is taken over (and emptied). */
int gate_start(struct gate *g, struct store *store, const struct settings *set,
	struct accounts *accounts, struct rj_error *err);
/* Other accounts from now on; taken over, also when it fails. */
int gate_reload(struct gate *g, struct accounts *accounts, struct rj_error *err);
void gate_free(struct gate *g);

void gate_request(void *arg, const struct http_request *req); /* http_handler */
void gate_done(void *arg, void *tag, int status, uint64_t sent); /* http_done */
/* tls_refused_fn */
void gate_refused_tls(void *arg, const char *peer, const char *why);

/* The least free space that writes are taken with, bytes. */
uint64_t gate_min_free(const struct gate *g);
/* Look at the disk again, if the last look is old. */
void gate_look_at_disk(struct gate *g);

/* Say and count a refusal. WHO may be NULL. */
void gate_refuse(struct gate *g, enum refusal why, const char *peer,
	const char *who, const char *what);

#endif
