// SPDX-License-Identifier: LGPL-2.1-or-later
/* Judge: what follows from the facts, and the first row of the table that fits them. */
#include <stdbool.h>

#include "verdict/verdict.h"

#define F(bit) RJ_FOUND(RJ_IS_##bit)

static bool all(uint64_t found, uint64_t bits)
{
	return (found & bits) == bits;
}

/* The mark speaks for the volume only where the log holds something for it: of a log that was
 * emptied it tells that it was replayed, and e2undo(8) takes back what e2fsck replayed, and not
 * the mark. */
static bool vouched_for(const struct rj_verdict_facts *f)
{
	return f->mark && f->marked && f->oldest < f->newest;
}

static uint64_t of_words(uint64_t found)
{
	uint64_t more = 0;

	if (all(found, F(YES) | F(FORCE)))
		more |= F(YES_FORCE);
	if (all(found, F(FORCE) | F(ACCEPT_LOSS)))
		more |= F(FORCE_LOSS);
	if (found & F(YES) && found & (F(ACCEPT_LOSS) | F(VOID)) &&
		!(found & (F(UNATTENDED) | F(TAKEN))))
		more |= F(GIVE_UP);
	return more;
}

static uint64_t of_epochs(const struct rj_verdict_facts *f, uint64_t found)
{
	uint64_t more = 0;

	if (f->mark && f->marked && f->mark < f->oldest)
		more |= F(BEHIND_MARK);
	/* tune2fs takes the mark away; but the log was emptied after a mark was put: in the epoch
	 * of the volume, since what an earlier mount emptied is in the volume */
	if (!f->mark && f->marked && f->newest_since >= f->epoch &&
		all(found, F(MARKABLE) | F(READ) | F(EMPTY) | F(NEEDS)))
		more |= F(BEHIND_MARK);
	if (f->newest_since > f->epoch)
		more |= F(AHEAD);
	/* the epoch of a backup that is used as the superblock is old */
	if (f->first_since > f->epoch && !vouched_for(f) && !(found & F(BAD_SUPER)))
		more |= F(OVERTAKEN);
	if (f->clean_epoch > f->epoch)
		more |= F(LEFT);
	if (f->recovered_epoch > f->epoch)
		more |= F(BASE_UNSEEN);
	/* a file that could not be made idle: the store has got more since */
	if (found & F(ALONE) && (f->mark > f->file_last + 1 || f->floor_seen > f->file_last))
		more |= F(FILE_SHORT);
	return more;
}

static uint64_t derive(const struct rj_verdict_facts *f)
{
	uint64_t found = f->found;

	if (found & (F(UNREADABLE) | F(VOID))) /* nothing is read of a log that was given up */
		found &= ~F(READ);
	if (found & (F(TORN) | F(LOST) | F(GONE) | F(STALE)))
		found |= F(BAD_SUPER);
	if (found & (F(LOST) | F(GONE)))
		found |= F(OLD_BACKUP);
	found |= of_words(found);
	if (found & (F(READ) | F(VOID)) || all(found, F(UNREADABLE) | F(GIVE_UP)))
		found |= F(LOG_CLOSED);
	if (found & (F(NEEDS) | F(UNMOUNT_FAILED)) ||
		(all(found, F(READ) | F(FORCE)) && !(found & F(EMPTY))))
		found |= F(WANTS_LOG);
	return found | of_epochs(f, found);
}

bool rj_verdict_refuses(enum rj_verdict_kind kind)
{
	return kind > RJ_VERDICT_GIVE_UP;
}

void rj_verdict_judge(const struct rj_verdict_facts *f, struct rj_verdict *out)
{
	unsigned count;
	const struct rj_verdict_row *rows = rj_verdict_rows(&count), *row = rows;

	*out = (struct rj_verdict){.found = derive(f)};
	/* the last row fits always */
	for (; !all(out->found, row->must) || out->found & row->without ||
		row->kind == RJ_VERDICT_NOTE; row++)
		if (all(out->found, row->must) && !(out->found & row->without))
			out->notes |= UINT64_C(1) << (row - rows);
	out->row = row;
	out->kind = row->kind;
	out->check = (out->found & F(UNCLEAN) && !(out->found & F(SAME_UNMOUNT))) ||
		     (all(out->found, F(BAD_SUPER) | F(LOG_CLOSED)) && !(out->found & F(LOGGED)));
}
