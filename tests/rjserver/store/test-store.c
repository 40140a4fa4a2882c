// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The store on a real directory, without the HTTP part: what crashes and
 * damage leave on the disk is made by hand, and the store opened on it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/fileio.h"
#include "rjserver/store/commit.h"
#include "rjserver/store/store-checkpoint.h"
#include "rjserver/store/store.h"
#include "support/rjtest.h"
#include "util/crc32c.h"

#define FILE_SMALL (1u << 20)
#define BODY_MOST  9000

static char top[RJTEST_DIR];

static struct okey key_of(unsigned n)
{
	struct okey k = {.name = "n", .key = {.kind = RJ_KEY_LOG, .number = n}};

	memset(k.key.journal_uuid, 7, RJ_UUID_BYTES);
	return k;
}

/* The content of object N: no byte of it is zero. */
static size_t content(unsigned n, uint8_t *out)
{
	size_t len = n % 5 == 4 ? 6000 + n % 3000 : 1 + n * 37 % 900, i;
	uint32_t x = n * 2654435761u;

	for (i = 0; i < len; i++) {
		x = x * 1664525 + 1013904223;
		out[i] = (uint8_t)(1 + (x >> 24) % 255);
	}
	return len;
}

static int result; /* of the last write */
static unsigned syncs, syncs_at_answer;

int fdatasync(int fd) /* in place of libc's */
{
	syncs++;
	return (int)syscall(SYS_fdatasync, fd);
}

static void done(void *arg, int rc, const struct rj_error *err)
{
	result = rc;
	syncs_at_answer = syncs;
}

static off_t unreadable; /* a page of each data file; 0: none */

ssize_t pread(int fd, void *out, size_t len, off_t off) /* in place of libc's */
{
	if (unreadable && off < unreadable + BATCH_ALIGN &&
		off + (off_t)len > unreadable) {
		errno = EIO;
		return -1;
	}
	return syscall(SYS_pread64, fd, out, len, off);
}

/* Into the batch; the content stays where it is until the flush. */
static int put(struct store *s, unsigned n)
{
	static uint8_t data[64][BODY_MOST];
	static unsigned turn;
	uint8_t *d = data[turn++ % 64];
	struct okey k = key_of(n);
	struct rj_error err;
	uint32_t len = (uint32_t)content(n, d);
	struct commit_body body = {d, len, rj_crc32c(~0u, d, len), false};

	result = 1;
	return commit_put(s->commit, &k, &body, done, NULL, &err);
}

static int put_now(struct store *s, unsigned n)
{
	int rc = put(s, n);

	if (rc)
		return rc;
	commit_flush(s->commit);
	return result;
}

static int del_now(struct store *s, unsigned n)
{
	struct okey k = key_of(n);
	struct rj_error err;
	int rc;

	result = 1;
	rc = commit_delete(s->commit, &k, done, NULL, &err);
	if (rc)
		return rc;
	commit_flush(s->commit);
	return result;
}

/* 0: there with its content; -RJ_E_...; 1: wrong bytes. */
static int get(struct store *s, unsigned n)
{
	uint8_t want[BODY_MOST];
	struct rj_buf got = {0};
	struct okey k = key_of(n);
	struct rj_error err;
	int rc = store_get(s, &k, &got, &err);

	if (!rc)
		rc = got.len != content(n, want) ||
		     memcmp(got.data, want, got.len);
	rj_buf_free(&got);
	return rc;
}

static size_t listed(struct store *s)
{
	struct okey k = key_of(0);
	const struct idx_entry *e = NULL;
	size_t count = 0;

	while ((e = idx_next(s->index, &k, e ? e->number : 0)))
		count++;
	return count;
}

static struct store *open_at(const char *dir)
{
	struct store_opts opts = {.dir = dir, .file_bytes = FILE_SMALL};
	struct rj_error err = {0};
	struct store *s = NULL;

	if (store_open(&opts, &s, &err)) {
		printf("# %s\n", err.msg);
		CU_FAIL_FATAL("the store does not open");
	}
	return s;
}

