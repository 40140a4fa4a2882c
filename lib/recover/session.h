/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the steps of one recovery share. Private to lib/recover. */
#ifndef RJ_RECOVER_SESSION_H
#define RJ_RECOVER_SESSION_H

#include "ext4/change/orphans.h"
#include "ext4/volume.h"
#include "log/fallback/fallback-log.h"
#include "log/floor/floor.h"
#include "log/floor/floor-all.h"
#include "log/ring.h"
#include "log/sealing.h"
#include "log/seen.h"
#include "recover/recover.h"

struct rj_recovery {
	const char *device;
	const struct rj_recover_opts *opts;
	struct rj_recover_report *report;
	struct rj_volume *volume; /* open for reading, or HELD, or NULL */
	bool held;	 /* it was opened for writing: see rj_recovery_hold() */
	struct rj_volume_facts facts;
	struct rj_verdict_facts volume_says; /* what the judge is to know of the volume */
	struct rj_verdict verdict; /* the last one: see judge.h */
	uint64_t said;	 /* the notes of the judge that the user has read */
	bool check_all;	 /* s_state is not clean, or is to be so: e2fsck -f afterwards */
	struct rj_log_id id; /* the volume's UUID is the one that the log has, rj_log_renamed() */
	/* remote: the store, and the log rebuilt in memory */
	struct rj_store *store;
	struct rj_log_sealing sealing;
	uint64_t memory; /* bytes, of rj_recovery_memory(); 0: not asked yet */
	struct rj_floors floors;
	struct rj_ring *ring;
	/* a log continued in a fallback file */
	struct rj_fallback_file fallback;
	struct rj_store *merged; /* shows both; NULL: the store has everything */
	bool alone;	 /* MERGED shows the file alone: the store is away */
	bool fallback_lost; /* what the file held, or may have, was given up */
	bool gave_up;	 /* the log's lost end was */
	/* Where the volume says that the log is; whether that place was asked, and the epoch in
	 * which a writer went on there after what was read; 0: none did. */
	char origin[RJ_SBX_URL_BYTES];
	bool origin_asked;
	uint64_t went_on;
	uint8_t last_nonce[RJ_SEG_NONCE_BYTES]; /* of the last segment that was read */
	bool forked;	 /* an older copy, into which a log was replayed that its volume left */
	/* external device */
	int device_fd; /* -1: not open */
	char *device_path;
	/* the log as one device; sb_block is its superblock's */
	struct rj_bio *log_bio;
	uint64_t sb_block;
	struct rj_log_writer *writer;
	struct rj_jbd2_plan *plan;
	bool orphans;	   /* the volume has some, see rj_recovery_orphans() */
	bool ring_changed; /* a segment with blocks came since the last scan */
	struct rj_log_seen seen; /* of what was applied to the ring */
	/* The primary superblock: as it was at first, and whether the transactions to be
	 * replayed have a copy that is the same; and as it was left. */
	bool found_logged;
	uint8_t found[1024], left[1024];
	bool proven; /* up to now a history can go on over this recovery */
};

/* nonremote.c: journals that are not remote */
/* Open the log. WRITE: for emptying it. For an internal journal VOLUME is the
 * handle that it is read through; the bio must go before it. */
int rj_recovery_open_nonremote(struct rj_recovery *r, struct rj_volume *volume,
	bool write, struct rj_error *err);
/* Returns what closing reports. */
int rj_recovery_close_nonremote(struct rj_recovery *r, struct rj_error *err);
/* Empty the log, and move its sequence past everything that was seen. */
int rj_recovery_empty_nonremote(struct rj_recovery *r, struct rj_error *err);
/* Copy a log that is to be given up into a file, and say where. */
int rj_recovery_save_nonremote(struct rj_recovery *r, struct rj_error *err);

/* floor.c: read which segment the log must reach, from the notes of this host and of
 * rj.conf's floor store; then from the fallback file, which is open. */
