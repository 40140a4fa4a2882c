// SPDX-License-Identifier: GPL-2.0-or-later
/* The pipeline tells when a journal begins and when it is empty again, each at its time,
 * and takes a note along with a write of the kernel. */
#include <string.h>

#include "kernel.h"
#include "support/rjtest.h"

struct seen {
	struct tk *k;
	unsigned superblocks, began, emptied;
	uint64_t last; /* segment, at the last of them */
	bool due;
	uint8_t note; /* what the note is filled with */
};

static void superblock(void *arg, bool begins)
{
	struct seen *s = arg;

	s->superblocks++;
	s->began += begins;
	s->last = s->k->sink->last;
	s->due = true;
}

static void emptied(void *arg)
{
	struct seen *s = arg;

	s->emptied++;
	s->last = s->k->sink->last;
}

static bool note(void *arg, uint8_t raw[RJ_MOUNT_NOTES_BYTES])
{
	struct seen *s = arg;

	if (!s->due)
		return false;
	memset(raw, ++s->note, RJ_MOUNT_NOTE_BYTES);
	s->due = false;
	return true;
}

static void start(struct tk *k, struct seen *s)
{
	const struct rj_journal_watch w = {superblock, emptied, note, s};

	*s = (struct seen){.k = k};
	tk_start_watched(k, rj_rule_unfinished, &w);
}

/* Does the last segment have the note N in block 0? */
static bool has_note(const struct tk *k, uint8_t n)
{
	const struct tk_segment *s = &k->sink->segments[k->sink->last];

	return s->run_count && s->runs[0].block == 0 && s->blocks[0] == n &&
	       s->blocks[RJ_MOUNT_NOTE_BYTES - 1] == n &&
	       s->blocks[RJ_MOUNT_NOTE_BYTES] == 0;
}

static void begun_before_it_is_shipped(void)
{
	struct seen s;
	struct tk k;

	start(&k, &s);
	CU_ASSERT(s.began == 0 && s.emptied == 0);
	tk_superblock(&k, TK_FIRST, k.tid);
	CU_ASSERT(s.began == 1 && s.last == 1 && k.sink->last == 2);
	CU_ASSERT(has_note(&k, 1)); /* with the very same segment */
	tk_transaction(&k, 5);
	CU_ASSERT(s.superblocks == 1);
	tk_superblock(&k, k.head, k.tid); /* the tail moves */
	CU_ASSERT(s.superblocks == 2 && s.began == 1 && s.emptied == 0);
	CU_ASSERT(s.last + 1 == k.sink->last && has_note(&k, 2));
	tk_stop(&k);
}

static void emptied_after_it_was_shipped(void)
{
	struct seen s;
	struct tk k;

	start(&k, &s);
	tk_superblock(&k, TK_FIRST, k.tid);
	tk_transaction(&k, 5);
	tk_superblock(&k, 0, k.tid);
	CU_ASSERT(s.emptied == 1 && s.last == k.sink->last);
	tk_superblock(&k, 0, k.tid);
	CU_ASSERT(s.emptied == 1 && s.superblocks == 1);
	tk_superblock(&k, TK_FIRST, k.tid);
	CU_ASSERT(s.began == 2 && s.superblocks == 2);
	tk_stop(&k);
}

static void a_note_goes_with_a_write(void)
{
	bool damaged;
	uint64_t last;
	struct seen s;
	struct tk k;

	start(&k, &s);
	tk_superblock(&k, TK_FIRST, k.tid);
	tk_transaction(&k, 5);
	last = k.sink->last;
	s.due = true;
	CU_ASSERT(k.sink->last == last); /* not by itself */
	tk_blocks(&k, 5);
	CU_ASSERT(k.sink->last > last && has_note(&k, 2));
	tk_commit(&k, true);
	tk_transaction(&k, 5);
	CU_ASSERT(k.good && tk_recover(&k, &damaged) == k.acked && !damaged);
	tk_stop(&k);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(begun_before_it_is_shipped),
		RJTEST(emptied_after_it_was_shipped),
		RJTEST(a_note_goes_with_a_write),
	};

	return RJTEST_RUN("watch", tests);
}