static char *dir_of(const char *name)
{
	static char path[16][128];
	static int turn;
	char *p = path[turn++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", top, name);
	return p;
}

static void each_file(
	const char *dir, void (*fn)(const char *path, void *arg), void *arg)
{
	char path[512];
	struct dirent *de;
	DIR *d = opendir(dir);

	while (d && (de = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", dir, de->d_name);
		if (de->d_name[0] != '.')
			fn(path, arg);
	}
	if (d)
		closedir(d);
}

static void remove_one(const char *path, void *arg)
{
	unlink(path);
}

static void remove_store(const char *dir)
{
	static const char *const parts[] = {"store", "damaged", ""};
	char path[256];
	int i;

	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, parts[i]);
		each_file(path, remove_one, NULL);
		rmdir(path);
	}
}

static void copy_one(const char *path, void *arg)
{
	static uint8_t data[FILE_SMALL * 2];
	char to[512];
	ssize_t n;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return; /* a thread has just renamed it */
	n = read(fd, data, sizeof(data));
	close(fd);
	snprintf(to, sizeof(to), "%s/%s", (char *)arg, strrchr(path, '/') + 1);
	fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (n < 0 || n == sizeof(data) || write(fd, data, (size_t)n) != n)
		abort();
	close(fd);
}

/* What is on the disk right now, as a crash would leave it. */
static void copy_store(const char *from, const char *to)
{
	char src[256], dst[256];

	remove_store(to);
	snprintf(src, sizeof(src), "%s/store", from);
	snprintf(dst, sizeof(dst), "%s/store", to);
	if (mkdir(to, 0700) || mkdir(dst, 0700))
		abort();
	each_file(src, copy_one, dst);
}

static int data_file(const char *dir)
{
	char path[160];
	int fd;

	snprintf(path, sizeof(path), "%s/store/00000001.rjd", dir);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		abort();
	return fd;
}

static void flip(int fd, uint64_t off)
{
	uint8_t b;

	if (pread(fd, &b, 1, (off_t)off) != 1)
		abort();
	b ^= 0x41;
	if (pwrite(fd, &b, 1, (off_t)off) != 1)
		abort();
}

static void quiet_stderr(bool quiet)
{
	static int saved = -1;
	int null;

	fflush(stderr);
	if (saved < 0)
		saved = dup(2);
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	dup2(quiet ? null : saved, 2);
	close(null);
}

/*
 * Objects 1..COUNT in batches of 3, then stopped or not. Returns the offset
 * after the last byte that is not zero.
 */
static uint64_t make_store(const char *dir, unsigned count, bool clean)
{
	char from[128];
	struct rj_error err;
	struct store *s;
	uint64_t end;
	unsigned n;

	snprintf(from, sizeof(from), "%s.live", dir);
	remove_store(from);
	remove_store(dir);
	s = open_at(from);
	for (n = 1; n <= count; n++) {
		put(s, n);
		if (n % 3 == 0 || n == count)
			commit_flush(s->commit);
	}
	end = pos_offset(s->end);
	if (!clean)
		copy_store(from, dir);
	if (store_close(s, &err))
		abort();
	if (clean) {
		copy_store(from, dir);
		end += rec_total(0);
	}
	return end;
}

/*
 * The heart of it: one byte of the data file changed, any byte. No object is
 * wrong, none has silently gone, none can be written a second time; and after
 * another start the same holds.
 */
static void flip_every_byte(bool clean, unsigned step)
{
	enum { COUNT = 8 };
	char *dir = dir_of("flip");
	unsigned n, silent = 0, wrong = 0, twice = 0, lost = 0, hidden = 0;
	unsigned damaged = 0, round;
	uint64_t off, end;
	struct rj_error err;
	struct store *s;
	char work[140];
	int fd, rc;

	snprintf(work, sizeof(work), "%s.work", dir);
	end = make_store(dir, COUNT, clean);
	quiet_stderr(true);
	for (off = 0; off < end; off += step) {
		copy_store(dir, work);
		fd = data_file(work);
		flip(fd, off);
		close(fd);
		for (round = 0; round < 2; round++) {
			s = open_at(work);
			lost += s->lost;
			hidden += listed(s) != COUNT;
			for (n = 1; n <= COUNT; n++) {
				rc = get(s, n);
				damaged += rc == -RJ_E_CORRUPT;
				silent += rc == -RJ_E_NOTFOUND;
				wrong += rc > 0;
				twice += put(s, n) != -RJ_E_EXISTS;
			}
			if (store_close(s, &err))
				abort();
		}
	}
	quiet_stderr(false);
	printf("# %u damaged answers\n", damaged);
	CU_ASSERT_EQUAL(silent, 0);
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_EQUAL(twice, 0);
	CU_ASSERT_EQUAL(hidden, 0);
	CU_ASSERT_EQUAL(lost, 0);
	CU_ASSERT_TRUE(damaged > 0);
}