void rj_recovery_floors(struct rj_recovery *r);
void rj_recovery_floor_of_fallback(struct rj_recovery *r);
/* Get the epoch above which to claim: the volume's, or a later one that a floor has seen
 * which was given up. */
uint64_t rj_recovery_min_epoch(const struct rj_recovery *r);

#define RJ_KNOWN_END_BYTES 96
/* Write how far the log went at least, by all that was noted, into OUT: " (it reached segment ...)",
 * or "" if nothing is known; returns OUT. */
const char *rj_recovery_known_end(const struct rj_recovery *r, char out[RJ_KNOWN_END_BYTES]);

/* origin.c: set WENT_ON in F; it is said if the place that the volume names does not answer. */
void rj_recovery_find_origin(struct rj_recovery *r, struct rj_verdict_facts *f);

/* gather.c */
int rj_recovery_open_store(struct rj_recovery *r, struct rj_error *err);
/*
 * Read the log into r->ring. RESUME: continue after what was read. The
 * volume's own epoch decides how far back to go: see doc/recovery.md.
 */
int rj_recovery_gather(struct rj_recovery *r, bool resume,
	struct rj_error *err);
/* Scan r->log_bio into r->plan and check that the journal is this volume's. */
int rj_recovery_plan(struct rj_recovery *r, struct rj_error *err);
/*
 * fallback-file.c: bring what only the fallback file has to the store; if that is
 * away, or nothing may be changed, show both as one (r->merged).
 */
int rj_recovery_open_fallback(struct rj_recovery *r, struct rj_error *err);
/* Note in the file that the epoch is ours (r->writer), before the volume is marked. */
int rj_recovery_claimed(struct rj_recovery *r, struct rj_error *err);
/* The log was read, with RC: if from the file alone, turn a failure into that of the store
 * which is away. */
int rj_recovery_not_alone(struct rj_recovery *r, int rc, struct rj_error *err);
/* Get the number of the last segment in the file; 0: there is no file. */
uint64_t rj_recovery_file_last(const struct rj_recovery *r);
/* Empty the file at the end, when the volume says that the file is not needed. */
int rj_recovery_settle_fallback(struct rj_recovery *r, struct rj_error *err);
void rj_recovery_close_fallback(struct rj_recovery *r);
void rj_recovery_drop_ring(struct rj_recovery *r);

/* memory-limit.c: get the bytes of the log that may stay in memory: a quarter of what was
 * free at the first call (of the machine, and of the control groups), at most 2 GiB. */
uint64_t rj_recovery_memory(struct rj_recovery *r);

/* replay.c: open r->volume for writing, exclusively, with UNDO_FILE; from here on nothing else
 * mounts or recovers it. RJ_E_BUSY: since it was read something did. */
int rj_recovery_hold(struct rj_recovery *r, const char *undo_file, struct rj_error *err);
/* Replay into it, and close it. */
int rj_recovery_replay(struct rj_recovery *r, struct rj_error *err);
/* Put a base segment: the journal's superblocks as they are in the ring, emptied, and the
 * notes before them. */
int rj_recovery_put_emptied(struct rj_recovery *r, struct rj_error *err);

/* ---- crash-note.c: notes for a history; where they are not put, it ends ---- */

/* Keep the superblock of r->volume, which was opened and not changed. */
int rj_recovery_found(struct rj_recovery *r, struct rj_error *err);
/* For each copy of the superblock's block in the log: is it the one that was found? */
void rj_recovery_logged(void *arg, const uint8_t *block);
/* The volume is about to get the replay: is it as the crashed mount left it? Puts the note of
 * that into the ring. */
void rj_recovery_prove(struct rj_recovery *r);
/* The superblock of V was written, for the last time as far as is known; and is about to be
 * written again. */
