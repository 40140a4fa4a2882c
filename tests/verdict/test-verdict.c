// SPDX-License-Identifier: GPL-2.0-or-later
/* The judge: a scene for each row of the table, and rules that hold for all facts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/rjtest.h"
#include "verdict/verdict.h"

#define F(bit) RJ_FOUND(RJ_IS_##bit)
#define ROUNDS 3000000

/* A scene: what is found; the epochs as "the volume knows 5", and what differs from that. */
struct scene {
	const char *row;
	uint64_t found;
	uint64_t since, first, clean, recovered; /* epochs in the log; 0: 5 */
	uint64_t mark, oldest, file_last;
	uint64_t marks; /* whoever wrote the log last kept a mark, and this volume has none */
};

#define CRASHED (F(READ) | F(NEEDS))
#define BEHIND	.mark = 3, .oldest = 9
#define VOIDED	F(VOID)

static const struct scene scenes[] = {
	{.row = "move-cut", .found = F(MOVE_CUT) | CRASHED},
	{.row = "mismatch", .found = F(MISMATCH)},
	{.row = "super-put-back", .found = F(STALE) | F(BACKUP) | F(YES)},
	{.row = "file-short", .found = CRASHED | F(ALONE), .mark = 9, .oldest = 9, .file_last = 7},
	{.row = "went-on", .found = CRASHED | F(WENT_ON) | F(FORCE)},
	{.row = "went-on", .found = F(READ) | F(EMPTY) | F(WENT_ON)},
	{.row = "replay", .found = CRASHED | F(WENT_ON) | F(FORCE) | F(ACCEPT_LOSS)},
	{.row = "clean-ahead", .found = F(READ) | F(EMPTY), .since = 6},
	{.row = "clean-ahead", .found = F(READ) | F(EMPTY) | F(FORCE), .since = 6},
	{.row = "part", .found = F(READ) | F(FORCE) | F(ACCEPT_LOSS), .since = 6},
	{.row = "clean-left", .found = F(READ) | F(EMPTY), .clean = 6},
	{.row = "part-left", .found = F(READ) | F(EMPTY) | F(FORCE) | F(ACCEPT_LOSS), .clean = 6},
	{.row = "behind-mark", .found = CRASHED, BEHIND},
	{.row = "behind-mark", .found = CRASHED | F(FORCE) | F(YES), BEHIND},
	{.row = "behind-mark", .found = F(READ) | F(FORCE), BEHIND},
	{.row = "behind-mark", .found = CRASHED | F(EMPTY) | F(MARKABLE), .marks = 1},
	{.row = "overtaken", .found = CRASHED | F(FORCE), .first = 6, .since = 6},
	{.row = "ahead-of-backup", .found = CRASHED | F(GONE) | F(BACKUP) | F(YES), .since = 6},
	{.row = "ahead", .found = CRASHED, .since = 6},
	{.row = "ahead", .found = F(READ) | F(UNMOUNT_FAILED) | F(NEEDS), .since = 6},
	{.row = "left", .found = CRASHED, .clean = 6},
	{.row = "left", .found = CRASHED, .clean = 6, .since = 6},
	{.row = "base-unseen", .found = CRASHED | F(EMPTY), .recovered = 6},
	{.row = "renamed-sums", .found = CRASHED | F(RENAMED) | F(SUMS_OF_UUID) | F(FORCE)},
	{.row = "part-renamed", .found = F(READ) | F(EMPTY) | F(RENAMED) | F(SUMS_OF_UUID)},
	{.row = "clean-ahead", .found = F(READ) | F(EMPTY) | F(RENAMED), .since = 6},
	{.row = "part-fallback-lost", .found = F(READ) | F(RENAMED) | F(FALLBACK_LOST)},
	{.row = "part-forked", .found = F(READ) | F(EMPTY) | F(FORKED)},
	{.row = "replay", .found = CRASHED | F(EMPTY) | F(FORKED)},
	{.row = "replay", .found = CRASHED | F(RENAMED)},
	{.row = "replay", .found = CRASHED | F(EMPTY) | F(RENAMED) | F(SUMS_OF_UUID)},
	{.row = "damaged-end", .found = CRASHED | F(DAMAGED_END)},
	{.row = "damaged", .found = CRASHED | F(DAMAGED) | F(YES)},
	{.row = "no-backup", .found = CRASHED | F(TORN)},
	{.row = "backup-of-another", .found = CRASHED | F(GONE) | F(BACKUP) | F(YES)},
	{.row = "backup", .found = CRASHED | F(LOST) | F(BACKUP)},
	{.row = "again", .found = F(UNREADABLE) | F(TAKEN) | F(YES) | F(ACCEPT_LOSS)},
	{.row = "give-up", .found = F(UNREADABLE) | F(YES) | F(ACCEPT_LOSS)},
	{.row = "give-up", .found = F(UNREADABLE) | F(AWAY) | F(YES) | F(ACCEPT_LOSS)},
	{.row = "give-up", .found = F(UNREADABLE) | F(YES) | VOIDED | F(PENDING)},
	{.row = "void-away", .found = F(UNREADABLE) | F(AWAY) | VOIDED},
	{.row = "void-unreadable", .found = F(UNREADABLE) | VOIDED | F(PENDING)},
	{.row = "away", .found = F(UNREADABLE) | F(AWAY) | F(YES) | F(FORCE)},
	{.row = "away", .found = F(UNREADABLE) | F(AWAY) | F(YES) | F(ACCEPT_LOSS) | F(UNATTENDED)},
	{.row = "unknown", .found = F(UNREADABLE) | F(UNKNOWN)},
	{.row = "damaged-end-unreadable", .found = F(UNREADABLE) | F(DAMAGED_END)},
	{.row = "unreadable", .found = F(UNREADABLE) | F(YES)},
	{.row = "check-pending", .found = VOIDED | F(PENDING)},
	{.row = "void-written-on", .found = VOIDED | F(WRITTEN_ON) | F(YES) | F(FORCE)},
	{.row = "void", .found = VOIDED},
	{.row = "void", .found = VOIDED | F(WRITTEN_ON) | F(ACCEPT_LOSS)},
	{.row = "unmount-failed", .found = F(READ) | F(UNMOUNT_FAILED)},
	{.row = "clean-with-log", .found = F(READ)},
	{.row = "clean-with-log", .found = F(READ) | F(YES) | F(ACCEPT_LOSS)},
	{.row = "clean-with-log", .found = F(READ) | F(UNMOUNT_FAILED) | F(MATCHED)},
	{.row = "fallback-lost", .found = F(READ) | F(FALLBACK_LOST)},
	{.row = "clean", .found = F(READ) | F(EMPTY)},
	{.row = "clean", .found = F(READ) | F(EMPTY) | F(UNCLEAN)},
	{.row = "unread-clean", .found = 0},
	{.row = "unread-unclean", .found = F(UNCLEAN)},
	{.row = "replay", .found = F(NEEDS)},
	{.row = "replay", .found = CRASHED},
	{.row = "replay", .found = CRASHED | F(FORCE) | F(ACCEPT_LOSS), BEHIND},
	{.row = "replay", .found = CRASHED | F(TORN) | F(LOGGED)},
	{.row = "replay", .found = CRASHED | F(LOST) | F(BACKUP) | F(YES)},
	{.row = "replay", .found = CRASHED | F(DAMAGED_END) | F(YES)},
	{.row = "replay", .found = F(READ) | F(UNMOUNT_FAILED) | F(MATCHED) | F(SAME_UNMOUNT)},
	{.row = "replay", .found = F(READ) | F(EMPTY) | F(ERRNO)},
	{.row = "replay", .found = CRASHED | F(EMPTY) | F(MARKABLE), .marks = 1, .since = 4},
};

