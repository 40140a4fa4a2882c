/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each volume (NAME/UUID) holds and does, and what that makes for the
 * accounts that have limits. In memory; a start counts what the store holds.
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

/* Count what STORE holds, and watch it from now on. */
int usage_start(struct usage *u, struct store *store, struct rj_error *err);
void usage_free(struct usage *u);
/* The accounts will be these: have memory for that. On failure all stays as it
 * was. */
int usage_prepare(
	struct usage *u, const struct accounts *a, struct rj_error *err);
/* They are, and usage_prepare() was called: count for them. U keeps the pointer. */
void usage_bind(struct usage *u, struct accounts *accounts);

/* The volume of OKEY, made if missing; it stays while it holds or reserves
 * anything. NULL: no memory. */
struct volume *usage_volume(struct usage *u, const struct okey *okey);
/* The same, or NULL if there is none. */
struct volume *usage_find(const struct usage *u, const struct okey *okey);
/* Does V hold anything, or will it? */
bool usage_has_objects(const struct volume *v);
/* A PUT of a record of STORED bytes to V begins, or is over (whatever came of
 * it); V may be gone then. */
void usage_reserve(struct usage *u, struct volume *v, uint64_t stored);
void usage_release(struct usage *u, struct volume *v, uint64_t stored);
/* Call every USAGE_SECONDS: begin the next sample. */
void usage_tick(struct usage *u);

#endif
