/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Count what each volume (NAME/UUID) has stored and does, and the sums for the accounts
 * that have limits. In memory; a start counts what the store has.
 */
#ifndef RJSERVER_USAGE_H
#define RJSERVER_USAGE_H

#include "accounts.h"
#include "rjserver/store/store.h"

#define USAGE_SECONDS 10 /* of one sample of the rate */
#define USAGE_SAMPLES 60
#define USAGE_PEER    48

struct volume {
	char name[NAME_BYTES];
	uint8_t uuid[16];
	uint64_t bytes, objects; /* stored */
	uint64_t stored; /* bytes of their records, which limits count */
	uint64_t reserved_stored, reserved_objects; /* of PUTs under way */
	/* stored below the disk's floor, by urgency, the TIMESth time that it is
	 * full (reserve.h) */
	uint64_t beyond[4];
	unsigned times;
	/* since the server was started */
	uint64_t puts, put_bytes, last_commit_ns; /* real time; 0: none */
	uint64_t wait_ns;                         /* of the last commit */
	char last_peer[USAGE_PEER], last_account[NAME_BYTES];
	/* For want of which space its last commit was refused: "disk", "volume", "account" (their
	 * limits); NULL: it was not. */
	const char *full;
	int64_t full_ns; /* monotonic: when */
	uint32_t rate[USAGE_SAMPLES]; /* bytes taken in; rate[at] is now */
	unsigned *owners;             /* accounts with limits, by place */
	unsigned owner_count, owner_space;
};

struct usage {
	struct volume **list; /* ascending by name and uuid */
	size_t count;
	struct accounts *accounts;
	unsigned at; /* of rate */
	uint64_t bytes, objects;
};

/* Count what STORE has, and follow its changes. */
int usage_start(struct usage *u, struct store *store, struct rj_error *err);
void usage_free(struct usage *u);
/* Reserve memory to count for the accounts A. On failure nothing has changed. */
int usage_prepare(
	struct usage *u, const struct accounts *a, struct rj_error *err);
/* Count for ACCOUNTS from now on, after usage_prepare(). U keeps the pointer. */
void usage_bind(struct usage *u, struct accounts *accounts);

/* Find the volume of OKEY, or make it; it stays while it has or reserves anything. NULL:
 * no memory. */
struct volume *usage_volume(struct usage *u, const struct okey *okey);
/* Find the volume of OKEY. NULL: there is none. */
struct volume *usage_find(const struct usage *u, const struct okey *okey);
/* Does V have objects, or PUTs under way? */
bool usage_has_objects(const struct volume *v);
/* Reserve STORED bytes for a PUT to V that begins, or release them when it is over,
 * however it ended; V may be freed then. */
void usage_reserve(struct usage *u, struct volume *v, uint64_t stored);
void usage_release(struct usage *u, struct volume *v, uint64_t stored);
/* Call every USAGE_SECONDS: begin the next sample. */
void usage_tick(struct usage *u);

#endif
