// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target for what rjserver finds on its disk: a data file's records, and a
 * checkpoint; built and run by scripts/fuzz. An input is a byte that says which of
 * the two it is for, then that file without what it ends with (zeros); the other
 * file is a whole one.
 *   bit 0: the checkpoint, else the data file
 *   bit 1: right checksums in its heads
 * The store opens or refuses with a reason; of one that opened each object is read
 * or damaged; then it closes and opens again.
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rjserver/record/record.h"
#include "rjserver/store/commit.h"
#include "rjserver/store/store-checkpoint.h"
#include "rjserver/store/store.h"
#include "util/bytes.h"
#include "util/crc32c.h"

#define CHECKPOINT 1
#define RIGHT_CRC  2
#define FILE_BYTES (1 << 20)
#define UUID	   "01234567-89ab-4cde-8123-456789abcdef"
#define HEAD	   64 /* of a checkpoint and of a data file, with its CRC */
#define BODY_AT	   48 /* a checkpoint's, of what follows */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static char dir[200], log_path[300], check_path[300];
static struct rj_buf log_file, check_file; /* whole ones */
static int seen; /* objects that were read */

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz-storefile: %s\n", what);
	abort();
}

static int remove_one(
	const char *path, const struct stat *st, int type, struct FTW *where)
{
	return strcmp(path, dir) ? remove(path) : 0;
}

static void empty(void)
{
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void clean_up(void)
{
	empty();
	rmdir(dir);
}

static void write_file(const char *path, const void *data, size_t len)
{
	FILE *f = fopen(path, "w");

	must(f && (!len || fwrite(data, len, 1, f) == 1) && !fclose(f), path);
}

static void read_file(const char *path, struct rj_buf *out)
{
	static char raw[FILE_BYTES];
	FILE *f = fopen(path, "r");
	size_t n;

	must(f, path);
	n = fread(raw, 1, sizeof(raw), f);
	while (n && !raw[n - 1])
		n--;
	must(!rj_buf_append(out, raw, n) && !fclose(f), path);
}

static int open_store(struct store **s, struct rj_error *err)
{
	struct store_opts o = {
		.dir = dir, .received = true, .file_bytes = FILE_BYTES};

	return store_open(&o, s, err);
}

static void look_at(void *arg, const struct okey *k, const struct idx_entry *e)
{
	struct rj_buf b = {0};
	struct rj_error err = {0};

	if (store_get(arg, k, &b, &err))
		must(err.msg[0], "no reason");
	else
		seen++;
	rj_buf_free(&b);
}

/* Open, read all, close. False: it was refused. */
static bool one_life(void)
{
	struct rj_error err = {0};
	struct store *s = NULL;

	if (open_store(&s, &err)) {
		must(err.msg[0], "refused without a reason");
		return false;
	}
	idx_each(s->index, look_at, s);
	store_close(s, &err);
	return true;
}

static void dress_up(uint8_t mode, uint8_t *p, size_t len)
{
	size_t at;

	if (!(mode & RIGHT_CRC) || len < HEAD)
		return;
	if (mode & CHECKPOINT)
		rj_put_le32(p + BODY_AT, rj_crc32c(~0u, p + HEAD, len - HEAD));
	rj_put_le32(p + HEAD - 4, rj_crc32c(~0u, p, HEAD - 4));
	if (mode & CHECKPOINT)
		return;
	for (at = FILE_HEAD_BYTES; at + REC_HEAD_BYTES <= len; at += REC_ALIGN)
		if (!memcmp(p + at, "RJRH", 4) || !memcmp(p + at, "RJRT", 4))
			rj_put_le32(p + at + REC_HEAD_BYTES - 4,
				rj_crc32c(~0u, p + at, REC_HEAD_BYTES - 4));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char sub[300];
	uint8_t *p;
	bool check;

	if (!size)
		return 0;
	check = data[0] & CHECKPOINT;
	p = malloc(size);
	must(p, "out of memory");
	memcpy(p, data + 1, size - 1);
	dress_up(data[0], p, size - 1);
	empty();
	snprintf(sub, sizeof(sub), "%s/store", dir);
	must(!mkdir(sub, 0700), sub);
	write_file(check_path, check ? p : check_file.data,
		check ? size - 1 : check_file.len);
	write_file(log_path, check ? log_file.data : p,
		check ? log_file.len : size - 1);
	free(p);
	must(!truncate(log_path, FILE_BYTES), log_path);
	if (one_life())
		one_life();
	return 0;
}

/* A store with a few objects and deletions, left in order. */
static void make_whole(void)
{
	uint8_t bytes[] = "seventeen bytes..";
	struct commit_body body = {bytes, 17, rj_crc32c(~0u, bytes, 17), false};
	struct okey k = {.name = "v", .key = {.kind = RJ_KEY_LOG}};
	struct rj_error err = {0};
	struct store *s = NULL;

	must(!open_store(&s, &err) && rj_uuid_parse(UUID, k.key.journal_uuid),
		err.msg);
	for (k.key.number = 1; k.key.number < 5; k.key.number++)
		must(!commit_put(s->commit, &k, &body, NULL, NULL, &err),
			err.msg);
	k.key.number = 2;
	commit_flush(s->commit);
	must(!commit_delete(s->commit, &k, NULL, NULL, &err), err.msg);
	commit_flush(s->commit);
	must(!checkpoint_encode(s, &check_file), "no checkpoint");
	must(!store_close(s, &err), err.msg);
	read_file(log_path, &log_file);
	write_file(check_path, check_file.data, check_file.len);
	must(one_life() && seen == 3, "its own store cannot be read");
}

static void write_seeds(const char *to)
{
	char path[512];
	uint8_t mode;
	const struct rj_buf *b;
	FILE *f;

	for (mode = 0; mode < 4; mode++) {
		b = mode & CHECKPOINT ? &check_file : &log_file;
		snprintf(path, sizeof(path), "%s/whole-%d", to, mode);
		f = fopen(path, "w");
		must(f && putc(mode, f) != EOF &&
				(!b->len || fwrite(b->data, b->len, 1, f) == 1) &&
				!fclose(f),
			path);
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *in = getenv("RJ_FUZZ_DIR"), *seeds = getenv("RJ_SEEDS");

	snprintf(dir, sizeof(dir), "%s/rjfuzz-disk.XXXXXX", in ? in : "/tmp");
	must(mkdtemp(dir), "no directory; see RJ_FUZZ_DIR");
	snprintf(log_path, sizeof(log_path), "%s/store/00000001.rjd", dir);
	snprintf(check_path, sizeof(check_path), "%s/store/checkpoint", dir);
	atexit(clean_up);
	make_whole();
	if (seeds) {
		write_seeds(seeds);
		exit(0);
	}
	return 0;
}
