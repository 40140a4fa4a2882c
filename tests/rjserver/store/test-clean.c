// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cleaning and checkpoints, on a real directory: what lives is copied and
 * stays, what is dead goes, and what a checkpoint knows cannot go unnoticed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rjserver/store/commit.h"
#include "rjserver/store/store-checkpoint.h"
#include "rjserver/store/store-clean.h"
#include "rjserver/store/store.h"
#include "support/rjtest.h"
#include "util/crc32c.h"

#define FILE_SMALL (1u << 20)
#define BODY       20000

static char top[RJTEST_DIR], dir[128];
static struct rj_error err;

static bool full; /* the disk, for records */

ssize_t pwrite(int fd, const void *data, size_t len, off_t off) /* in place of libc's */
{
	if (full && len > 4 && !memcmp(data, "RJRH", 4)) {
		errno = ENOSPC;
		return -1;
	}
	return syscall(SYS_pwrite64, fd, data, len, off);
}

static atomic_int dir_syncs; /* of which the last fails; 0: none does */

int fsync(int fd) /* in place of libc's */
{
	struct stat st;

	if (dir_syncs && !fstat(fd, &st) && S_ISDIR(st.st_mode) &&
		!--dir_syncs) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_fsync, fd);
}

static enum rj_key_kind kind; /* of key_of() */

static struct okey key_of(unsigned n)
{
	struct okey k = {.name = "n", .key = {.kind = kind, .number = n}};

	memset(k.key.journal_uuid, 9, RJ_UUID_BYTES);
	return k;
}

static void content(unsigned n, uint8_t *out)
{
	uint32_t x = n * 2654435761u, i;

	for (i = 0; i < BODY; i++) {
		x = x * 1664525 + 1013904223;
		out[i] = (uint8_t)(1 + (x >> 24) % 255);
	}
}

static void done(void *arg, int rc, const struct rj_error *e)
{
	*(int *)arg = rc;
}

static int put(struct store *s, unsigned n)
{
	static uint8_t data[BODY];
	struct okey k = key_of(n);
	struct commit_body body = {data, BODY, 0, false};
	int result = 1, rc;

	content(n, data);
	body.crc = rj_crc32c(~0u, data, BODY);
	rc = commit_put(s->commit, &k, &body, done, &result, &err);
	commit_flush(s->commit);
	return rc ? rc : result;
}

static int del(struct store *s, unsigned n)
{
	struct okey k = key_of(n);
	int result = 1, rc;

	rc = commit_delete(s->commit, &k, done, &result, &err);
	commit_flush(s->commit);
	return rc ? rc : result;
}

static int get(struct store *s, unsigned n)
{
	uint8_t want[BODY];
	struct rj_buf got = {0};
	struct okey k = key_of(n);
	int rc = store_get(s, &k, &got, &err);

	content(n, want);
	if (!rc)
		rc = got.len != BODY || memcmp(got.data, want, BODY) != 0;
	rj_buf_free(&got);
	return rc;
}

static int try_open(struct store **s)
{
	struct store_opts opts = {.dir = dir, .file_bytes = FILE_SMALL};

	err = (struct rj_error){0};
	*s = NULL;
	return store_open(&opts, s, &err);
}

static struct store *open_store(void)
{
	struct store *s;

	if (try_open(&s)) {
		printf("# %s\n", err.msg);
		exit(1);
	}
	return s;
}

static void fresh(const char *name)
{
	snprintf(dir, sizeof(dir), "%s/%s", top, name);
}

static void path_in(char path[256], const char *name)
{
	snprintf(path, 256, "%s/store/%s", dir, name);
}

static void quiet(bool on)
{
	static int saved = -1;
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	fflush(stderr);
	if (saved < 0)
		saved = dup(2);
	dup2(on ? null : saved, 2);
	close(null);
}

/* Every 40th of COUNT objects stays, the others are deleted again at once. No file
 * goes before a checkpoint has it: one that has begun is waited for, as its thread
 * may not get a processor for all of the test. */
static void churn(struct store *s, unsigned from, unsigned count)
{
	unsigned n;

	for (n = from; n < from + count; n++) {
		CU_ASSERT_EQUAL(put(s, n), 0);
		if (n % 40)
			CU_ASSERT_EQUAL(del(s, n), 0);
		if (s->checkpoint) {
			store_checkpoint_end(s);
			store_drop_dead(s);
		}
	}
}