static void flip_after_clean_stop(void)
{
	flip_every_byte(true, getenv("RJ_FLIP_ALL") ? 1 : 67);
}

static void flip_after_crash(void)
{
	flip_every_byte(false, getenv("RJ_FLIP_ALL") ? 1 : 71);
}

/* Make OF_8 of 8 sectors from FROM to TO zero, as those that were not written. Closes FD. */
static void lose_sectors(int fd, uint64_t from, uint64_t to, unsigned of_8)
{
	static const uint8_t zeros[512];
	uint64_t off;

	for (off = from; off < to; off += sizeof(zeros))
		if (random() % 8 < of_8)
			if (pwrite(fd, zeros, sizeof(zeros), (off_t)off) != sizeof(zeros))
				abort();
	close(fd);
}

/*
 * A power cut while the last batch was written: any of its sectors may be
 * missing. All before is there, of the batch each object is whole or absent,
 * and what is absent can be written again.
 */
static void torn_batch(void)
{
	enum { DONE = 6, BATCH = 9, ROUNDS = 300 };
	char *dir = dir_of("torn"), *live = dir_of("torn.live");
	char *again = dir_of("torn.again");
	unsigned round, n, wrong = 0, lost = 0, refused = 0, absent = 0;
	uint64_t from, to;
	struct rj_error err;
	struct store *s;
	char work[140];
	int fd, rc;

	srandom((unsigned)rjtest_seed());
	snprintf(work, sizeof(work), "%s.work", dir);
	remove_store(live);
	remove_store(dir);
	s = open_at(live);
	for (n = 1; n <= DONE; n++)
		put_now(s, n);
	from = pos_offset(s->end);
	for (; n <= DONE + BATCH; n++)
		put(s, n);
	commit_flush(s->commit);
	to = pos_offset(s->end);
	copy_store(live, dir);
	store_close(s, &err);
	quiet_stderr(true);
	for (round = 0; round < ROUNDS; round++) {
		copy_store(dir, work);
		fd = data_file(work);
		lose_sectors(fd, from, to, round % 9);
		s = open_at(work);
		lost += s->lost;
		for (n = 1; n <= DONE + BATCH; n++) {
			rc = get(s, n);
			wrong += rc && !(n > DONE && rc == -RJ_E_NOTFOUND);
			absent += rc == -RJ_E_NOTFOUND;
			if (rc == -RJ_E_NOTFOUND)
				refused += put_now(s, n) != 0;
		}
		copy_store(work, again);
		store_close(s, &err);
		s = open_at(again);
		for (n = 1; n <= DONE + BATCH; n++)
			wrong += get(s, n) != 0;
		lost += s->lost;
		store_close(s, &err);
	}
	quiet_stderr(false);
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_EQUAL(lost, 0);
	CU_ASSERT_EQUAL(refused, 0);
	CU_ASSERT_TRUE(absent > ROUNDS);
}

