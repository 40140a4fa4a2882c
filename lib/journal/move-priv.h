/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the steps of one move share. Private to lib/journal. */
#ifndef RJ_JOURNAL_MOVE_PRIV_H
#define RJ_JOURNAL_MOVE_PRIV_H

#include "ext4/change/change.h"
#include "ext4/volume.h"
#include "journal/device.h"
#include "journal/move.h"
#include "log/log.h"
#include "log/sealing.h"
#include "verdict/verdict.h"

struct rj_move_ctx {
	const char *path;
	const struct rj_move_opts *opts;
	struct rj_move_report *report;
	struct rj_volume *v;
	struct rj_volume_facts f; /* at the start */
	enum rj_placement from, to;
	struct rj_sbx sbx; /* as it is to be while the move is under way */
	const uint8_t *uuid; /* the volume's at the end */
	bool changed;	     /* something was written */
	bool create;	     /* the new journal device was blank */
	/* old and new external journal */
	struct rj_jdev old_device, new_device;
	uint8_t new_journal[RJ_UUID_BYTES];
	/* remote */
	struct rj_store *old_store, *new_store;
	struct rj_log_writer *old_log, *new_log;
	struct rj_sbx seen; /* of the new store: probed, probed_day */
	bool leaves_clean; /* the old log, which is no longer needed */
	char other_host[RJ_LOG_OTHER_BYTES]; /* that wrote it; "": this one */
	struct rj_log_sealing old_sealing, new_sealing;
	uint32_t blocks, fc_blocks; /* of the new journal */
	struct rj_change *change;   /* NULL: superblocks alone change */
};

/* Tell the user a line, before the step that it describes. */
void rj_move_say(struct rj_move_ctx *m, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Set report->warning, unless it is set. */
void rj_move_warn(struct rj_move_ctx *m, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* inspect.c: the volume, and whether it may be moved at all */
/* Open the volume. RESUME: also with a wrong checksum, if the extension is whole and says
 * that a move is under way: a power cut tore that write. */
int rj_move_open(struct rj_move_ctx *m, bool resume, struct rj_error *err);
/*
 * Run STEPS on DEVICE, and close whatever they opened. ERR (may be NULL; never NULL in
 * STEPS) gets the first failure.
 */
int rj_move_run(const char *device, const struct rj_move_opts *opts,
	struct rj_move_report *report,
	int (*steps)(struct rj_move_ctx *m, struct rj_error *err),
	struct rj_error *err);
/* Refuse a volume that is in use, needs recovery, or has a move under way. */
int rj_move_check(struct rj_move_ctx *m, struct rj_error *err);
/* Find and judge the old journal. */
int rj_move_check_old(struct rj_move_ctx *m, struct rj_error *err);
/* Get the place of the volume's journal from its superblock. */
enum rj_placement rj_move_placement(const struct rj_volume_facts *f);
/* Fill in report->from and ->to. */
void rj_move_describe(struct rj_move_ctx *m);

/* target.c: check the new journal before anything is written. SAME: the volume has it
 * already. */
int rj_move_check_new(struct rj_move_ctx *m, bool *same, struct rj_error *err);
int rj_move_open_store(const struct rj_move_opts *opts, const char *url,
	struct rj_store **out, struct rj_error *err);

/* attach.c */
int rj_attach_open_store(const char *url, bool received_will_do,
	const struct rj_move_opts *opts, struct rj_store **out,
	struct rj_error *err);
/*
 * Claim the new log ID at STORE, and put an empty journal of BLOCKS blocks of BLOCK_SIZE
 * bytes into it. The caller frees OUT, also after a failure.
 */
int rj_attach_begin_log(struct rj_store *store, const struct rj_log_id *id,
	uint32_t block_size, uint32_t blocks, int retry_ms,
	struct rj_log_writer **out, struct rj_error *err);
/*
 * Try the things that a log needs of STORE, for the log of JOURNAL_UUID, which does not exist yet:
 * rj_store_probe_brief(). SEEN gets what the store was seen to do, and when. Before the volume is
 * changed.
 */
int rj_attach_try(struct rj_store *store, const uint8_t journal_uuid[RJ_UUID_BYTES],
	struct rj_sbx *seen, struct rj_error *err);
/* Check that the store answers, and accepts our credentials. Reads only. */
int rj_attach_probe(struct rj_store *store, struct rj_error *err);

/* say.c */
/* Refuse a volume whose journal is empty, and has an s_errno: a mount would note that in the
 * superblock and have the whole volume checked. RJ_E_REFUSED, and the report says recovery. */
int rj_move_noted_error(struct rj_move_ctx *m, struct rj_error *err);
/* Act on the verdict V about F: 0 if the journal may be taken from the volume; else a refusal, and
 * the report says whether a recovery, or giving the journal up, leads on. */
int rj_move_verdict(struct rj_move_ctx *m, const struct rj_verdict_facts *f,
	const struct rj_verdict *v, struct rj_error *err);
/* remote.c */
/* Is the old log there, whole, and with nothing to replay? */
int rj_move_check_log(struct rj_move_ctx *m, struct rj_error *err);
/* Shut out every other writer of the old log. */
int rj_move_close_log(struct rj_move_ctx *m, struct rj_error *err);
/* Make the new log, with an empty journal in it. */
int rj_move_make_log(struct rj_move_ctx *m, struct rj_error *err);
/* May the new log's fallback file be made? Changes nothing. */
int rj_move_check_fallback(const struct rj_move_ctx *m, bool switched,
	struct rj_error *err);
/* Make the new log's fallback file, if one is asked for. SWITCHED: the volume's log stays,
 * and only gets a file. */
int rj_move_make_fallback(struct rj_move_ctx *m, bool switched,
	struct rj_error *err);
/* Remove the fallback file that a move to a log had made before it was taken back. If it was
 * in the place of the old log's file, which was empty, M's extension says so. A failure is a
 * warning. */
void rj_move_unmake_fallback(struct rj_move_ctx *m);
/* Remove the old log's fallback file, unless the new log uses it. A failure is a warning. */
void rj_move_drop_fallback(struct rj_move_ctx *m);

/* intent.c */
/* Clear the remote log in S. */
void rj_move_forget_log(struct rj_sbx *s);
/* Set in S that the journal is at TO and that no move is under way. STAYS: it was not
 * moved there now; a remote one keeps its URL. */
void rj_move_settle(struct rj_sbx *s, enum rj_placement to, bool stays);
/* Set in S that the journal device UUID is to be released or, with RJ_MOVE_UUID, to be
 * given the new UUID of the volume. */
void rj_move_set_release(struct rj_sbx *s, enum rj_move_op op,
	const uint8_t uuid[RJ_UUID_BYTES]);
/* Make a journal UUID that no journal has, for the time while blocks of the volume change. */
void rj_move_lock_uuid(const struct rj_sbx *s, uint8_t out[RJ_UUID_BYTES]);
bool rj_move_locked(const struct rj_volume_facts *f);
/* Do the standard fields say what the move under way leads to? */
bool rj_move_switched(const struct rj_volume_facts *f);

/* resume.c */
/* Release the old journal device: remove this volume's entry alone. DONE is set unless
 * the device is not found. */
int rj_move_release(struct rj_move_ctx *m, struct rj_error *err);
/* Take the intent out of the extension: the last write of every move. */
int rj_move_clear_intent(struct rj_move_ctx *m, struct rj_error *err);

#endif