static unsigned wrong_up_to(struct store *s, unsigned last)
{
	unsigned n, wrong = 0;

	for (n = 1; n <= last; n++)
		wrong += get(s, n) != (n % 40 ? -RJ_E_NOTFOUND : 0);
	return wrong;
}

static uint64_t disk_bytes(const struct store *s)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < s->file_count; i++)
		sum += s->files[i].bytes;
	return sum;
}

static void what_lives_is_copied(void)
{
	uint64_t most = 0, live;
	struct store *s;
	unsigned round;

	fresh("copied");
	s = open_store();
	for (round = 0; round < 8; round++) {
		churn(s, 1 + round * 200, 200);
		if (disk_bytes(s) > most)
			most = disk_bytes(s);
		if (round % 3 == 2) { /* and after a restart */
			CU_ASSERT_EQUAL(store_close(s, &err), 0);
			s = open_store();
		}
		CU_ASSERT_EQUAL(wrong_up_to(s, 200 + round * 200), 0);
	}
	/* 32 MB came by, 800 KB live */
	live = 40 * (uint64_t)rec_total(BODY);
	CU_ASSERT_TRUE(most < 2 * live + 6 * FILE_SMALL);
	CU_ASSERT_TRUE(s->files[0].number > 10);
	CU_ASSERT_EQUAL(store_close(s, &err), 0);
}

static void idle_steps_come_to_an_end(void)
{
	struct store *s;
	unsigned steps = 0, n;

	fresh("idle");
	s = open_store();
	for (n = 1; n <= 300; n++)
		put(s, n);
	for (n = 1; n <= 300; n++)
		if (n % 40)
			del(s, n);
	while (clean_step(s) && steps < 1000)
		steps++;
	CU_ASSERT_TRUE(steps < 1000);
	CU_ASSERT_FALSE(clean_step(s));
	CU_ASSERT_EQUAL(wrong_up_to(s, 300), 0);
	CU_ASSERT_EQUAL(store_close(s, &err), 0);
}

/* Where writes wait for room, a first file full of what lives does not keep those after it. */
static void a_full_first_file_is_cleaned(void)
{
	const unsigned first = FILE_SMALL / BODY - 8, last = 300;
	unsigned steps = 0, n;
	struct store *s;
	uint64_t before;

	fresh("full-first");
	s = open_store();
	for (n = 1; n <= last; n++)
		put(s, n);
	for (n = first; n < last; n++)
		del(s, n);
	CU_ASSERT_TRUE(s->file_count > 3);
	CU_ASSERT_TRUE(s->files[0].live_bytes > s->files[0].bytes / 2);
	before = s->files[0].number;
	s->tight = true;
	while (clean_step(s) && steps < 1000)
		steps++;
	CU_ASSERT_TRUE(steps < 1000);
	CU_ASSERT_TRUE(s->files[0].number > before || s->files[0].live_bytes == 0);
	for (n = 1; n < first; n++)
		CU_ASSERT_EQUAL(get(s, n), 0);
	CU_ASSERT_EQUAL(get(s, last), 0);
	CU_ASSERT_EQUAL(store_close(s, &err), 0);
}

static size_t memory(void)
{
	struct mallinfo2 m = mallinfo2(); /* all zero with a sanitizer */

	return m.uordblks + m.hblkhd;
}

