/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each volume (NAME/UUID) holds and does, and what that makes for the
 * accounts that have limits. In memory; a start counts what the store holds.
 */
#ifndef RJSERVER_USAGE_H
#define RJSERVER_USAGE_H

#include "accounts.h"
#include "store.h"

#define USAGE_SECONDS 10 /* of one sample of the rate */
#define USAGE_SAMPLES 60
#define USAGE_PEER    48

struct volume {
	char name[NAME_BYTES];
	uint8_t uuid[16];
	uint64_t bytes, objects; /* stored */
	uint64_t reserved_bytes, reserved_objects; /* of PUTs under way */
	/* since the server was started */
	uint64_t puts, put_bytes, last_commit_ns; /* real time; 0: none */
	uint64_t wait_ns;                         /* of the last commit */
	char last_peer[USAGE_PEER], last_account[NAME_BYTES];
	uint32_t rate[USAGE_SAMPLES]; /* bytes taken in; rate[at] is now */
	unsigned *owners;             /* accounts with limits, by place */
	unsigned owner_count;
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
/* The accounts are new, or others: count for them. U keeps the pointer. */
int usage_bind(struct usage *u, struct accounts *accounts, struct rj_error *err);

/* The volume of OKEY, made if missing; it stays. NULL: no memory. */
struct volume *usage_volume(struct usage *u, const struct okey *okey);
/* The same, or NULL if there is none. */
struct volume *usage_find(const struct usage *u, const struct okey *okey);
/* Does a PUT of LEN bytes to V keep X within its limits? RJ_E_NOSPACE. */
int usage_admit(const struct account *x, const struct volume *v, uint64_t len,
	struct rj_error *err);
/* A PUT of LEN bytes to V begins, or is over (whatever came of it). */
void usage_reserve(struct usage *u, struct volume *v, uint64_t len);
void usage_release(struct usage *u, struct volume *v, uint64_t len);
/* Call every USAGE_SECONDS: begin the next sample. */
void usage_tick(struct usage *u);

#endif
