// SPDX-License-Identifier: LGPL-2.1-or-later
/* Say a verdict in words: the row's text with the facts in it, and the ways on. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "verdict/verdict.h"

static const char *const kinds[] = {
	[RJ_VERDICT_CLEAN] = "clean",
	[RJ_VERDICT_REPLAY] = "replay",
	[RJ_VERDICT_CHECK] = "check",
	[RJ_VERDICT_RENEW] = "renew",
	[RJ_VERDICT_PART] = "part",
	[RJ_VERDICT_GIVE_UP] = "give up",
	[RJ_VERDICT_UNDER_WAY] = "under way",
	[RJ_VERDICT_WAIT] = "wait",
	[RJ_VERDICT_SUPER] = "superblock",
	[RJ_VERDICT_STALE] = "stale",
	[RJ_VERDICT_UNSURE] = "unsure",
	[RJ_VERDICT_DAMAGED] = "damaged",
	[RJ_VERDICT_FOREIGN] = "foreign",
	[RJ_VERDICT_LOST] = "lost",
	[RJ_VERDICT_NOTE] = "note",
};

static const char *const found_names[] = {
	"move-cut", "mismatch", "needs", "unclean", "unmount-failed", "void", "pending", "torn",
	"lost", "gone", "stale", "sums-of-uuid", "markable", "backup", "unreadable", "away",
	"unknown", "read", "empty", "renamed", "damaged",
	"damaged-end", "errno", "logged", "matched", "same-unmount", "written-on",
	"alone", "fallback-lost", "went-on", "forked", "taken", "YES", "FORCE", "ACCEPT-LOSS", "UNATTENDED", "bad-super",
	"old-backup", "log-closed", "wants-log", "behind-mark", "overtaken", "ahead", "left",
	"base-unseen", "file-short", "YES-FORCE", "FORCE-LOSS", "GIVE-UP",
};

_Static_assert(sizeof(found_names) / sizeof(found_names[0]) == RJ_FOUND_COUNT, "a name for each bit");

static const char *const ways[RJ_WAY_COUNT] = {
	[RJ_WAY_AGAIN] = "run rjrecover again",
	[RJ_WAY_WAIT] = "try again when it is there",
	[RJ_WAY_RESUME] = "rjtune --resume finishes it, or takes it back",
	[RJ_WAY_RECOVER] = "run rjrecover first",
	[RJ_WAY_KERNEL] = "the kernel may know it: start rjournald on it, then mount -i -t ext4 -o journal_path= what that prints",
	[RJ_WAY_PREEN] = "run rjrecover -p first",
	[RJ_WAY_ORIGIN] = "recover from there, without --from or -J",
	[RJ_WAY_OTHER_COPY] = "use the copy that wrote last",
	[RJ_WAY_COPY_AGAIN] = "copy that again, whole, at one moment",
	[RJ_WAY_PUT_UUID] = "debugfs -w -n -R 'ssv uuid {was}' {device} gives it back; recover then, and change it with rjtune -U",
	[RJ_WAY_PUT_BACK] = "put the volume itself back",
	[RJ_WAY_PUT_SUPER] = "put back the volume's first 4096 bytes, or all of it, from elsewhere",
	[RJ_WAY_SEE] = "compare dumpe2fs -h with rjtune -l",
	[RJ_WAY_YES_END] = "rjrecover -y replays what is before it",
	[RJ_WAY_YES_CHECK] = "rjrecover -y checks the whole volume with e2fsck",
	[RJ_WAY_YES_BACKUP] = "rjrecover -y uses the backup of group {group}, replays the log and checks the whole volume with e2fsck",
	[RJ_WAY_YES_FORCE_BACKUP] = "rjrecover -y -f uses the backup of group {group}, replays the log and checks the whole volume with e2fsck",
	[RJ_WAY_YES_FORCE_COPY] = "if this is no older copy of the volume, rjrecover -y -f uses the backup of group {group}, replays the log and checks the whole volume with e2fsck",
	[RJ_WAY_FORCE_SERVED] = "if rjournald served it without recovery, rjrecover -f replays the log",
	[RJ_WAY_FORCE_COPY] = "rjrecover -f replays the log into an older copy of the whole volume, which gets a log of its own then; not if its superblock alone was put back, that would put old blocks over new ones",
	[RJ_WAY_FORCE_UNMOUNT] = "if its last unmount lost the journal (I/O errors of the journal device in the kernel's log then, nothing since), rjrecover -f replays them, and e2fsck -f checks the result",
	[RJ_WAY_LOSS_REPLAY] = "rjrecover -f --accept-loss replays what there is, then run e2fsck -f",
	[RJ_WAY_LOSS_PART] = "if this copy is wanted as it is, rjrecover -f --accept-loss gives it a log of its own, without what was written since (with all of it, if rjournald served this copy itself, without rjrecover)",
	[RJ_WAY_LOSS_VOID] = "rjrecover --accept-loss gives up what that host wrote",
	[RJ_WAY_LOSS_KEEP] = "rjtune --accept-loss -J gives the log up, and keeps the volume as it is",
	[RJ_WAY_LOSS_LOG] = "if it is lost for good, rjrecover -y --accept-loss gives up what was fsynced and is in the log alone{known_end}, checks the whole volume with e2fsck, and keeps the log",
};

const char *rj_verdict_name(enum rj_verdict_kind kind)
{
	return (unsigned)kind < sizeof(kinds) / sizeof(kinds[0]) ? kinds[kind] : "unknown";
}

const char *rj_found_name(enum rj_found bit)
{
	return (unsigned)bit < RJ_FOUND_COUNT ? found_names[bit] : "unknown";
}

const char *rj_way_text(enum rj_way way)
{
	return (unsigned)way < RJ_WAY_COUNT && ways[way] ? ways[way] : "";
}

/* The fact NAME, of N bytes, as text: in OUT, or as it is. NULL: there is none of this name. */
static const char *fact(const struct rj_verdict_facts *f, const char *name, size_t n, char out[64])
{
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {
		{"epoch", f->epoch}, {"mark", f->mark}, {"oldest", f->oldest},
		{"newest_epoch", f->newest_epoch}, {"clean_epoch", f->clean_epoch},
		{"file_last", f->file_last}, {"origin_epoch", f->origin_epoch},
		{"first", f->first}, {"first_epoch", f->first_epoch}, {"group", f->group},
	};
	const struct {
		const char *name, *text;
	} texts[] = {
		{"device", f->device}, {"log", f->log},
		{"file", f->file}, {"why", f->why}, {"who", f->who}, {"was", f->was},
		{"known_end", f->known_end}, {"origin", f->origin},
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (strlen(texts[i].name) == n && !memcmp(texts[i].name, name, n))
			return texts[i].text ? texts[i].text : "";
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (strlen(numbers[i].name) == n && !memcmp(numbers[i].name, name, n)) {
			snprintf(out, 64, "%" PRIu64, numbers[i].value);
			return out;
		}
	if (n != 4 || memcmp(name, "tids", n) != 0)
		return NULL;
	out[0] = 0;
	if (f->first_tid || f->last_tid)
		snprintf(out, 64, " %" PRIu64 " to %" PRIu64, f->first_tid, f->last_tid);
	return out;
}

/* Append TEXT to OUT with each {name} replaced. What does not fit is cut off. */
static void fill(const char *text, const struct rj_verdict_facts *f, char *out, size_t size)
{
	size_t at = strlen(out), n;
	const char *end, *value;
	char number[64];

	for (; *text && at + 1 < size; text++) {
		end = *text == '{' ? strchr(text, '}') : NULL;
		value = end ? fact(f, text + 1, (size_t)(end - text - 1), number) : NULL;
		if (!value) {
			out[at++] = *text;
			continue;
		}
		n = strlen(value);
		if (n > size - 1 - at)
			n = size - 1 - at;
		memcpy(out + at, value, n);
		at += n;
		text = end;
	}
	out[at] = 0;
}

const char *rj_verdict_words(const struct rj_verdict_row *row, const struct rj_verdict_facts *f,
	char out[RJ_VERDICT_BYTES])
{
	out[0] = 0;
	if (row->words)
		fill(row->words, f, out, RJ_VERDICT_BYTES);
	return out;
}

int rj_verdict_why(const struct rj_verdict *v, const struct rj_verdict_facts *f,
	struct rj_error *err)
{
	char text[RJ_VERDICT_BYTES];

	return rj_fail(err, v->row->code ? v->row->code : RJ_E_REFUSED, "%s: %s",
		f->device ? f->device : "", rj_verdict_words(v->row, f, text));
}

int rj_verdict_ways(const struct rj_verdict *v, const struct rj_verdict_facts *f,
	struct rj_error *err)
{
	char text[RJ_VERDICT_BYTES];
	unsigned i;

	if (!(v->found & RJ_FOUND(RJ_IS_TAKEN)))
		rj_fail_suffix(err, "; nothing was changed");
	for (i = 0; i < RJ_ROW_WAYS && v->row->ways[i]; i++) {
		text[0] = 0;
		fill(rj_way_text(v->row->ways[i]), f, text, sizeof(text));
		rj_fail_suffix(err, "; %s", text);
	}
	return -(int)err->code;
}

int rj_verdict_refuse(const struct rj_verdict *v, const struct rj_verdict_facts *f,
	struct rj_error *err)
{
	rj_verdict_why(v, f, err);
	return rj_verdict_ways(v, f, err);
}