/* A copy gives back its memory, whatever place a large object has in its batch. */
static void copies_keep_no_memory(void)
{
	enum { LARGE = 400000, ROUNDS = 20 };
	static uint8_t data[LARGE];
	struct commit_body small = {data, 64, rj_crc32c(~0u, data, 64), false};
	struct commit_body large = {
		data, LARGE, rj_crc32c(~0u, data, LARGE), false};
	unsigned round, n = 0, i;
	size_t before = 0, count;
	int result = 1;
	struct store *s;
	uint32_t file;
	struct okey k;

	fresh("memory");
	s = open_store();
	s->tight = true; /* then a file is cleaned of which less than half lives */
	for (round = 0; round < ROUNDS; round++) {
		file = s->files[s->file_count - 1].number;
		for (i = 0; i <= round; i++) {
			k = key_of(++n);
			commit_put(s->commit, &k, i < round ? &small : &large,
				done, &result, &err);
		}
		commit_flush(s->commit);
		CU_ASSERT_EQUAL_FATAL(result, 0);
		while (s->files[s->file_count - 1].number == file)
			CU_ASSERT_FALSE_FATAL(put(s, ++n) || del(s, n));
		while (clean_step(s))
			;
		k = key_of(++n);
		commit_delete_below(
			s->commit, &k, n, 0, &count, done, &result, &err);
		before = round ? before : memory();
	}
	CU_ASSERT_TRUE(memory() < before + 2 * LARGE);
	CU_ASSERT_EQUAL(store_close(s, &err), 0);
}

/* A mark says that all before it is durable; a second one says nothing. */
static void one_mark_is_enough(void)
{
	struct store *s;
	uint64_t end;
	unsigned i;

	fresh("marks");
	s = open_store();
	CU_ASSERT_EQUAL(put(s, 1), 0);
	end = s->end;
	CU_ASSERT_EQUAL(commit_mark(s->commit, false, &err), 0);
	CU_ASSERT_TRUE(s->end > end);
	end = s->end;
	for (i = 0; i < 100; i++)
		CU_ASSERT_EQUAL(commit_mark(s->commit, false, &err), 0);
	CU_ASSERT_EQUAL(s->end, end);
	CU_ASSERT_EQUAL(put(s, 2), 0);
	end = s->end;
	CU_ASSERT_EQUAL(commit_mark(s->commit, false, &err), 0);
	CU_ASSERT_TRUE(s->end > end);
	CU_ASSERT_EQUAL(store_close(s, &err), 0);
}

/* What a store has told its watcher, in bytes and objects. */
struct told {
	uint64_t bytes, objects;
};

static void tell(void *arg, const struct okey *okey, enum store_change what,
	uint32_t length)
{
	struct told *t = arg;

	t->bytes += what == STORE_ADDED ? length : -(uint64_t)length;
	t->objects += what == STORE_ADDED ? 1 : -1ul;
}

static void count(void *arg, const struct okey *okey, const struct idx_entry *e)
{
	struct told *t = arg;

	t->bytes += e->length;
	t->objects++;
}

static void damage_is_set_aside(void)
{
	struct told told = {0}, there = {0};
	char path[256], command[256];
	struct store *s;
	struct okey k;
	unsigned round;
	size_t trimmed;
	int result = 1;
	off_t at;
	int fd;

	fresh("aside");
	s = open_store();
	s->watch = tell;
	s->watch_arg = &told;
	churn(s, 21, 19);
	CU_ASSERT_EQUAL(put(s, 40), 0);
	k = key_of(40);
	at = (off_t)pos_offset(idx_find(s->index, &k)->pos) + 5000;
	path_in(path, "00000001.rjd");
	CU_ASSERT_EQUAL_FATAL(pos_file(idx_find(s->index, &k)->pos), 1);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CU_ASSERT_EQUAL(pwrite(fd, "", 1, at), 1);
	close(fd);
	quiet(true);
	churn(s, 41, 400);
	CU_ASSERT_TRUE(s->files[0].number > 1);
	idx_each(s->index, count, &there);
	CU_ASSERT_EQUAL(told.objects, there.objects);
	CU_ASSERT_EQUAL(told.bytes, there.bytes);
	for (round = 0; round < 3; round++) {
		CU_ASSERT_EQUAL(get(s, 40), -RJ_E_CORRUPT);
		CU_ASSERT_EQUAL(put(s, 40), -RJ_E_EXISTS);
		CU_ASSERT_EQUAL(get(s, 80), 0);
		CU_ASSERT_EQUAL(store_close(s, &err), 0);
		s = open_store();
	}
	/* the log goes round: only the file that had its bytes was set aside */
	churn(s, 441, 400);
	CU_ASSERT_TRUE(pos_file(idx_find(s->index, &k)->pos) > 20);
	snprintf(command, sizeof(command), "[ \"$(ls -A %s/damaged)\" = 00000001.rjd ]", dir);
	CU_ASSERT_EQUAL(system(command), 0);
	/* it is trimmed like others of its size */
	k.key.number = 41;
	CU_ASSERT_EQUAL(commit_delete_below(s->commit, &k, 41, BODY, &trimmed,
				done, &result, &err),
		0);
	commit_flush(s->commit);
	CU_ASSERT_EQUAL(trimmed, 1);
	CU_ASSERT_EQUAL(result, 0);
	CU_ASSERT_EQUAL(get(s, 40), -RJ_E_NOTFOUND);
	CU_ASSERT_EQUAL(put(s, 40), 0);
	quiet(false);
	CU_ASSERT_EQUAL(store_close(s, &err), 0);
}