/* The same of the first batch of a file, whose records name none before them in it. */
static void torn_first_batch(void)
{
	enum { BATCH = 9, ROUNDS = 100 };
	char *dir = dir_of("first"), *live = dir_of("first.live");
	unsigned round, n = 0, done_before, wrong = 0, lost = 0, absent = 0;
	char work[140], path[200];
	uint64_t to;
	struct rj_error err;
	struct store *s;
	int fd, rc;

	srandom((unsigned)rjtest_seed());
	snprintf(work, sizeof(work), "%s.work", dir);
	s = open_at(live);
	do {
		done_before = n;
		while (n < done_before + BATCH)
			put(s, ++n);
		commit_flush(s->commit);
	} while (s->file_count == 1);
	CU_ASSERT_EQUAL(pos_file(s->end), 2);
	to = pos_offset(s->end);
	copy_store(live, dir);
	store_close(s, &err);
	quiet_stderr(true);
	for (round = 0; round < ROUNDS; round++) {
		copy_store(dir, work);
		snprintf(path, sizeof(path), "%s/store/00000002.rjd", work);
		fd = open(path, O_RDWR | O_CLOEXEC);
		lose_sectors(fd, FILE_HEAD_BYTES, to, 1 + round % 8);
		s = open_at(work);
		lost += s->lost;
		for (n = 1; n <= done_before + BATCH; n++) {
			rc = get(s, n);
			wrong += rc && !(n > done_before &&
					       rc == -RJ_E_NOTFOUND);
			absent += rc == -RJ_E_NOTFOUND;
		}
		if (get(s, n - 1))
			wrong += put_now(s, n - 1) != 0;
		store_close(s, &err);
		s = open_at(work);
		lost += s->lost;
		wrong += get(s, n - 1) != 0;
		store_close(s, &err);
	}
	quiet_stderr(false);
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_EQUAL(lost, 0);
	CU_ASSERT_TRUE(absent > ROUNDS);
}

/* Sectors gone below what a later record calls durable: more than one byte,
 * and names may be lost. Then nothing is "not found" any more. */
static void lost_middle(void)
{
	enum { COUNT = 9 };
	char *dir = dir_of("lost");
	char path[160], accepted[512];
	static const uint8_t zeros[BATCH_ALIGN];
	struct rj_error err;
	struct store *s;
	FILE *out;
	int fd;

	make_store(dir, COUNT, true);
	fd = data_file(dir);
	/* the first batch: objects 1 to 3, in the block after the mark's */
	if (pwrite(fd, zeros, sizeof(zeros), FILE_HEAD_BYTES + BATCH_ALIGN) !=
		(ssize_t)sizeof(zeros))
		abort();
	close(fd);
	quiet_stderr(true);
	s = open_at(dir);
	CU_ASSERT_EQUAL(s->lost, 1);
	CU_ASSERT_EQUAL(get(s, 1), -RJ_E_CORRUPT);
	CU_ASSERT_EQUAL(get(s, 100), -RJ_E_CORRUPT);
	CU_ASSERT_EQUAL(put_now(s, 1), -RJ_E_CORRUPT);
	CU_ASSERT_EQUAL(put_now(s, 100), -RJ_E_CORRUPT);
	CU_ASSERT_EQUAL(get(s, COUNT), 0);
	CU_ASSERT_EQUAL(put_now(s, COUNT), -RJ_E_EXISTS);
	store_close(s, &err);
	/* the place that the message names: after the first mark */
	snprintf(accepted, sizeof(accepted), "00000001:%llu\n",
		(unsigned long long)(FILE_HEAD_BYTES + rec_total(0)));
	snprintf(path, sizeof(path), "%s/damaged/accepted", dir);
	out = fopen(path, "w");
	fputs(accepted, out);
	fclose(out);
	s = open_at(dir);
	CU_ASSERT_EQUAL(s->lost, 0);
	CU_ASSERT_EQUAL(get(s, 1), -RJ_E_NOTFOUND);
	CU_ASSERT_EQUAL(put_now(s, 1), 0);
	CU_ASSERT_EQUAL(get(s, 1), 0);
	store_close(s, &err);
	quiet_stderr(false);
}

/*
 * One page cannot be read during one start, any page: the store does not open, or no object
 * has silently gone. When it can be read again, all is there.
 */
