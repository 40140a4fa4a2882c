/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The note of a volume's last drill, and of the base that was made of it last:
 * drill_dir/<volume uuid>.json of this host, by rjbackup and mount.rj for rjctl. What is in it
 * is in rjbackup(8).
 */
#ifndef TOOLS_DRILL_NOTE_H
#define TOOLS_DRILL_NOTE_H

#include <json-c/json.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"
#include "util/uuid.h"

/* Times are since 1970; 0: never, or not known. */
struct drill_note {
	char base[PATH_MAX]; /* absolute: that was drilled, or made, last */
	char url[512];	     /* where its log was read last; "": nowhere yet */
	int64_t base_s;	     /* when rjbackup base made one last */
	int64_t attempt_s, success_s;
	char error[RJ_ERROR_BYTES]; /* of the last attempt; "": it succeeded */
	/* what the last success restored: */
	int64_t segment, commit_ns;
	int64_t earliest_ns, latest_ns; /* what could be restored, as far as it was read */
	int64_t rpo_ns, rto_ns;
	int64_t bytes;
	/* of the base that rjbackup base made last: */
	char own[PATH_MAX]; /* absolute, or URL#NUMBER; "": none was made */
	int64_t place_s;    /* it needs the log from about then on */
	int64_t hold, hold_s, until_s;  /* its last hold: number, made, until; 0: none */
	int64_t ended_s;    /* when its history was found to have ended; 0: it goes on, */
	char ended_why[RJ_ERROR_BYTES]; /* and why */
};

/*
 * Read the note of VOLUME. RJ_E_NOTFOUND: there is none; RJ_E_CORRUPT: it is not one of
 * ours; RJ_E_DENIED, RJ_E_IO, RJ_E_INVAL (rj.conf).
 */
int drill_note_load(const uint8_t volume[RJ_UUID_BYTES], struct drill_note *out,
	struct rj_error *err);
/* The volume whose note names BASE; false: none does. */
bool drill_note_find(const char *base, uint8_t volume[RJ_UUID_BYTES]);
/* The hold NUMBER is removed, or, if DRY_RUN, would be: forget it. BASE gets the base that was
 * made on this host and has it; false: none has. */
bool drill_note_forget_hold(uint64_t number, bool dry_run, char base[PATH_MAX]);
/*
 * Let CHANGE write into the note of VOLUME (all zero if there is none, or it is not one of
 * ours), and keep it durably; OUT (may be NULL) is what came of it. Waits for another
 * process that does so. RJ_E_IO, RJ_E_NOSPACE, ...
 */
int drill_note_change(const uint8_t volume[RJ_UUID_BYTES],
	void (*change)(void *arg, struct drill_note *n), void *arg, struct drill_note *out,
	struct rj_error *err);

/*
 * The history of the base that was made of VOLUME on this host has ended: note WHY, if there is
 * such a base, and that was not known. BASE gets its name then, and is "" else.
 */
int drill_note_end(const uint8_t volume[RJ_UUID_BYTES], const char *why, char base[PATH_MAX],
	struct rj_error *err);

/* N as an object, as it is kept; NULL: out of memory. */
struct json_object *drill_note_json(const struct drill_note *n);

#endif