/* Open a store whose checkpoint stands after 200 objects, and put ten more: closing
 * writes the checkpoint, as if a whole file had been appended since the one before, which
 * stands where its thread found a processor. */
static struct store *with_checkpoint(const char *name)
{
	struct store *s;
	unsigned n;

	fresh(name);
	s = open_store();
	for (n = 1; n <= 200; n++)
		put(s, n);
	s->appended = s->file_bytes;
	store_close(s, &err);
	s = open_store();
	CU_ASSERT_TRUE(pos_file(s->checkpoint_pos) > 1);
	CU_ASSERT_TRUE(s->appended < BODY);
	for (n = 201; n <= 210; n++)
		put(s, n);
	return s;
}

static unsigned there(struct store *s, unsigned last)
{
	unsigned n, count = 0;

	for (n = 1; n <= last; n++)
		count += get(s, n) == 0;
	return count;
}

/* Delete all below number N, at once. Returns how many there were. */
static size_t del_below(struct store *s, unsigned n)
{
	struct okey below = key_of(n);
	int result = 1;
	size_t count;

	CU_ASSERT_EQUAL(commit_delete_below(s->commit, &below, n, 0, &count,
				done, &result, &err),
		0);
	commit_flush(s->commit);
	CU_ASSERT_EQUAL(result, 0);
	return count;
}

/* Copy the store as a crash would leave it now, for fresh(NAME). */
static void copy_as(const char *name)
{
	char command[600];

	snprintf(command, sizeof(command), "cp -r %s %s/%s", dir, top, name);
	CU_ASSERT_EQUAL_FATAL(system(command), 0);
}

/* A checkpoint that is due while a put waits for its flush has nothing of that put: the
 * crash that comes first leaves a store that starts. */
static void a_checkpoint_has_what_is_written_only(void)
{
	struct store *s = with_checkpoint("pending");
	uint64_t before = s->checkpoint_pos;
	static uint8_t data[BODY];
	struct okey k = key_of(300);
	struct commit_body body = {data, BODY, 0, false};
	int result = 1;

	content(300, data);
	body.crc = rj_crc32c(~0u, data, BODY);
	s->appended = s->file_bytes;
	CU_ASSERT_EQUAL(
		commit_put(s->commit, &k, &body, done, &result, &err), 0);
	store_checkpoint_tick(s);
	store_checkpoint_end(s);
	copy_as("crashed");
	commit_flush(s->commit);
	CU_ASSERT_EQUAL(result, 0);
	store_checkpoint_end(s);
	CU_ASSERT_TRUE(s->checkpoint_pos > before);
	CU_ASSERT_EQUAL(store_close(s, &err), 0);
	fresh("crashed");
	CU_ASSERT_EQUAL_FATAL(try_open(&s), 0);
	CU_ASSERT_EQUAL(there(s, 210), 210);
	CU_ASSERT_EQUAL(get(s, 300), -RJ_E_NOTFOUND);
	CU_ASSERT_EQUAL(store_close(s, &err), 0);
}

/* A start reads from the checkpoint's file on, also if nothing lives there any more. */
static void a_checkpoint_keeps_its_files(void)
{
	struct store *s = with_checkpoint("keeps");
	uint32_t file = pos_file(s->checkpoint_pos);
	unsigned last = 210;

	while (s->files[s->file_count - 1].number == file)
		CU_ASSERT_EQUAL_FATAL(put(s, ++last), 0);
	CU_ASSERT_EQUAL(del_below(s, last), last - 1);
	CU_ASSERT_EQUAL(pos_file(s->checkpoint_pos), file);
	CU_ASSERT_EQUAL(store_close(s, &err), 0);
	CU_ASSERT_EQUAL_FATAL(try_open(&s), 0);
	CU_ASSERT_EQUAL(there(s, last), 1);
	CU_ASSERT_EQUAL(store_close(s, &err), 0);
}