static void facts_of(const struct scene *s, struct rj_verdict_facts *f)
{
	*f = (struct rj_verdict_facts){
		.found = s->found,
		.epoch = 5,
		.mark = s->mark,
		.marked = s->mark || s->marks,
		.oldest = s->oldest,
		.newest = 20,
		.newest_since = s->since ? s->since : 5,
		.first_since = s->first ? s->first : 5,
		.clean_epoch = s->clean,
		.recovered_epoch = s->recovered,
		.file_last = s->file_last,
		.device = "v",
	};
}

static void each_row_has_a_scene(void)
{
	unsigned count;
	const struct rj_verdict_row *rows = rj_verdict_rows(&count);
	uint64_t seen = 0, notes = 0;
	struct rj_verdict_facts f;
	struct rj_verdict v;
	size_t i;

	for (i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		facts_of(&scenes[i], &f);
		rj_verdict_judge(&f, &v);
		if (strcmp(v.row->name, scenes[i].row) != 0)
			printf("# scene %zu: %s, wanted %s\n", i, v.row->name, scenes[i].row);
		CU_ASSERT_STRING_EQUAL(v.row->name, scenes[i].row);
		seen |= UINT64_C(1) << (v.row - rows);
		notes |= v.notes;
	}
	for (i = 0; i < count; i++)
		if (rows[i].kind != RJ_VERDICT_NOTE && !(seen >> i & 1)) {
			printf("# no scene for %s\n", rows[i].name);
			CU_FAIL("a row without a scene");
		}
	CU_ASSERT_NOT_EQUAL(notes, 0);
}

