// SPDX-License-Identifier: GPL-2.0-or-later
/* Write the image of a raw device from its log. */
#include "raw.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/log.h"
#include "log/raw-log.h"
#include "log/sealing.h"
#include "os/fileio.h"

#define CHUNK (1u << 20)

static int open_output(
	const struct options *o, uint64_t bytes, int *fd, struct rj_error *err)
{
	uint64_t size;
	struct stat st;
	int rc;

	if (stat(o->output, &st) == 0 && S_ISBLK(st.st_mode))
		*fd = open(o->output, O_WRONLY | O_EXCL | O_CLOEXEC);
	else
		*fd = open(o->output, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			0600);
	if (*fd == -1)
		return rj_fail_errno(err, errno, "%s", o->output);
	if (fstat(*fd, &st) == 0 && S_ISREG(st.st_mode))
		return ftruncate(*fd, (off_t)bytes) == -1
			       ? rj_fail_errno(err, errno, "%s", o->output)
			       : 0;
	rj_take_old_error(*fd, o->output);
	rc = rj_fd_size(*fd, o->output, &size, err);
	if (!rc && size < bytes)
		rc = rj_fail(err, RJ_E_NOSPACE,
			"%s: has %llu bytes, the device had %llu", o->output,
			(unsigned long long)size, (unsigned long long)bytes);
	return rc;
}

static int write_image(const struct options *o, const struct rj_ring *ring,
	struct rj_error *err)
{
	uint64_t bytes = rj_ring_bytes(ring), at, n;
	int fd = -1, rc = open_output(o, bytes, &fd, err), rc2;

	for (at = 0; !rc && at < bytes; at += n) {
		n = bytes - at < CHUNK ? bytes - at : CHUNK;
		rc = rj_pwrite_all(
			fd, ring->data + at, n, at, o->output, err);
	}
	if (!rc)
		rc = rj_fsync(fd, o->output, err);
	if (fd == -1)
		return rc;
	rc2 = rj_close(&fd, o->output, rc ? NULL : err);
	return rc ? rc : rc2;
}

static int read_log(const struct options *o, struct rj_store *store,
	const struct rj_log_id *id, struct rj_error *err)
{
	struct rj_raw_reading r = {0};
	struct rj_log_read_opts read = {0};
	struct rj_log_writer *w = NULL;
	struct rj_log_summary sum = {0};
	int rc;

	/* once to see that it can be read, before a writer is stopped */
	rc = rj_log_read(store, id, &read, rj_raw_take, &r, &sum, err);
	if (rc == -RJ_E_NOTFOUND || (!rc && !r.ring))
		rc = rj_fail(err, RJ_E_NOTFOUND,
			"%s: there is no raw log", o->device);
	if (!rc && !o->dry_run) {
		rc = rj_log_claim(store, id, NULL, &w, err);
		rj_ring_free(r.ring);
		r.ring = NULL;
		if (!rc)
			rc = rj_log_read(
				store, id, &read, rj_raw_take, &r, &sum, err);
		if (!rc)
			rc = write_image(o, r.ring, err);
	}
	if (!rc && !o->quiet)
		printf("%s: %llu segment%s, an image of %llu bytes%s%s\n",
			o->device, (unsigned long long)sum.segments,
			sum.segments == 1 ? "" : "s",
			(unsigned long long)r.ring->blocks *
				r.ring->block_size,
			o->dry_run ? "" : " written to ",
			o->dry_run ? "" : o->output);
	rj_log_writer_free(w);
	rj_ring_free(r.ring);
	return rc;
}

int raw_recover(const struct options *o, struct rj_error *err)
{
	struct rj_log_sealing sealing = {0};
	struct rj_store *store = NULL;
	struct rj_log_id id = {0};
	struct stat st;
	int rc;

	if (!o->dry_run && stat(o->output, &st) == 0 && !S_ISBLK(st.st_mode))
		return rj_fail(err, RJ_E_EXISTS,
			"%s: is there already; name another file", o->output);
	rc = rj_log_sealing_load(o->device, o->keyfile[0] ? o->keyfile : NULL,
		NULL, &sealing, err);
	if (!rc)
		rc = rj_store_open(o->device, NULL, &store, err);
	if (!rc) {
		rj_raw_uuid(o->device, id.volume_uuid);
		memcpy(id.journal_uuid, id.volume_uuid, RJ_UUID_BYTES);
		rj_log_sealing_use(&sealing, &id);
		rc = read_log(o, store, &id, err);
	}
	rj_store_close(store);
	rj_log_sealing_free(&sealing);
	return rc;
}