/* The first checkpoint keeps its files while it is written, and after writing it failed: it may
 * be on the disk all the same. */
static void the_first_checkpoint_keeps_its_files(void)
{
	struct store *s;
	unsigned n = 0;

	fresh("first");
	s = open_store();
	CU_ASSERT_EQUAL(put(s, ++n), 0);
	s->appended = s->file_bytes;
	dir_syncs = 1;
	store_checkpoint_tick(s);
	CU_ASSERT_PTR_NOT_NULL(s->checkpoint);
	CU_ASSERT_EQUAL(pos_file(s->checkpoint_pos), 1);
	quiet(true);
	store_checkpoint_end(s);
	quiet(false);
	CU_ASSERT_EQUAL(dir_syncs, 0);
	while (s->files[s->file_count - 1].number == 1)
		CU_ASSERT_EQUAL_FATAL(put(s, ++n), 0);
	CU_ASSERT_EQUAL(del_below(s, n), n - 1);
	copy_as("first-cut");
	CU_ASSERT_EQUAL(store_close(s, &err), 0);
	fresh("first-cut");
	CU_ASSERT_EQUAL_FATAL(try_open(&s), 0);
	CU_ASSERT_EQUAL(pos_file(s->checkpoint_pos), 1);
	CU_ASSERT_EQUAL(there(s, n), 1);
	CU_ASSERT_EQUAL(store_close(s, &err), 0);
}

/* A new file whose name may not be durable is removed, whatever it was made of: the next
 * try makes it. */
static void a_file_that_failed_is_made_again(void)
{
	const struct file_head head = {
		.number = 2, .bytes = FILE_SMALL, .store_id = 1};
	char path[256], spare[256], in[256];
	unsigned syncs;
	int fd;

	fresh("again");
	CU_ASSERT_EQUAL(store_close(open_store(), &err), 0);
	path_in(in, "");
	path_in(path, "00000002.rjd");
	path_in(spare, "spare");
	for (syncs = 0; syncs < 3; syncs++) {
		fd = open(spare, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		CU_ASSERT_EQUAL(ftruncate(fd, FILE_SMALL), 0);
		close(fd);
		dir_syncs = (int)syncs;
		CU_ASSERT_EQUAL(store_file_make(in, path, spare, &head, &fd, &err),
			syncs ? -RJ_E_IO : 0);
		CU_ASSERT_EQUAL(dir_syncs, 0);
		if (!syncs) {
			close(fd);
			unlink(path);
		}
		CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0);
		CU_ASSERT_NOT_EQUAL(access(spare, F_OK), 0);
	}
}

/* On a disk without space for it a checkpoint that would make space is not tried again at
 * once: the server asks each few milliseconds. */
static void a_checkpoint_that_fails_waits(void)
{
	struct store *s = with_checkpoint("fails");
	uint32_t file = pos_file(s->checkpoint_pos);
	unsigned last = 210;
	char path[256];

	while (s->files[s->file_count - 1].number == file)
		CU_ASSERT_EQUAL_FATAL(put(s, ++last), 0);
	del_below(s, last);
	path_in(path, "checkpoint.tmp");
	CU_ASSERT_EQUAL(mkdir(path, 0700), 0);
	s->tight = true;
	quiet(true);
	store_checkpoint_tick(s);
	CU_ASSERT_PTR_NOT_NULL(s->checkpoint);
	store_checkpoint_end(s);
	store_checkpoint_tick(s);
	CU_ASSERT_PTR_NULL(s->checkpoint);
	store_checkpoint_end(s);
	quiet(false);
	CU_ASSERT_EQUAL(rmdir(path), 0);
	s->checkpoint_failed_ns -= 2000000000;
	store_checkpoint_tick(s);
	store_checkpoint_end(s);
	CU_ASSERT_TRUE(pos_file(s->checkpoint_pos) > file);
	CU_ASSERT_EQUAL(store_close(s, &err), 0);
}