static void unreadable_page(bool clean)
{
	enum { COUNT = 32 };
	char *dir = dir_of("unreadable");
	uint64_t end = make_store(dir, COUNT, clean);
	unsigned n, silent = 0, wrong = 0, lost = 0, refused = 0, opened = 0;
	struct store_opts opts = {.file_bytes = FILE_SMALL};
	struct rj_error err;
	struct store *s;
	char work[140];
	off_t off;
	int rc;

	snprintf(work, sizeof(work), "%s.work", dir);
	opts.dir = work;
	quiet_stderr(true);
	for (off = BATCH_ALIGN; off < (off_t)end + 4 * BATCH_ALIGN;
		off += BATCH_ALIGN) {
		copy_store(dir, work);
		unreadable = off;
		rc = store_open(&opts, &s, &err);
		refused += rc == -RJ_E_IO;
		opened += !rc;
		for (n = 1; n <= COUNT && !rc; n++) {
			silent += get(s, n) == -RJ_E_NOTFOUND;
			wrong += get(s, n) > 0;
			silent += !put(s, n);
		}
		unreadable = 0;
		if (!rc)
			store_close(s, &err);
		s = open_at(work);
		lost += s->lost;
		for (n = 1; n <= COUNT; n++)
			wrong += get(s, n) != 0;
		store_close(s, &err);
	}
	quiet_stderr(false);
	CU_ASSERT_EQUAL(silent, 0);
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_EQUAL(lost, 0);
	CU_ASSERT_TRUE(refused > 0);
	CU_ASSERT_TRUE(opened > refused);
}

static void unreadable_after_clean_stop(void)
{
	unreadable_page(true);
}

static void unreadable_after_crash(void)
{
	unreadable_page(false);
}

static void truncated(void)
{
	enum { COUNT = 9 };
	char *dir = dir_of("cut");
	uint64_t end = make_store(dir, COUNT, true), len;
	unsigned n, silent, wrong;
	struct rj_error err;
	struct store *s;
	char work[140];
	int fd, rc;

	snprintf(work, sizeof(work), "%s.work", dir);
	quiet_stderr(true);
	for (len = FILE_HEAD_BYTES; len < end + 4096; len += 1711) {
		copy_store(dir, work);
		fd = data_file(work);
		if (ftruncate(fd, (off_t)len))
			abort();
		close(fd);
		s = open_at(work);
		silent = wrong = 0;
		for (n = 1; n <= COUNT; n++) {
			rc = get(s, n);
			silent += rc == -RJ_E_NOTFOUND;
			wrong += rc > 0;
			rc = put_now(s, n);
			wrong += rc != -RJ_E_EXISTS && rc != -RJ_E_CORRUPT;
		}
		CU_ASSERT_EQUAL(silent, 0);
		CU_ASSERT_EQUAL(wrong, 0);
		store_close(s, &err);
	}
	quiet_stderr(false);
}

/* Random writes, deletions, stops and crashes, over many small files. */
static void as_a_table(void)
{
	enum { KEYS = 400, STEPS = 6000 };
	static bool there[KEYS + 1];
	char *dir = dir_of("table"), *crash = dir_of("table.crash");
	unsigned step, n, wrong = 0, lost = 0, most_files = 0, resumed = 0;
	struct rj_error err;
	struct store *s;

	srandom((unsigned)rjtest_seed());
	remove_store(dir);
	remove_store(crash);
	s = open_at(dir);
	for (step = 0; step < STEPS; step++) {
		n = 1 + (unsigned)random() % KEYS;
		/* a trimmed log: what is low goes away in the end */
		if (random() % 2)
			n = 1 + (step / 20 + n % 20) % KEYS;
		if (random() % 5 < 3) {
			wrong += put_now(s, n) != (there[n] ? -RJ_E_EXISTS : 0);
			there[n] = true;
		} else {
			wrong += del_now(s, n) !=
				 (there[n] ? 0 : -RJ_E_NOTFOUND);
			there[n] = false;
		}
		if (s->file_count > most_files)
			most_files = (unsigned)s->file_count;
		if (random() % 300)
			continue;
		if (random() % 2) {
			wrong += store_close(s, &err) != 0;
		} else {
			copy_store(dir, crash);
			store_close(s, &err);
			copy_store(crash, dir);
		}
		s = open_at(dir);
		lost += s->lost;
		resumed += s->checkpoint_pos != 0;
		for (n = 1; n <= KEYS; n++)
			wrong += get(s, n) != (there[n] ? 0 : -RJ_E_NOTFOUND);
	}
	for (n = 1; n <= KEYS; n++)
		if (there[n])
			wrong += del_now(s, n) != 0;
	CU_ASSERT_EQUAL(listed(s), 0);
	store_checkpoint_end(s); /* of which a thread is perhaps still to be waited for */
	store_drop_dead(s);
	/* dead ones are dropped, but for those that a checkpoint needs */
	CU_ASSERT_TRUE(s->file_count <= 4);
	CU_ASSERT_TRUE(most_files > 3);
	CU_ASSERT_TRUE(resumed > 3); /* from a checkpoint */
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_EQUAL(lost, 0);
	store_close(s, &err);
}

