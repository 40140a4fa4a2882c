// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/fileio.h"
#include "store/store.h"
#include "util/environ.h"

#define SMALL 4096u
#define LARGE (256u << 10)
#define TIMES 64
#define PUTS  32
#define LONG_PUTS 6

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static double median_us(int64_t *ns, unsigned n)
{
	qsort(ns, n, sizeof(*ns), by_size);
	return (double)ns[n / 2] / 1e3;
}

/* Write SMALL bytes TIMES times in place, with a flush each or without; the median. */
static int time_writes(int fd, const uint8_t *data, bool flush, double *us, const char *dir,
	struct rj_error *err)
{
	int64_t ns[TIMES];
	unsigned i;
	int rc;

	for (i = 0; i < TIMES; i++) {
		ns[i] = rj_monotonic_ns();
		rc = rj_pwrite_all(fd, data, SMALL, (uint64_t)i * SMALL, dir, err);
		if (!rc && flush && fdatasync(fd))
			rc = rj_fail_errno(err, errno, "%s: fdatasync", dir);
		if (rc)
			return rc;
		ns[i] = rj_monotonic_ns() - ns[i];
	}
	*us = median_us(ns, TIMES);
	return 0;
}

static int measure_disk(int fd, const uint8_t *data, const char *dir, struct device_cost *out,
	struct rj_error *err)
{
	double synced = 0, plain = 0;
	int64_t begun;
	int rc;

	/* the blocks are allocated and written before anything is measured */
	rc = rj_pwrite_all(fd, data, PROBE_DISK_BYTES, 0, dir, err);
	if (!rc)
		rc = rj_fsync(fd, dir, err);
	if (!rc)
		rc = time_writes(fd, data, false, &plain, dir, err);
	if (!rc)
		rc = time_writes(fd, data, true, &synced, dir, err);
	/* in one call: the kernel has many requests in flight, as for a commit and for writeback */
	begun = rj_monotonic_ns();
	if (!rc)
		rc = rj_pwrite_all(fd, data, PROBE_DISK_BYTES, 0, dir, err);
	if (!rc)
		rc = rj_fsync(fd, dir, err);
	if (rc)
		return rc;
	out->write_us = plain;
	out->flush_us = synced > plain ? synced - plain : 0;
	out->byte_us = ((double)(rj_monotonic_ns() - begun) / 1e3 - out->flush_us) /
		       PROBE_DISK_BYTES;
	if (out->byte_us < 0)
		out->byte_us = 0;
	return 0;
}

int probe_disk(const char *dir, struct device_cost *out, struct rj_error *err)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600), rc;
	uint8_t *data = NULL;

	if (fd < 0)
		return errno == EOPNOTSUPP || errno == EINVAL || errno == EISDIR
			       ? rj_fail(err, RJ_E_UNSUPPORTED,
					 "%s: its file system has no files without names (O_TMPFILE) past the page cache (O_DIRECT)",
					 dir)
			       : rj_fail_errno(err, errno, "%s: cannot make a file", dir);
	rc = posix_memalign((void **)&data, SMALL, PROBE_DISK_BYTES)
		     ? rj_fail(err, RJ_E_NOMEM, "out of memory")
		     : 0;
	if (!rc && rj_random_bytes(data, PROBE_DISK_BYTES))
		rc = rj_fail(err, RJ_E_IO, "cannot get random bytes");
	if (!rc)
		rc = measure_disk(fd, data, dir, out, err);
	free(data);
	close(fd); /* nothing in it is of use */
	return rc;
}

static int time_puts(struct rj_store *s, struct rj_key *key, const uint8_t *data, size_t bytes,
	unsigned count, double *us, struct rj_error *err)
{
	int64_t ns[PUTS];
	unsigned i;
	int rc;

	for (i = 0; i < count; i++) {
		key->number++;
		ns[i] = rj_monotonic_ns();
		rc = rj_store_put_new(s, key, data, bytes, err);
		if (rc)
			return rc;
		ns[i] = rj_monotonic_ns() - ns[i];
	}
	*us = median_us(ns, count);
	return 0;
}

static void remove_all(struct rj_store *s, struct rj_key *key, bool *left)
{
	int rc;

	for (; key->number; key->number--) {
		rc = rj_store_remove(s, key, NULL);
		*left |= rc && rc != -RJ_E_NOTFOUND;
	}
	key->kind = RJ_KEY_EPOCH;
	key->number = 1;
	rc = rj_store_remove(s, key, NULL);
	*left |= rc && rc != -RJ_E_NOTFOUND;
}

static int measure_store(struct rj_store *s, struct rj_key *key, const uint8_t *data,
	struct device_cost *out, struct rj_error *err)
{
	double little = 0, much = 0;
	int rc;

	/* where only folders are exclusive a writer must have one; it opens the connection */
	rc = rj_store_put_new(s, key, "rjadvise\n", 9, err);
	key->kind = RJ_KEY_LOG;
	key->number = 0;
	if (!rc)
		rc = time_puts(s, key, data, SMALL, PUTS, &little, err);
	if (!rc)
		rc = time_puts(s, key, data, LARGE, LONG_PUTS, &much, err);
	if (rc)
		return rc;
	*out = (struct device_cost){.write_us = little, .fua = true};
	out->byte_us = much > little ? (much - little) / (LARGE - SMALL) : 0;
	return 0;
}

int probe_store(const char *url, struct device_cost *out, bool *left, char folder[40],
	struct rj_error *err)
{
	struct rj_key key = {.kind = RJ_KEY_EPOCH, .number = 1};
	struct rj_store *s = NULL;
	uint8_t *data = malloc(LARGE);
	int rc;

	*left = false;
	if (!data || rj_uuid_random(key.journal_uuid) || rj_random_bytes(data, LARGE)) {
		free(data);
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	rj_uuid_text(key.journal_uuid, folder);
	rc = rj_store_open(url, NULL, &s, err);
	if (!rc) {
		rc = measure_store(s, &key, data, out, err);
		remove_all(s, &key, left);
	}
	rj_store_close(s);
	free(data);
	return rc;
}