/* With received a tombstone may not be durable when the file is dropped whose last object
 * it deletes: a cut would leave a checkpoint that names objects of a file that is gone. */
static void a_file_goes_after_its_tombstones(void)
{
	struct store_opts opts = {.file_bytes = FILE_SMALL, .received = true};
	struct store *s;
	unsigned n;

	store_close(with_checkpoint("received"), &err);
	opts.dir = dir;
	CU_ASSERT_EQUAL_FATAL(store_open(&opts, &s, &err), 0);
	for (n = 1; s->files[0].number == 1 && n <= 210; n++)
		CU_ASSERT_EQUAL(del(s, n), 0);
	CU_ASSERT_EQUAL(s->files[0].number, 2);
	CU_ASSERT_FALSE(s->dirty);
	CU_ASSERT_EQUAL(del(s, 210), 0);
	CU_ASSERT_TRUE(s->dirty);
	CU_ASSERT_EQUAL(store_close(s, &err), 0);
}

/* A disk that has space for a new file, and then not for what is to be written there (one
 * that writes each block to another place): a checkpoint does not begin in that file, in
 * which nothing is. The next start removes it. */
static void a_checkpoint_needs_a_record(void)
{
	struct store *s = with_checkpoint("needs");
	uint32_t file = pos_file(s->checkpoint_pos);
	unsigned last = 210;

	del_below(s, last + 1);
	quiet(true);
	while (pos_file(s->end) == file) {
		full = pos_offset(s->end) + rec_total(BODY) >
		       FILE_SMALL - FILE_SMALL / 8;
		put(s, ++last);
		if (!full)
			del(s, last);
	}
	CU_ASSERT_EQUAL(s->files[0].number, file);
	CU_ASSERT_EQUAL(pos_offset(s->end), FILE_HEAD_BYTES);
	s->tight = true;
	store_checkpoint_tick(s); /* as an idle server does */
	store_checkpoint_end(s);
	CU_ASSERT_NOT_EQUAL(store_close(s, &err), 0);
	full = false;
	CU_ASSERT_EQUAL_FATAL(try_open(&s), 0);
	quiet(false);
	CU_ASSERT_EQUAL(s->lost, 0);
	CU_ASSERT_EQUAL(put(s, ++last), 0);
	CU_ASSERT_EQUAL(store_close(s, &err), 0);
}

/* A read, also with RWF_NOWAIT, would bring the page there. */
static bool in_page_cache(int fd, off_t at)
{
	unsigned char there = 0;
	void *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, at);

	CU_ASSERT_NOT_EQUAL_FATAL(page, MAP_FAILED);
	CU_ASSERT_EQUAL(mincore(page, 4096, &there), 0);
	munmap(page, 4096);
	return there & 1;
}

/* After a sync that failed the page cache may have what the disk has not: a start, which tells
 * what is durable, reads the disk. */
static void a_start_reads_the_disk(void)
{
	const off_t at = FILE_SMALL - 4096; /* no start reads this, after a checkpoint */
	char in_memory[sizeof(top)], path[256], byte;
	struct store *s;
	int fd;

	strcpy(in_memory, top);
	strcpy(top, "/var/tmp/rjtest.XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(top));
	store_close(with_checkpoint("cache"), &err);
	path_in(path, "00000001.rjd");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CU_ASSERT_EQUAL_FATAL(pread(fd, &byte, 1, at), 1);
	CU_ASSERT_TRUE(in_page_cache(fd, at));
	s = open_store();
	CU_ASSERT_FALSE(in_page_cache(fd, at));
	CU_ASSERT_EQUAL(store_close(s, &err), 0);
	close(fd);
	rjtest_scratch_remove(top);
	strcpy(top, in_memory);
}

static void a_file_that_is_gone_is_missed(void)
{
	char path[256], kept[256];
	struct store *s;
	int fd;

	store_close(with_checkpoint("gone"), &err);
	path_in(path, "00000001.rjd");
	path_in(kept, "../kept");
	rename(path, kept);
	CU_ASSERT_EQUAL(try_open(&s), -RJ_E_CORRUPT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "00000001.rjd: gone"));
	rename(kept, path);
	s = open_store();
	CU_ASSERT_EQUAL(there(s, 210), 210);
	store_close(s, &err);
	/* cut off */
	fd = open(path, O_RDWR | O_CLOEXEC);
	CU_ASSERT_EQUAL(ftruncate(fd, FILE_SMALL / 2), 0);
	close(fd);
	quiet(true);
	CU_ASSERT_EQUAL(try_open(&s), -RJ_E_CORRUPT);
	quiet(false);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "gone or cut off"));
}

