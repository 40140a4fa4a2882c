/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A base: make one of a volume, mounted or not, and look at one. */
#ifndef RJ_HISTORY_BASE_H
#define RJ_HISTORY_BASE_H

#include <stdbool.h>
#include <stdint.h>

#include "ext4/volume.h"
#include "format/hold.h"
#include "format/sbx-base.h"
#include "history/base/copy.h"
#include "history/history.h"
#include "log/sealing.h"

/* What a base says of itself. */
struct rj_base_facts {
	struct rj_base_record record;
	struct rj_sbx sbx; /* the volume's */
	uint8_t uuid[RJ_UUID_BYTES]; /* of the volume */
	uint32_t block_size; /* bytes */
	uint64_t blocks;     /* the volume's size */
	struct rj_hold hold; /* that rj_base_make() put; number 0: none */
	struct rj_copied copied; /* by rj_base_make() */
	uint64_t number; /* of a base at a store; 0: a file */
};

/* Where a restored volume says its journal is, until it has none: nowhere. */
#define RJ_BASE_NO_STORE "file:///nonexistent/restored"

/* RJ_E_INVAL: PATH is no base, or an unfinished one; RJ_E_CORRUPT; what rj_volume_open()
 * reports. */
int rj_base_look(
	const char *path, struct rj_base_facts *out, struct rj_error *err);

/* Does PATH name a store, and not a file? */
bool rj_base_is_url(const char *path);
/*
 * Make the file PATH of BYTES, all zeros, in its folder for certain; *FD is open for
 * reading and writing. RJ_E_EXISTS; the message says so when PATH was left by an
 * rjbackup that was stopped. If PATH is a block device: as rj_target_open().
 */
int rj_base_create(const char *path, uint64_t bytes, int *fd, struct rj_error *err);
/* Remove what was made at PATH; a device stays, and ERR says so. */
void rj_base_discard(const char *path, struct rj_error *err);
/*
 * Open the base PATH as *FD, the caller's, and lock it with flock(2): alone (WRITE), or shared
 * with other readers. The lock ends with the last descriptor that was duplicated from *FD,
 * also in another process. RJ_E_BUSY: another process has it, and kept it for 10 seconds.
 */
int rj_base_open(const char *path, bool write, int *fd, struct rj_error *err);

/* The store of a log, and the log. */
struct rj_base_log {
	struct rj_store *store;
	struct rj_log_sealing sealing;
	struct rj_log_id id;
};
/*
 * Open the log of F at URL (NULL: where the volume had it). KEYFILE as in
 * rj_log_sealing_load(). rj_base_log_close() in any case.
 */
int rj_base_log_open(const struct rj_base_facts *f, const char *url,
	const char *keyfile, struct rj_base_log *out, struct rj_error *err);
void rj_base_log_close(struct rj_base_log *l);
/* Ask the floors of F's volume what its log must reach, then rj_floors_check() with ADVICE. 0 of
 * a copy of the log at another URL, which ends earlier. */
int rj_base_log_check_end(const struct rj_base_facts *f, const struct rj_base_log *l,
	const char *advice, struct rj_error *err);

struct rj_base_opts {
	bool dry_run; /* only check */
	const char *keyfile; /* NULL: rj.conf's */
	/* Put a hold on the log for so long; 0: none, and "retain" keeps the log. A
	 * base that fails takes its hold away. */
	uint64_t hold_s;
	/* Wait until the store has all that was written to the volume up to now. */
	int (*shipped)(void *arg, const uint8_t volume[RJ_UUID_BYTES],
		struct rj_error *err);
	uint64_t rate; /* bytes read of the volume a second, at most; 0: no limit */
	/* May be NULL. PASS is 1 (copy the volume, bytes) or 2 (read the log, segments);
	 * non-zero cancels. */
	int (*progress)(void *arg, int pass, uint64_t done, uint64_t total);
	void *arg;
};

/*
 * Copy the volume GIVEN, as rj_source_open() takes it, into OUT, as rj_base_create() takes it,
 * or the URL of a store: while it is in use, or, if it is not mounted, with its device held
 * exclusively. FACTS and REPORT tell what was made: REPORT's moment is the
 * first one that can be restored. After a failure there is no OUT, or nothing
 * that looks like a base on it; at a store what is there is gone on with the next time.
 *
 * RJ_E_REFUSED: the volume is not one with a history (not data=journal, encryption, ...),
 * or the log is not kept, or the volume is not mounted and not as its last unmount, by the log,
 * left it; the message says what to do. RJ_E_EXISTS; RJ_E_BUSY.
 */
int rj_base_make(const char *given, const char *out,
	const struct rj_base_opts *opts, struct rj_base_facts *facts,
	struct rj_history_report *report, struct rj_error *err);

#endif
