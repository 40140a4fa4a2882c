// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The table of verdicts. Read it from the top: the first row whose MUST is all there, and whose
 * WITHOUT is not there at all, is the verdict. A row that goes on only because of a word that
 * the user typed (-y, -f, --accept-loss) is the row above it without that word.
 */
#include "verdict/verdict.h"

#define F(bit) RJ_FOUND(RJ_IS_##bit)
#define OLDER_COPY                                                                                \
	"replaying into an older copy of the volume (-f --accept-loss): the log at {log} begins with segment {first} of epoch {first_epoch}, and what this copy lacks below that is lost; run e2fsck -f"

static const struct rj_verdict_row rows[] = {
	/* ---- the volume alone ---- */
	{"move-cut", F(MOVE_CUT), 0, RJ_VERDICT_UNDER_WAY, RJ_E_REFUSED,
		"a move of the journal was cut off", {RJ_WAY_RESUME}},
	{"mismatch", F(MISMATCH), 0, RJ_VERDICT_FOREIGN, RJ_E_REFUSED,
		"the superblock and our extension name different journals; another tool changed one of them",
		{RJ_WAY_SEE}},
	{"super-put-back", F(STALE), F(YES_FORCE), RJ_VERDICT_SUPER, RJ_E_REFUSED,
		"an older superblock was put back: {why}", {RJ_WAY_YES_FORCE_BACKUP}},

	/* ---- an older copy, by the log ---- */
	{"file-short", F(READ) | F(FILE_SHORT), 0, RJ_VERDICT_WAIT, RJ_E_UNREACHABLE,
		"the store does not answer, and the log went on there after segment {file_last}, with which the fallback file {file} ends",
		{RJ_WAY_WAIT, RJ_WAY_LOSS_LOG}},
	{"went-on", F(READ) | F(WENT_ON), F(FORCE_LOSS), RJ_VERDICT_STALE, RJ_E_REFUSED,
		"the log that is read is not all there is: the volume names {origin}, and a writer went on there in epoch {origin_epoch}, after what is at {log}",
		{RJ_WAY_ORIGIN, RJ_WAY_OTHER_COPY, RJ_WAY_LOSS_REPLAY}},
	{"note-went-on", F(READ) | F(WENT_ON) | F(FORCE_LOSS), 0, RJ_VERDICT_NOTE, RJ_OK,
		"given up (-f --accept-loss): what a writer wrote to {origin}, which the volume names, in epoch {origin_epoch}, after what is at {log}; run e2fsck -f",
		{0}},
	{"clean-ahead", F(READ) | F(AHEAD), F(NEEDS) | F(BAD_SUPER) | F(FORCE_LOSS),
		RJ_VERDICT_STALE, RJ_E_REFUSED,
		"an older copy of the volume: it was left clean in epoch {epoch}, and another copy of it wrote the log at {log} on in epoch {newest_epoch}{who}",
		{RJ_WAY_OTHER_COPY, RJ_WAY_LOSS_PART}},
	{"clean-left", F(READ) | F(LEFT), F(WANTS_LOG) | F(BAD_SUPER) | F(FORCE_LOSS),
		RJ_VERDICT_STALE, RJ_E_REFUSED,
		"an older copy of the volume: it was left clean in epoch {epoch}, and in epoch {clean_epoch} the journal of another copy was taken from the log at {log}",
		{RJ_WAY_OTHER_COPY, RJ_WAY_LOSS_PART}},
	{"part", F(READ) | F(AHEAD) | F(FORCE_LOSS), F(NEEDS) | F(BAD_SUPER), RJ_VERDICT_PART,
		RJ_E_REFUSED, NULL, {0}},
	{"part-left", F(READ) | F(LEFT) | F(FORCE_LOSS), F(WANTS_LOG) | F(BAD_SUPER),
		RJ_VERDICT_PART, RJ_E_REFUSED, NULL, {0}},
	{"behind-mark", F(READ) | F(WANTS_LOG) | F(BEHIND_MARK), F(FORCE_LOSS),
		RJ_VERDICT_STALE, RJ_E_REFUSED,
		"an older copy of the volume: it has what stood in the log at {log} below segment {mark}, and the log now begins with segment {oldest}; what lies between is in the volume that this is a copy of",
		{RJ_WAY_COPY_AGAIN, RJ_WAY_LOSS_REPLAY}},
	{"overtaken", F(READ) | F(WANTS_LOG) | F(OVERTAKEN) | F(FORCE), F(FORCE_LOSS),
		RJ_VERDICT_STALE, RJ_E_REFUSED,
		"the log at {log} no longer holds what epoch {epoch} wrote, in which this copy of the volume was in use: it begins in epoch {first_epoch}; files that were fsynced then may be missing",
		{RJ_WAY_COPY_AGAIN, RJ_WAY_LOSS_REPLAY}},
	{"ahead-of-backup", F(READ) | F(WANTS_LOG) | F(AHEAD) | F(OLD_BACKUP), F(FORCE),
		RJ_VERDICT_SUPER, RJ_E_REFUSED,
		"superblock damaged, and its backup does not know who wrote the log at {log} last",
		{RJ_WAY_YES_FORCE_COPY}},
	{"left", F(READ) | F(WANTS_LOG) | F(LEFT), F(FORCE), RJ_VERDICT_STALE, RJ_E_REFUSED,
		"in epoch {clean_epoch} the journal of another copy of the volume was moved from the log at {log}, and this copy crashed before that, in epoch {epoch}",
		{RJ_WAY_OTHER_COPY, RJ_WAY_FORCE_COPY}},
	{"ahead", F(READ) | F(WANTS_LOG) | F(AHEAD), F(FORCE), RJ_VERDICT_STALE, RJ_E_REFUSED,
		"the log at {log} was written on in epoch {newest_epoch}, this copy of the volume was last marked in epoch {epoch}: an older copy (or rjournald served it without recovery)",
		{RJ_WAY_OTHER_COPY, RJ_WAY_FORCE_SERVED}},
	{"base-unseen", F(READ) | F(NEEDS) | F(EMPTY) | F(BASE_UNSEEN), 0, RJ_VERDICT_UNDER_WAY,
		RJ_E_REFUSED, "a recovery of this volume was not finished", {RJ_WAY_RECOVER}},

	/* ---- a volume whose UUID another program changed ---- */
	{"renamed-sums", F(READ) | F(WANTS_LOG) | F(RENAMED) | F(SUMS_OF_UUID), F(EMPTY),
		RJ_VERDICT_FOREIGN, RJ_E_REFUSED,
		"another program changed its UUID, which was {was}, while what is in the log at {log} was to be replayed, and the checksums of that are of the old UUID",
		{RJ_WAY_PUT_UUID}},
	{"note-renamed", F(READ) | F(RENAMED), 0, RJ_VERDICT_NOTE, RJ_OK,
		"another program changed the volume's UUID, which was {was}: the volume gets a log of its own, and the log at {log} stays as it is",
		{0}},

	/* ---- damage in the log ---- */
	{"damaged-end", F(READ) | F(DAMAGED_END), F(YES), RJ_VERDICT_DAMAGED, RJ_E_CORRUPT,
		"the journal at {log} is damaged: {why}; there is no commit in the damage or after it",
		{RJ_WAY_YES_END}},
	{"damaged", F(READ) | F(DAMAGED), 0, RJ_VERDICT_DAMAGED, RJ_E_CORRUPT,
		"the journal at {log} is damaged: {why}", {RJ_WAY_LOSS_LOG}},
	{"note-damaged-end", F(READ) | F(DAMAGED_END), 0, RJ_VERDICT_NOTE, RJ_OK,
		"the journal is damaged: {why}; there is no commit in the damage or after it, so what is before it is all there is to replay",
		{0}},

	/* ---- the superblock, when the log was read or will not be ---- */
	{"no-backup", F(LOG_CLOSED) | F(BAD_SUPER), F(LOGGED) | F(BACKUP), RJ_VERDICT_SUPER,
		RJ_E_REFUSED,
		"superblock damaged (wrong checksum), with no copy in the log and no backup",
		{RJ_WAY_PUT_SUPER}},
	{"backup-of-another", F(LOG_CLOSED) | F(GONE), F(YES_FORCE), RJ_VERDICT_SUPER,
		RJ_E_REFUSED, "superblock damaged, with no copy in the log",
		{RJ_WAY_YES_FORCE_BACKUP}},
	{"backup", F(LOG_CLOSED) | F(BAD_SUPER), F(LOGGED) | F(YES), RJ_VERDICT_SUPER,
		RJ_E_REFUSED, "superblock damaged, with no copy in the log", {RJ_WAY_YES_BACKUP}},
	{"note-logged", F(READ) | F(LOGGED), 0, RJ_VERDICT_NOTE, RJ_OK,
		"superblock damaged, as by a torn write; the log has a whole one", {0}},
	{"note-torn", F(LOG_CLOSED) | F(TORN), F(LOGGED), RJ_VERDICT_NOTE, RJ_OK,
		"superblock damaged, but all that never changes agrees with the backup of group {group}",
		{0}},
	{"note-put-back", F(LOG_CLOSED) | F(STALE), 0, RJ_VERDICT_NOTE, RJ_OK,
		"an older superblock was put back; the backup of group {group} is used", {0}},
	{"note-backup", F(LOG_CLOSED) | F(OLD_BACKUP), 0, RJ_VERDICT_NOTE, RJ_OK,
		"superblock damaged; restored from the backup of group {group}", {0}},

	/* ---- the log cannot be used ---- */
	{"again", F(UNREADABLE) | F(TAKEN), 0, RJ_VERDICT_WAIT, RJ_OK,
		"{why}", {RJ_WAY_AGAIN}},
	{"give-up", F(UNREADABLE) | F(GIVE_UP), 0, RJ_VERDICT_GIVE_UP, RJ_OK, NULL, {0}},
	{"void-away", F(UNREADABLE) | F(VOID) | F(AWAY), F(PENDING), RJ_VERDICT_WAIT, RJ_OK,
		"{why}", {RJ_WAY_WAIT}},
	{"void-unreadable", F(UNREADABLE) | F(VOID), 0, RJ_VERDICT_LOST, RJ_OK,
		"{why}", {RJ_WAY_YES_CHECK}},
	{"away", F(UNREADABLE) | F(AWAY), 0, RJ_VERDICT_WAIT, RJ_OK,
		"{why}", {RJ_WAY_WAIT, RJ_WAY_LOSS_LOG}},
	{"unknown", F(UNREADABLE) | F(UNKNOWN), 0, RJ_VERDICT_LOST, RJ_OK,
		"{why}", {RJ_WAY_KERNEL, RJ_WAY_LOSS_LOG}},
	{"damaged-end-unreadable", F(UNREADABLE) | F(DAMAGED_END), 0, RJ_VERDICT_DAMAGED, RJ_OK,
		"{why}", {RJ_WAY_YES_END}},
	{"unreadable", F(UNREADABLE), 0, RJ_VERDICT_LOST, RJ_OK,
		"{why}", {RJ_WAY_LOSS_LOG}},

	/* ---- a log that was given up ---- */
	{"check-pending", F(VOID) | F(PENDING), 0, RJ_VERDICT_LOST, RJ_E_CORRUPT,
		"its log was given up for a whole-volume check, and that check did not finish",
		{RJ_WAY_YES_CHECK}},
	{"void-written-on", F(VOID) | F(WRITTEN_ON), F(ACCEPT_LOSS), RJ_VERDICT_STALE,
		RJ_E_REFUSED,
		"this volume went on without its log in epoch {epoch}, and another host with the log at {log} in epoch {newest_epoch}",
		{RJ_WAY_OTHER_COPY, RJ_WAY_LOSS_VOID}},
	{"note-written-on", F(VOID) | F(WRITTEN_ON) | F(ACCEPT_LOSS), 0, RJ_VERDICT_NOTE, RJ_OK,
		"given up (--accept-loss): what another host wrote to the log at {log} in epoch {newest_epoch}, after this volume went on without its log in epoch {epoch}",
		{0}},
	{"void", F(VOID), 0, RJ_VERDICT_RENEW, RJ_E_REFUSED,
		"the remote log was given up for a check of the whole volume, and has not begun again",
		{RJ_WAY_RECOVER}},

	/* ---- a volume that says that it needs no recovery ---- */
	{"note-older", F(READ) | F(WANTS_LOG) | F(BEHIND_MARK) | F(FORCE_LOSS), 0,
		RJ_VERDICT_NOTE, RJ_OK, OLDER_COPY, {0}},
	{"note-overtaken", F(READ) | F(WANTS_LOG) | F(OVERTAKEN) | F(FORCE_LOSS), F(BEHIND_MARK),
		RJ_VERDICT_NOTE, RJ_OK, OLDER_COPY, {0}},
	{"unmount-failed", F(READ) | F(UNMOUNT_FAILED), F(NEEDS) | F(EMPTY) | F(MATCHED) | F(FORCE),
		RJ_VERDICT_UNDER_WAY, RJ_E_REFUSED,
		"the kernel could not empty the journal when it unmounted the volume",
		{RJ_WAY_PREEN}},
	{"clean-with-log", F(READ),
		F(EMPTY) | F(NEEDS) | F(FORCE) | F(SAME_UNMOUNT) | F(FALLBACK_LOST),
		RJ_VERDICT_UNSURE, RJ_E_REFUSED,
		"the volume says that it needs no recovery, but the log at {log} holds transactions{tids}: if this is an older copy of the volume, or another tool changed it since, they must not be replayed",
		{RJ_WAY_PUT_BACK, RJ_WAY_FORCE_UNMOUNT, RJ_WAY_LOSS_KEEP}},
	{"note-unmount", F(READ) | F(SAME_UNMOUNT), F(EMPTY) | F(FORCE), RJ_VERDICT_NOTE, RJ_OK,
		"the kernel could not empty the journal at the last unmount, but cleared needs_recovery: recovering as after a crash",
		{0}},
	{"part-fallback-lost", F(READ) | F(FALLBACK_LOST) | F(RENAMED),
		F(NEEDS) | F(SAME_UNMOUNT) | F(BAD_SUPER) | F(ERRNO), RJ_VERDICT_PART, RJ_E_REFUSED,
		NULL, {0}},
	{"fallback-lost", F(READ) | F(FALLBACK_LOST), F(NEEDS) | F(SAME_UNMOUNT),
		RJ_VERDICT_RENEW, RJ_OK, NULL, {0}},
	{"part-renamed", F(READ) | F(RENAMED) | F(EMPTY), F(NEEDS) | F(BAD_SUPER) | F(ERRNO),
		RJ_VERDICT_PART, RJ_E_REFUSED, NULL, {0}},
	{"part-forked", F(READ) | F(FORKED) | F(EMPTY), F(NEEDS) | F(BAD_SUPER) | F(ERRNO),
		RJ_VERDICT_PART, RJ_E_REFUSED, NULL, {0}},
	/* an error that the kernel noted in the journal goes into the volume, as at a mount */
	{"clean", F(READ) | F(EMPTY), F(NEEDS) | F(BAD_SUPER) | F(ERRNO), RJ_VERDICT_CLEAN, RJ_OK,
		NULL, {0}},

	/* ---- before the log was read: what the volume says ---- */
	{"unread-clean", 0, F(READ) | F(NEEDS) | F(UNMOUNT_FAILED) | F(BAD_SUPER) | F(UNCLEAN),
		RJ_VERDICT_CLEAN, RJ_OK, NULL, {0}},
	{"unread-unclean", F(UNCLEAN), F(READ) | F(NEEDS) | F(UNMOUNT_FAILED) | F(BAD_SUPER),
		RJ_VERDICT_CHECK, RJ_E_REFUSED, "not cleanly unmounted, or with errors",
		{RJ_WAY_PREEN}},
	{"replay", 0, 0, RJ_VERDICT_REPLAY, RJ_E_REFUSED,
		"its journal must be replayed first", {RJ_WAY_RECOVER}},
};

_Static_assert(sizeof(rows) / sizeof(rows[0]) <= 64, "struct rj_verdict has a bit for each row");

const struct rj_verdict_row *rj_verdict_rows(unsigned *count)
{
	*count = sizeof(rows) / sizeof(rows[0]);
	return rows;
}
