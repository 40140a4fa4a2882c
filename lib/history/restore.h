/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A base and the log from there on become a new volume. */
#ifndef RJ_HISTORY_RESTORE_H
#define RJ_HISTORY_RESTORE_H

#include "history/base.h"
#include "journal/attach.h"
#include "recover/recover.h"

struct rj_restore_opts {
	const char *base; /* a file, or the URL of a store (history/download.h) */
	const char *out; /* as rj_base_create() takes it; NULL: only look */
	/*
	 * Instead of OUT: leave the base as it is, and write changed blocks into the empty file
	 * open as SCRATCH (history/overlay.h), or, of a base at a store, all of it. SERVE is called
	 * once when the log was applied, to show VOLUME as a device, for what is left to be done;
	 * VOLUME is freed afterwards, so another process has to serve it. NULL: OUT.
	 */
	int (*serve)(void *arg, struct rj_bio *volume, const char **device,
		struct rj_error *err);
	int scratch;
	const char *url; /* of the log's store; NULL: as the base says */
	const char *keyfile; /* NULL: rj.conf's */
	struct rj_moment at;
	bool until_break; /* as in rj_history_opts */
	enum rj_verify_level verify;
	/* The journal that the new volume gets. NULL: none. Not with SERVE. */
	const struct rj_journal_opts *journal;
	/* May be NULL. PASS is 1 (copy the base, bytes) or 2 (read the log,
	 * segments); non-zero cancels. */
	int (*progress)(void *arg, int pass, uint64_t done, uint64_t total);
	void *arg;
};

/*
 * Restore the volume as it was at opts->at. The new volume has a UUID of its own, and no
 * journal or the one of opts->journal, which is checked first. The log is only read. Until
 * the volume is whole OUT is marked as an unfinished base, so that no tool takes it for a
 * volume; after a failure there is no OUT, or on a device nothing that a tool takes; but if
 * only the journal cannot be given, OUT is the volume without one.
 * The base is locked, shared with other readers; with SERVE as long as a process serves it.
 * Errors as of rj_base_open(), rj_base_look(), rj_base_log_open(), rj_history_walk(),
 * rj_recover_settle(), rj_attach_check() and rj_move(). RJ_E_EXISTS: OUT is there.
 */
int rj_history_restore(const struct rj_restore_opts *opts,
	struct rj_base_facts *facts, struct rj_history_report *report,
	struct rj_error *err);

#endif