/* The checkpoint has an object in a file that was dropped after the cleaner had copied it;
 * a byte of the copy rots: that object is damaged, and the server starts. */
static void a_copy_that_rots_is_damaged(void)
{
	struct store *s = with_checkpoint("rots");
	uint64_t checkpoint = s->checkpoint_pos, pos;
	struct okey k = key_of(40);
	char path[PATH_MAX];
	unsigned n;
	int fd;

	for (n = 1; n < 210; n++)
		if (n != 40)
			CU_ASSERT_EQUAL(del(s, n), 0);
	while (clean_step(s))
		;
	pos = idx_find(s->index, &k)->pos;
	CU_ASSERT_TRUE(s->files[0].number > 1);
	CU_ASSERT_TRUE(pos > checkpoint);
	store_file_path(s, pos_file(pos), path);
	CU_ASSERT_EQUAL(store_close(s, &err), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CU_ASSERT_EQUAL(pwrite(fd, "", 1, (off_t)pos_offset(pos) + 5000), 1);
	close(fd);
	quiet(true);
	CU_ASSERT_EQUAL_FATAL(try_open(&s), 0);
	CU_ASSERT_EQUAL(s->checkpoint_pos, checkpoint);
	CU_ASSERT_EQUAL(get(s, 40), -RJ_E_CORRUPT);
	CU_ASSERT_EQUAL(put(s, 40), -RJ_E_EXISTS);
	CU_ASSERT_EQUAL(get(s, 210), 0);
	CU_ASSERT_EQUAL(del(s, 40), 0);
	CU_ASSERT_EQUAL(store_close(s, &err), 0);
	quiet(false);
}

static void all_files_gone_are_missed(void)
{
	char path[256];
	struct store *s;
	unsigned n;

	store_close(with_checkpoint("allgone"), &err);
	for (n = 1; n < 20; n++) {
		snprintf(path, sizeof(path), "%s/store/%08u.rjd", dir, n);
		unlink(path);
	}
	CU_ASSERT_EQUAL(try_open(&s), -RJ_E_CORRUPT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "gone: the log goes on there"));
	path_in(path, "checkpoint");
	unlink(path);
	s = open_store();
	CU_ASSERT_EQUAL(there(s, 210), 0);
	store_close(s, &err);
}

static void a_damaged_checkpoint_costs_time_only(void)
{
	char path[256];
	struct store *s;
	struct stat st;
	off_t at;
	int fd;
	uint8_t b;

	store_close(with_checkpoint("ckpt"), &err);
	path_in(path, "checkpoint");
	CU_ASSERT_EQUAL_FATAL(stat(path, &st), 0);
	quiet(true);
	for (at = 0; at < st.st_size; at += 97) {
		fd = open(path, O_RDWR | O_CLOEXEC);
		CU_ASSERT_EQUAL(pread(fd, &b, 1, at), 1);
		b ^= 4;
		CU_ASSERT_EQUAL(pwrite(fd, &b, 1, at), 1);
		s = open_store();
		CU_ASSERT_EQUAL(s->checkpoint_pos, 0);
		CU_ASSERT_EQUAL(there(s, 210), 210);
		CU_ASSERT_EQUAL(s->lost, 0);
		s->scan_all = true; /* so that it stays as it is */
		store_close(s, &err);
		b ^= 4;
		CU_ASSERT_EQUAL(pwrite(fd, &b, 1, at), 1);
		close(fd);
		at += at > 300 ? 1500 : 0;
	}
	quiet(false);
	s = open_store();
	CU_ASSERT_TRUE(s->checkpoint_pos != 0);
	CU_ASSERT_EQUAL(there(s, 210), 210);
	store_close(s, &err);
}

/* That there is a file where the next one is to be made, or no directory for it, is not
 * said of the object: it would be taken for another's, or for one that was deleted. */