/* The same key twice, and reads between, while the batch gathers. */
static void within_a_batch(void)
{
	char *dir = dir_of("batch");
	struct okey k = key_of(1);
	struct rj_error err;
	struct store *s = open_at(dir);

	CU_ASSERT_EQUAL(put(s, 1), 0);
	CU_ASSERT_EQUAL(result, 1); /* not answered yet */
	CU_ASSERT_EQUAL(put(s, 1), -RJ_E_EXISTS);
	CU_ASSERT_EQUAL(put(s, 2), 0);
	CU_ASSERT_EQUAL(get(s, 2), 0);
	CU_ASSERT_EQUAL(put(s, 3), 0);
	result = 1;
	CU_ASSERT_EQUAL(commit_delete(s->commit, &k, done, NULL, &err), 0);
	CU_ASSERT_EQUAL(
		commit_delete(s->commit, &k, done, NULL, &err), -RJ_E_NOTFOUND);
	CU_ASSERT_EQUAL(result, 0);
	CU_ASSERT_EQUAL(get(s, 1), -RJ_E_NOTFOUND);
	CU_ASSERT_EQUAL(put_now(s, 1), 0);
	CU_ASSERT_EQUAL(get(s, 1), 0);
	store_close(s, &err);
}

/* A small object, which DELETE below with a least size spares, is deleted in the same batch. */
static void spared_and_deleted(void)
{
	struct okey small = key_of(1), below = key_of(10); /* of 38 bytes */
	char *dir = dir_of("spared");
	struct rj_error err;
	struct store *s = open_at(dir);
	unsigned round;
	size_t count;

	CU_ASSERT_EQUAL(put(s, 1), 0);
	CU_ASSERT_EQUAL(put_now(s, 4), 0);
	CU_ASSERT_EQUAL(commit_delete_below(s->commit, &below, 10, 1000, &count,
				done, NULL, &err),
		0);
	CU_ASSERT_EQUAL(count, 1);
	CU_ASSERT_EQUAL(
		commit_delete(s->commit, &small, done, NULL, &err), 0);
	result = 1;
	commit_flush(s->commit);
	CU_ASSERT_EQUAL(result, 0);
	for (round = 0; round < 2; round++) {
		CU_ASSERT_EQUAL(s->files[0].live, 0);
		CU_ASSERT_EQUAL(s->files[0].live_bytes, 0);
		CU_ASSERT_EQUAL(get(s, 1), -RJ_E_NOTFOUND);
		CU_ASSERT_EQUAL(get(s, 4), -RJ_E_NOTFOUND);
		store_close(s, &err);
		s = open_at(dir);
	}
	store_close(s, &err);
}

static void answered_after_the_sync(void)
{
	struct store *s = open_at(dir_of("sync"));
	unsigned size, n = 0, i, before;
	struct rj_error err;

	for (size = 1; size <= 4; size++) {
		for (i = 0; i < size; i++)
			CU_ASSERT_EQUAL(put(s, ++n), 0);
		before = syncs;
		commit_flush(s->commit);
		CU_ASSERT_EQUAL(result, 0);
		CU_ASSERT_TRUE(syncs_at_answer > before);
	}
	store_close(s, &err);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(answered_after_the_sync),
		RJTEST(within_a_batch),
		RJTEST(spared_and_deleted),
		RJTEST(flip_after_clean_stop),
		RJTEST(flip_after_crash),
		RJTEST(torn_batch),
		RJTEST(torn_first_batch),
		RJTEST(lost_middle),
		RJTEST(unreadable_after_clean_stop),
		RJTEST(unreadable_after_crash),
		RJTEST(truncated),
		RJTEST(as_a_table),
	};
	int status;

	if (!rjtest_scratch(top))
		return 99;
	status = RJTEST_RUN("rjserver-store", tests);
	return rjtest_scratch_remove(top) ? status : 99;
}