static uint64_t small(void)
{
	return (uint64_t)(random() % 4);
}

static void random_facts(struct rj_verdict_facts *f)
{
	*f = (struct rj_verdict_facts){
		.found = ((uint64_t)random() << 31 ^ (uint64_t)random()) &
			 ((uint64_t)random() << 31 ^ (uint64_t)random()) &
			 (RJ_FOUND(RJ_IS_BAD_SUPER) - 1),
		.epoch = small(), .mark = small(), .newest_since = small(), .newest = 2 + small(),
		.oldest = small(), .marked = small() & 1, .first_since = small(),
		.clean_epoch = small(), .recovered_epoch = small(), .file_last = small(),
		.floor_seen = small(),
	};
}

static bool has(const struct rj_verdict *v, uint64_t bits)
{
	return (v->found & bits) == bits;
}

/* V goes on by --accept-loss alone, and no note says what is lost; lib/recover says that of
 * PART, of GIVE_UP and of a fallback file. */
static bool lost_in_silence(const struct rj_verdict_facts *f, const struct rj_verdict *v)
{
	struct rj_verdict_facts without = *f;
	struct rj_verdict w;

	without.found &= ~F(ACCEPT_LOSS);
	rj_verdict_judge(&without, &w);
	return rj_verdict_refuses(w.kind) && !rj_verdict_refuses(v->kind) &&
	       v->kind != RJ_VERDICT_PART && v->kind != RJ_VERDICT_GIVE_UP &&
	       !(v->notes & ~w.notes);
}

/* Each rule as a failure: its name, or NULL. */
static const char *broken_rule(const struct rj_verdict_facts *f, const struct rj_verdict *v)
{
	bool replay = v->kind == RJ_VERDICT_REPLAY && has(v, F(READ));

	if (lost_in_silence(f, v))
		return "--accept-loss gives up what no note names";
	if (v->kind == RJ_VERDICT_GIVE_UP &&
		(!has(v, F(YES)) || !(v->found & (F(ACCEPT_LOSS) | F(VOID))) ||
			v->found & (F(UNATTENDED) | F(TAKEN))))
		return "a log is given up without a word";
	if (v->kind == RJ_VERDICT_PART && !has(v, F(FORCE) | F(ACCEPT_LOSS)) &&
		!has(v, F(RENAMED) | F(EMPTY)) && !has(v, F(FORKED) | F(EMPTY)) &&
		!has(v, F(RENAMED) | F(FALLBACK_LOST)))
		return "a copy is parted from its log without a word";
	if (v->kind == RJ_VERDICT_RENEW && !(v->found & (F(VOID) | F(FALLBACK_LOST))))
		return "a log that was not given up begins again";
	if (v->kind == RJ_VERDICT_RENEW && has(v, F(VOID) | F(WRITTEN_ON)) &&
		!has(v, F(ACCEPT_LOSS)))
		return "what another host wrote is given up without a word";
	if (replay && has(v, F(BEHIND_MARK) | F(NEEDS)) && !has(v, F(FORCE_LOSS)))
		return "an older copy, by its mark, is replayed";
	if (replay && has(v, F(AHEAD) | F(NEEDS)) && !has(v, F(FORCE)))
		return "an older copy, by its epoch, is replayed";
	if (replay && has(v, F(LEFT) | F(NEEDS)) && !has(v, F(FORCE)))
		return "a volume whose journal was taken away is replayed";
	if (replay && v->found & (F(DAMAGED)))
		return "a damaged log is replayed";
	if (replay && !has(v, F(NEEDS)) && !(v->found & (F(EMPTY) | F(FORCE) | F(SAME_UNMOUNT))))
		return "a clean volume gets the transactions of its log";
	if (v->kind == RJ_VERDICT_CLEAN && has(v, F(READ) | F(LEFT)) && !has(v, F(WANTS_LOG)))
		return "a volume whose journal was taken away is clean";
	if (v->kind == RJ_VERDICT_CLEAN && has(v, F(READ)) &&
		v->found & (F(AHEAD) | F(NEEDS) | F(BAD_SUPER) | F(ERRNO)))
		return "clean is believed";
	if (!rj_verdict_refuses(v->kind) && v->found & (F(MOVE_CUT) | F(MISMATCH)))
		return "a move is not finished";
	if (v->kind <= RJ_VERDICT_REPLAY && has(v, F(VOID)))
		return "a log that was given up is used";
	if (replay && has(v, F(BAD_SUPER)) && !(v->found & (F(LOGGED) | F(YES))))
		return "a backup superblock is used without a word";
	return NULL;
}