void rj_recovery_left(struct rj_recovery *r, struct rj_volume *v);
void rj_recovery_leaves_again(struct rj_recovery *r, struct rj_volume *v);
/* Are the orphans to be left to the next mount, so that the log has what becomes of them? */
bool rj_recovery_leaves_orphans(struct rj_recovery *r);
/* Put the note of how the volume was left into the ring, for a last base segment. False: a
 * history does not go on. */
bool rj_recovery_note_end(struct rj_recovery *r);
/* A history cannot go on, because of WHY: say so, if there may be one. */
void rj_recovery_history_ends(struct rj_recovery *r, const char *why);

/* fsck.c: e2fsck, verified. CAUSE says why the log is not used. */
int rj_recovery_fsck(struct rj_recovery *r, const struct rj_error *cause,
	struct rj_error *err);
/* Run e2fsck -fy, and believe it only when e2fsck -fn then finds nothing. */
int rj_recovery_verified_e2fsck(struct rj_recovery *r, struct rj_error *err);
/* fsck-nonremote.c: the same for a journal that is not remote. */
int rj_recovery_fsck_nonremote(struct rj_recovery *r,
	const struct rj_error *cause, struct rj_error *err);
/* Give a volume that is wanted as it is another journal UUID, and a log of its own. */
int rj_recovery_part(struct rj_recovery *r, struct rj_error *err);
/* Give a volume whose log is void a new journal. */
int rj_recovery_renew_log(struct rj_recovery *r, struct rj_error *err);

/* check.c: look at the volume as opts->verify says; with check_all let e2fsck -p mend what
 * it can, and clear the error flag. */
int rj_recovery_check(struct rj_recovery *r, struct rj_error *err);
/* Why does s_state of the volume, as it was found, want a check of the whole volume? */
const char *rj_recovery_why_check(const struct rj_recovery *r);
/* It, or e2fsck, found damage: set the error flag, so that the next run knows. */
void rj_recovery_damaged(struct rj_recovery *r);
/* Patch the superblock, which is recorded in opts->undo_file, by a handle of its own. */
int rj_recovery_patch(
	struct rj_recovery *r, const struct rj_volume_patch *p, struct rj_error *err);
/*
 * Free the inodes that were deleted while open, and finish the truncates that the crash
 * cut off, as the kernel's recovery does: e2fsck -fn takes them for damage. HIDDEN as in
 * rj_volume_orphans(). The next mount does what fails here, but for a volume that is new.
 */
int rj_recovery_orphans(struct rj_recovery *r, struct rj_orphan_attrs *hidden,
	struct rj_error *err);
/* Run e2fsck with ARGS (NULL-terminated, at most 8) on the device with an
 * empty stand-in journal. STATUS gets its exit status. CAPTURE: its output
 * goes to rj_log() at level NOTICE instead of the terminal. */
int rj_recovery_e2fsck(struct rj_recovery *r, const char *const *args,
	bool capture, int *status, struct rj_error *err);
/* What the exit STATUS of COMMAND, an e2fsck that was to change nothing more, says of the
 * volume: RJ_E_CORRUPT if it found damage, RJ_E_IO if it could not look. */
int rj_recovery_judge(const struct rj_recovery *r, const char *command, int status,
	struct rj_error *err);

/* blkid-tab.c: a cache for libblkid that names a device with the journal's
 * UUID, $dir/tab. False if it cannot be made, then there is nothing to remove. */
struct rj_blkid_tab {
	char dir[128]; /* "" if there is none */
};
bool rj_blkid_tab_make(
	struct rj_blkid_tab *t, const uint8_t uuid[RJ_UUID_BYTES]);
void rj_blkid_tab_remove(struct rj_blkid_tab *t);

/*
 * Close a log that is not remote, then V, after work that ended with RC: the
 * first failure wins, and ERR (never NULL here) tells it. Returns it, or 0.
 */
int rj_recovery_close(struct rj_recovery *r, struct rj_volume *v, int rc,
	struct rj_error *err);

/* Tell the user a line, through opts->say. */
void rj_recovery_say(struct rj_recovery *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
