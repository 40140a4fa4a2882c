// SPDX-License-Identifier: GPL-2.0-or-later
/* Files and directories that were written to: growth, and the bounds. Threads that sync. */
#include <math.h>

#include "rjadvise/model/table.h"
#include "rjadvise/model/threads.h"
#include "support/rjtest.h"

static const struct handle_key dir = {12, 1}, other = {13, 1}, file = {20, 7};

/* Write to KEY, look at it: SIZE. */
static void write_and_look(struct table *t, struct handle_key key, uint64_t size, bool born)
{
	struct table_file *f;

	table_write(t, key, dir, true);
	f = table_next_dirty(t);
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	table_looked(t, f, size, born);
}

static struct table_dir *find(struct table *t, struct handle_key key)
{
	unsigned i;

	for (i = 0; i < TABLE_DIRS; i++)
		if (t->dirs[i].key.inode == key.inode)
			return &t->dirs[i];
	return NULL;
}

static void test_growth(void)
{
	struct table t;

	CU_ASSERT_FATAL(table_init(&t));
	write_and_look(&t, file, 1000, true);
	CU_ASSERT_EQUAL(t.new_bytes, 1000);
	write_and_look(&t, file, 1500, true);
	CU_ASSERT_EQUAL(t.new_bytes, 1500);
	/* in place, then cut short, then grown again */
	write_and_look(&t, file, 1500, true);
	write_and_look(&t, file, 100, true);
	write_and_look(&t, file, 300, true);
	CU_ASSERT_EQUAL(t.new_bytes, 1700);
	CU_ASSERT_EQUAL(find(&t, dir)->new_bytes, 1700);
	CU_ASSERT_EQUAL(find(&t, dir)->in_place, 2);
	CU_ASSERT_EQUAL(find(&t, dir)->files, 1);
	CU_ASSERT_EQUAL(find(&t, dir)->writes, 5);
	CU_ASSERT_EQUAL(t.older, 0);
	table_free(&t);
}

/* Nothing says how much of a file that was there before is new. */
static void test_older(void)
{
	struct table t;

	CU_ASSERT_FATAL(table_init(&t));
	write_and_look(&t, file, 5000, false);
	CU_ASSERT_EQUAL(t.new_bytes, 0);
	CU_ASSERT_EQUAL(t.older, 1);
	write_and_look(&t, file, 5100, false);
	CU_ASSERT_EQUAL(t.new_bytes, 100);
	CU_ASSERT_EQUAL(t.older, 1);
	table_free(&t);
}

/* What a file grew by while it was not watched is not counted. */
static void test_window(void)
{
	struct table t;

	CU_ASSERT_FATAL(table_init(&t));
	write_and_look(&t, file, 1000, true);
	t.window++;
	write_and_look(&t, file, 5000, false);
	CU_ASSERT_EQUAL(t.new_bytes, 1000);
	CU_ASSERT_EQUAL(t.older, 1);
	write_and_look(&t, file, 5200, false);
	CU_ASSERT_EQUAL(t.new_bytes, 1200);
	CU_ASSERT_EQUAL(t.file_count, 1);
	table_free(&t);
}

/* Closing a file is no write; but a close may be the only sign of a write by mmap(2), so the file
 * is looked at. */
static void test_close(void)
{
	struct table t;
	struct table_file *f;

	CU_ASSERT_FATAL(table_init(&t));
	write_and_look(&t, file, 1000, true);
	table_write(&t, file, dir, false);
	f = table_next_dirty(&t);
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	table_looked(&t, f, 1000, true);
	CU_ASSERT_EQUAL(find(&t, dir)->in_place, 0);
	CU_ASSERT_EQUAL(find(&t, dir)->writes, 1);
	table_free(&t);
}

/* Several writes before a look are one look; an inode number used again is another file. */
static void test_dirty(void)
{
	const struct handle_key again = {20, 8};
	struct table t;
	struct table_file *f;

	CU_ASSERT_FATAL(table_init(&t));
	table_write(&t, file, dir, true);
	table_write(&t, file, dir, true);
	table_write(&t, again, other, true);
	f = table_next_dirty(&t);
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	CU_ASSERT_EQUAL(f->key.generation, 7);
	table_gone(&t, f);
	f = table_next_dirty(&t);
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	CU_ASSERT_EQUAL(f->key.generation, 8);
	table_looked(&t, f, 10, true);
	CU_ASSERT_PTR_NULL(table_next_dirty(&t));
	CU_ASSERT_EQUAL(t.gone, 1);
	CU_ASSERT_EQUAL(find(&t, other)->new_bytes, 10);
	table_free(&t);
}

static void test_bounds(void)
{
	struct table t;
	uint32_t i, files = TABLE_FILES / 4 * 3, dirs = TABLE_DIRS / 4 * 3;

	CU_ASSERT_FATAL(table_init(&t));
	for (i = 1; i <= TABLE_FILES * 2; i++)
		table_write(&t, (struct handle_key){i, 1}, dir, true);
	CU_ASSERT_EQUAL(t.file_count, files);
	CU_ASSERT_EQUAL(t.untracked, TABLE_FILES * 2 - files);
	CU_ASSERT_EQUAL(t.dirty_count, files);
	for (i = 0; table_next_dirty(&t); i++)
		;
	CU_ASSERT_EQUAL(i, files);
	table_free(&t);

	CU_ASSERT_FATAL(table_init(&t));
	for (i = 1; i <= TABLE_DIRS * 2; i++)
		table_write(&t, (struct handle_key){i, 1}, (struct handle_key){100000 + i, 1},
			true);
	CU_ASSERT_EQUAL(t.dir_count, dirs);
	CU_ASSERT_EQUAL(t.untracked, TABLE_DIRS * 2 - dirs);
	table_free(&t);
}

static void test_threads(void)
{
	struct threads t = {0};
	uint32_t i;

	CU_ASSERT(isnan(threads_count(&t)));
	for (i = 0; i < 30; i++)
		threads_add(&t, 7 + i % 3);
	CU_ASSERT_DOUBLE_EQUAL(threads_count(&t), 3, 0.001);
	/* one that is seldom seen hardly counts: shares of 0.9 and 0.1 */
	t = (struct threads){0};
	for (i = 0; i < 10 * THREADS_WINDOW; i++)
		threads_add(&t, i % 10 ? 7 : 8);
	CU_ASSERT_DOUBLE_EQUAL(threads_count(&t), 1 / 0.82, 0.01);
	/* programs that begin, sync and end, one after the other, or more than have space */
	t = (struct threads){0};
	for (i = 0; i < 5 * THREADS_WINDOW; i++)
		threads_add(&t, i / 3);
	CU_ASSERT(isnan(threads_count(&t)));
	CU_ASSERT_EQUAL(t.used, 0);
	/* ... are left out where others sync all the time */
	for (i = 0; i < THREADS_WINDOW; i++)
		threads_add(&t, i % 4 ? 7 : 1000 + i);
	CU_ASSERT_DOUBLE_EQUAL(threads_count(&t), 1, 0.001);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(test_growth),
		RJTEST(test_older),
		RJTEST(test_window),
		RJTEST(test_close),
		RJTEST(test_dirty),
		RJTEST(test_bounds),
		RJTEST(test_threads),
	};

	return RJTEST_RUN("table", tests);
}
