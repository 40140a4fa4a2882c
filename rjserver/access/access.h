/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Control access: accounts, the disk's free space, and the count and the log of
 * refusals.
 */
#ifndef RJSERVER_ACCESS_H
#define RJSERVER_ACCESS_H

#include "accounts.h"
#include "metrics.h"
#include "reserve.h"
#include "rjserver/settings.h"
#include "rjserver/store/store.h"
#include "usage.h"

struct access_control {
	struct store *store;
	const struct settings *set;
	bool open; /* no accounts: every client may do all */
	struct account everybody;
	struct accounts accounts;
	struct usage usage;
	struct metrics metrics;
	int64_t started_ns; /* monotonic */
	int64_t cert_until_s; /* when the server's certificate ends, since 1970; 0: none */
	/* what statvfs() said last, and when; free: with what the store has set
	 * aside */
	int64_t space_ns;
	uint64_t wanted; /* bytes of the last object that the disk had no space for */
	uint64_t free_bytes, disk_bytes;
	struct reserve reserve; /* of the disk */
};

/* Set up G with ACCOUNTS, which is taken over (and emptied). */
int access_start(struct access_control *g, struct store *store,
	const struct settings *set, struct accounts *accounts,
	struct rj_error *err);
/* Use other accounts from now on, which are taken over (and emptied). On failure nothing
 * has changed. */
int access_reload(struct access_control *g, struct accounts *accounts, struct rj_error *err);
void access_free(struct access_control *g);

/* tls_refused_fn */
void access_refused_tls(void *arg, const char *peer, const char *why);

/* Get the free space in bytes below which writes are refused. */
uint64_t access_min_free(const struct access_control *g);
/* Look at the disk again, if the last look is old. */
void access_look_at_disk(struct access_control *g);

/* Log and count a refusal. WHO may be NULL. */
void access_refuse(struct access_control *g, enum refusal why, const char *peer,
	const char *who, const char *what);

#endif