static void rules_hold_for_all_facts(void)
{
	unsigned long i, bad = 0;
	struct rj_verdict_facts f;
	struct rj_verdict v;
	const char *rule;

	srandom((unsigned)rjtest_seed());
	for (i = 0; i < ROUNDS; i++) {
		random_facts(&f);
		rj_verdict_judge(&f, &v);
		rule = broken_rule(&f, &v);
		if (rule && bad++ < 5)
			printf("# %s: row %s, found %llx\n", rule, v.row->name,
				(unsigned long long)v.found);
	}
	CU_ASSERT_EQUAL(bad, 0);
}

/* A word that the user did not type may only refuse more. */
static void fewer_words_do_no_more(void)
{
	static const uint64_t words[] = {F(YES), F(FORCE), F(ACCEPT_LOSS)};
	struct rj_verdict_facts f;
	struct rj_verdict with, without;
	unsigned long i, bad = 0;

	srandom((unsigned)rjtest_seed());
	for (i = 0; i < ROUNDS; i++) {
		random_facts(&f);
		rj_verdict_judge(&f, &with);
		f.found &= ~words[i % 3];
		rj_verdict_judge(&f, &without);
		if (rj_verdict_refuses(with.kind) && !rj_verdict_refuses(without.kind) &&
			!(with.found & F(WANTS_LOG) && words[i % 3] == F(FORCE)) && bad++ < 5)
			printf("# %s without a word, %s with it: found %llx\n", without.row->name,
				with.row->name, (unsigned long long)with.found);
	}
	CU_ASSERT_EQUAL(bad, 0);
}

static void words_and_ways(void)
{
	struct rj_verdict_facts f = {.device = "v"};
	char text[RJ_VERDICT_BYTES];
	unsigned count, i, k;
	const struct rj_verdict_row *rows = rj_verdict_rows(&count), *row;
	struct rj_verdict v = {0};
	struct rj_error err;

	for (i = 0; i < count; i++) {
		row = v.row = &rows[i];
		rj_verdict_words(row, &f, text);
		CU_ASSERT_PTR_NULL(strpbrk(text, "{}"));
		CU_ASSERT_TRUE(!rj_verdict_refuses(row->kind) || text[0] ||
			       !strcmp(row->words, "{why}"));
		for (k = 1; k < RJ_ROW_WAYS && row->ways[k]; k++)
			CU_ASSERT_TRUE(row->ways[k - 1] < row->ways[k]);
		CU_ASSERT_TRUE(!rj_verdict_refuses(row->kind) || row->kind == RJ_VERDICT_NOTE ||
			       row->ways[0]);
		CU_ASSERT_TRUE(rj_verdict_refuse(&v, &f, &err) < 0);
		CU_ASSERT_PTR_NULL(strpbrk(err.msg, "{}"));
		CU_ASSERT_TRUE(strlen(err.msg) < sizeof(err.msg) - 200);
	}
	for (i = 1; i < RJ_WAY_COUNT; i++)
		CU_ASSERT_TRUE(rj_way_text(i)[0]);
	CU_ASSERT_EQUAL(rows[count - 1].must, 0);
	CU_ASSERT_EQUAL(rows[count - 1].without, 0);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(each_row_has_a_scene),
		RJTEST(rules_hold_for_all_facts),
		RJTEST(fewer_words_do_no_more),
		RJTEST(words_and_ways),
	};

	return RJTEST_RUN("verdict", tests);
}
