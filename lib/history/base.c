// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/base.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "history/base/target.h"
#include "log/floor/floor-all.h"
#include "os/bio.h"
#include "os/fileio.h"
#include "store/url.h"
#include "util/environ.h"

#define LOCK_WAIT_NS 10000000000LL
#define LOCK_LOOK_NS 50000000LL

static int lock(int fd, const char *path, bool write, struct rj_error *err)
{
	int64_t end = rj_monotonic_ns() + LOCK_WAIT_NS;

	while (flock(fd, (write ? LOCK_EX : LOCK_SH) | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return rj_fail_errno(err, errno, "%s: cannot lock", path);
		if (rj_monotonic_ns() >= end)
			return rj_fail(err, RJ_E_BUSY,
				"%s: another rjbackup %s this base: try again when it has ended", path,
				write ? "uses" : "is changing");
		rj_sleep_ns(LOCK_LOOK_NS);
	}
	return 0;
}

int rj_base_open(const char *path, bool write, int *fd, struct rj_error *err)
{
	int rc;

	*fd = open(path, (write ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	if (*fd < 0)
		return rj_fail_errno(err, errno, "%s: cannot open", path);
	if (write)
		rj_take_old_error(*fd, path);
	rc = lock(*fd, path, write, err);
	if (rc)
		rj_close(fd, path, NULL); /* nothing was written */
	return rc;
}

int rj_base_look(
	const char *path, struct rj_base_facts *out, struct rj_error *err)
{
	const struct rj_volume_facts *f;
	struct rj_volume *v = NULL;
	uint8_t raw[RJ_SBX_BYTES];
	struct rj_bio *bio;
	int rc, rc2;

	rc = rj_volume_open(path, 0, NULL, &v, err);
	if (rc)
		return rc;
	bio = rj_volume_bio(v);
	f = rj_volume_facts(v);
	rc = bio->read(bio, raw, sizeof(raw), 1024 + RJ_SBX_OFFSET, err);
	if (!rc)
		rc = rj_sbx_base_get(raw, &out->record, &out->sbx, err);
	if (rc)
		rj_fail_prefix(err, "%s", path);
	memcpy(out->uuid, f->uuid, RJ_UUID_BYTES);
	out->block_size = f->block_size;
	out->blocks = f->blocks;
	rc2 = rj_volume_close(v, rc ? NULL : err);
	return rc ? rc : rc2;
}

bool rj_base_is_url(const char *path)
{
	return strstr(path, "://");
}

static bool unfinished(const char *path)
{
	struct rj_base_facts f = {.record.from = 1};

	return rj_base_look(path, &f, NULL) == -RJ_E_INVAL &&
	       (!f.record.from || !strcmp(f.sbx.url, RJ_BASE_NO_STORE));
}

int rj_base_create(const char *path, uint64_t bytes, int *fd, struct rj_error *err)
{
	int rc;

	if (rj_target_is_device(path))
		return rj_target_open(path, bytes, fd, err);
	*fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (*fd < 0) {
		rc = rj_fail_errno(err, errno, "%s: cannot make", path);
		if (rc == -RJ_E_EXISTS && unfinished(path))
			rj_fail_suffix(err,
				"; rjbackup was stopped while it made that: remove it");
		return rc;
	}
	if (ftruncate(*fd, (off_t)bytes))
		return rj_fail_errno(err, errno, "%s: cannot size", path);
	return rj_fsync_parent(path, err);
}

void rj_base_discard(const char *path, struct rj_error *err)
{
	if (!rj_target_is_device(path))
		unlink(path);
	else
		rj_fail_suffix(err, "; what is on %s now is nothing whole", path);
}

int rj_base_log_open(const struct rj_base_facts *f, const char *url,
	const char *keyfile, struct rj_base_log *out, struct rj_error *err)
{
	int rc;

	memset(out, 0, sizeof(*out));
	memcpy(out->id.volume_uuid, f->uuid, RJ_UUID_BYTES);
	memcpy(out->id.journal_uuid, f->sbx.journal_uuid, RJ_UUID_BYTES);
	if (!url)
		url = f->sbx.url;
	rc = rj_log_sealing_load(
		url, keyfile, f->sbx.key_fingerprint, &out->sealing, err);
	if (rc)
		return rc;
	rj_log_sealing_use(&out->sealing, &out->id);
	return rj_store_open(url, NULL, &out->store, err);
}

int rj_base_log_check_end(const struct rj_base_facts *f, const struct rj_base_log *l,
	const char *advice, struct rj_error *err)
{
	struct rj_floor_answer answer;
	struct rj_floors floors;

	if (!rj_url_same(l->store->url, f->sbx.url))
		return 0;
	rj_floors_ask(&floors, f->sbx.url, true, f->sbx.url, &l->id, 0, 0, &answer);
	return rj_floors_check(&floors, l->store, &l->id, 0, advice, err);
}

void rj_base_log_close(struct rj_base_log *l)
{
	rj_store_close(l->store);
	rj_log_sealing_free(&l->sealing);
	memset(l, 0, sizeof(*l));
}
