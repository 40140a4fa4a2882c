// SPDX-License-Identifier: GPL-2.0-or-later
/* The floor at a second store: whose log it writes to, and which writer may. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/common.h"
#include "log/floor/floor-url.h"
#include "log/listing.h"

static char dir[] = "/tmp/rj-floor.XXXXXX", url[64];

static struct rj_log_id journal(void)
{
	struct rj_log_id id = {0};

	CU_ASSERT_EQUAL_FATAL(rj_uuid_random(id.volume_uuid), 0);
	CU_ASSERT_EQUAL_FATAL(rj_uuid_random(id.journal_uuid), 0);
	return id;
}

static struct rj_floor_url *writer(const struct rj_log_id *id)
{
	struct rj_floor_url *f;

	CU_ASSERT_EQUAL_FATAL(rj_floor_url_new(url, id, &f, NULL), 0);
	return f;
}

static int note(struct rj_floor_url *f, uint64_t epoch, uint64_t sequence)
{
	struct rj_log_tail tail = {.epoch = epoch, .sequence = sequence};

	return rj_floor_url_write(f, &tail, NULL);
}

/* What a recovery is told of ID's journal. */
static struct rj_log_tail told(const struct rj_log_id *id)
{
	struct rj_floor_answer a;

	rj_floor_url_load("file:///elsewhere", id, 0, 200, &a);
	CU_ASSERT_STRING_EQUAL(a.url, url);
	CU_ASSERT_STRING_EQUAL(a.why, "");
	return a.saw;
}

static void the_last_note_is_told(void)
{
	struct rj_log_id id = journal();
	struct rj_floor_url *f = writer(&id);

	CU_ASSERT_EQUAL(told(&id).sequence, 0);
	CU_ASSERT_EQUAL(note(f, 3, 10), 0);
	CU_ASSERT_EQUAL(note(f, 3, 11), 0);
	CU_ASSERT_EQUAL(told(&id).epoch, 3);
	CU_ASSERT_EQUAL(told(&id).sequence, 11);
	rj_floor_url_free(f);
}

static void an_older_writer_is_over(void)
{
	struct rj_log_id id = journal();
	struct rj_floor_url *old = writer(&id), *new = writer(&id);

	CU_ASSERT_EQUAL(note(old, 4, 10), 0);
	CU_ASSERT_EQUAL(note(new, 5, 20), 0);
	CU_ASSERT_EQUAL(note(old, 4, 11), -RJ_E_FENCED);
	CU_ASSERT_EQUAL(note(old, 4, 12), -RJ_E_FENCED);
	CU_ASSERT_EQUAL(note(old, 4, 13), -RJ_E_FENCED);
	CU_ASSERT_EQUAL(told(&id).sequence, 20);
	CU_ASSERT_EQUAL(note(new, 5, 21), 0); /* nobody took it */
	CU_ASSERT_EQUAL(told(&id).epoch, 5);
	CU_ASSERT_EQUAL(told(&id).sequence, 21);
	rj_floor_url_free(old);
	rj_floor_url_free(new);
}

/* A log of ID in the floor store: its last segment's number. */
static uint64_t fill(const struct rj_log_id *id)
{
	static const struct rj_seg_run run = {0, 1};
	static const uint8_t block[2048];
	const struct rj_log_append a = {
		.body = {.block_size = sizeof(block), .journal_blocks = 8},
		.runs = &run,
		.run_count = 1,
		.ring = block,
	};
	struct rj_store *s = NULL;
	struct rj_log_writer *w = NULL;
	uint64_t last;
	int i;

	CU_ASSERT_EQUAL_FATAL(rj_store_open(url, NULL, &s, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(rj_log_claim(s, id, NULL, &w, NULL), 0);
	for (i = 0; i < 5; i++)
		CU_ASSERT_EQUAL(rj_log_append(w, &a, NULL), 0);
	last = rj_log_writer_tail(w)->sequence;
	rj_log_writer_free(w);
	rj_store_close(s);
	return last;
}

static bool as_filled(const struct rj_log_id *id, uint64_t last)
{
	struct rj_log_summary sum;
	struct rj_store *s = NULL;
	int rc;

	CU_ASSERT_EQUAL_FATAL(rj_store_open(url, NULL, &s, NULL), 0);
	rc = rj_log_read(s, id, NULL, NULL, NULL, &sum, NULL);
	rj_store_close(s);
	return !rc && sum.first == 1 && sum.last == last &&
	       sum.segments == last;
}

/* A journal whose UUID is made so that its floor would be ours: a stranger makes
 * volumes as it likes. */
static void no_journal_has_anothers_log_for_its_floor(void)
{
	static const char word[] = "RJFLOOR1";
	struct rj_log_id ours = journal(), theirs = ours;
	uint64_t last = fill(&ours);
	struct rj_floor_url *f;
	size_t i;

	for (i = 0; i < sizeof(word) - 1; i++)
		theirs.journal_uuid[i] ^= (uint8_t)word[i];
	f = writer(&theirs);
	CU_ASSERT_EQUAL(note(f, 1, 1), 0);
	CU_ASSERT_EQUAL(note(f, 1, 2), 0);
	rj_floor_url_free(f);
	CU_ASSERT_TRUE(as_filled(&ours, last));
}

/* The directory of the store that was made since N there were. */
static void newest_dir(char out[256])
{
	char cmd[128];
	FILE *p;

	snprintf(cmd, sizeof(cmd), "ls -td %s/*/ | head -n 1", dir);
	p = popen(cmd, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(p);
	CU_ASSERT_PTR_NOT_NULL_FATAL(fgets(out, 256, p));
	out[strcspn(out, "\n")] = 0;
	pclose(p);
}

static void what_is_no_floor_of_ours_is_left_alone(void)
{
	struct rj_log_id ours = journal(), theirs = journal();
	char cmd[1200], at[256], from[256];
	struct rj_floor_url *f = writer(&ours);
	int i;

	CU_ASSERT_EQUAL(note(f, 1, 1), 0);
	rj_floor_url_free(f);
	newest_dir(at);
	sleep(1);
	fill(&theirs);
	newest_dir(from);
	CU_ASSERT_STRING_NOT_EQUAL_FATAL(at, from);
	snprintf(cmd, sizeof(cmd), "rm %slog/* && cp %slog/* %slog/", at, from,
		at);
	CU_ASSERT_EQUAL_FATAL(system(cmd), 0);
	f = writer(&ours);
	for (i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(note(f, 1, 2), -RJ_E_FOREIGN);
	rj_floor_url_free(f);
	snprintf(cmd, sizeof(cmd), "diff -r %slog %slog", from, at);
	CU_ASSERT_EQUAL(system(cmd), 0);
}

static int forget(const char *path, const struct stat *st, int type,
	struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(the_last_note_is_told),
		RJTEST(an_older_writer_is_over),
		RJTEST(no_journal_has_anothers_log_for_its_floor),
		RJTEST(what_is_no_floor_of_ours_is_left_alone),
	};
	char conf[128];
	int status;

	if (!mkdtemp(dir))
		return 99;
	snprintf(url, sizeof(url), "file://%s", dir);
	snprintf(conf, sizeof(conf), "[*]\nfloor = %s\n", url);
	setenv("RJ_CREDENTIALS", conf, 1);
	status = RJTEST_RUN("floor-url", tests);
	nftw(dir, forget, 8, FTW_DEPTH | FTW_PHYS);
	return status;
}