static void a_file_is_no_object(void)
{
	char path[256], away[256];
	struct store *s;
	unsigned n = 0;
	int rc;

	fresh("file");
	s = open_store();
	quiet(true);
	while (pos_offset(s->end) < FILE_SMALL / 2)
		CU_ASSERT_EQUAL(put(s, ++n), 0);
	store_ahead_end(s); /* which removes the file that was made ahead */
	path_in(path, "00000002.rjd");
	CU_ASSERT_EQUAL(mkdir(path, 0700), 0);
	while (!(rc = put(s, ++n)))
		;
	CU_ASSERT_EQUAL(rc, -RJ_E_IO);
	CU_ASSERT_EQUAL(rmdir(path), 0);
	path_in(path, "");
	snprintf(away, sizeof(away), "%s/away", dir);
	CU_ASSERT_EQUAL(rename(path, away), 0);
	CU_ASSERT_EQUAL(put(s, n), -RJ_E_IO);
	CU_ASSERT_EQUAL(rename(away, path), 0);
	CU_ASSERT_EQUAL(put(s, n), 0);
	quiet(false);
	CU_ASSERT_EQUAL(store_close(s, &err), 0);
}

/* Claims, segments and holds of one number are three objects, also to what reads the
 * records, or a checkpoint. */
static void each_kind_is_its_own(void)
{
	unsigned kinds = 0, by_checkpoint = 0, round, n;
	struct store *s;
	char path[256];

	fresh("kinds");
	s = open_store();
	for (kind = 0; kind < RJ_KEY_KINDS; kind++) {
		CU_ASSERT_EQUAL(put(s, 5 + kind), 0);
		CU_ASSERT_EQUAL(put(s, 20), 0);
	}
	kind = RJ_KEY_LOG;
	for (n = 100; n < 300; n++) /* enough for a checkpoint */
		put(s, n);
	for (round = 0; round < 2; round++) {
		CU_ASSERT_EQUAL(store_close(s, &err), 0);
		path_in(path, "checkpoint");
		if (round)
			unlink(path);
		s = open_store();
		by_checkpoint += s->checkpoint_pos != 0;
		CU_ASSERT_EQUAL(s->lost, 0);
		for (kind = 0; kind < RJ_KEY_KINDS; kind++)
			kinds += !get(s, 5 + kind) && !get(s, 20) &&
				 get(s, 5 + (kind + 1) % RJ_KEY_KINDS) != 0;
	}
	CU_ASSERT_EQUAL(kinds, 2 * RJ_KEY_KINDS);
	CU_ASSERT_EQUAL(by_checkpoint, 1);
	kind = RJ_KEY_HOLD;
	CU_ASSERT_EQUAL(del(s, 20), 0);
	CU_ASSERT_EQUAL(get(s, 20), -RJ_E_NOTFOUND);
	kind = RJ_KEY_LOG;
	CU_ASSERT_EQUAL(get(s, 20), 0);
	CU_ASSERT_EQUAL(store_close(s, &err), 0);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(what_lives_is_copied),
		RJTEST(idle_steps_come_to_an_end),
		RJTEST(a_full_first_file_is_cleaned),
		RJTEST(copies_keep_no_memory),
		RJTEST(one_mark_is_enough),
		RJTEST(damage_is_set_aside),
		RJTEST(a_checkpoint_has_what_is_written_only),
		RJTEST(a_checkpoint_keeps_its_files),
		RJTEST(the_first_checkpoint_keeps_its_files),
		RJTEST(a_file_that_failed_is_made_again),
		RJTEST(a_checkpoint_that_fails_waits),
		RJTEST(a_file_goes_after_its_tombstones),
		RJTEST(a_checkpoint_needs_a_record),
		RJTEST(a_start_reads_the_disk),
		RJTEST(a_file_that_is_gone_is_missed),
		RJTEST(a_copy_that_rots_is_damaged),
		RJTEST(all_files_gone_are_missed),
		RJTEST(a_damaged_checkpoint_costs_time_only),
		RJTEST(a_file_is_no_object),
		RJTEST(each_kind_is_its_own),
	};
	int status;

	if (!rjtest_scratch(top))
		return 99;
	status = RJTEST_RUN("rjserver-clean", tests);
	return rjtest_scratch_remove(top) ? status : 99;
}
