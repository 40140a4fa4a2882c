// SPDX-License-Identifier: GPL-2.0-or-later
/* Save the journal in memory to a directory, before a daemon ends whose store lacks a part. */
#include "save.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "rjournald/load/move.h"
#include "rjournald/load/seed.h"
#include "util/environ.h"
#include "util/log.h"

/* Of a log beside its blocks. */
#define OVERHEAD (1u << 20)
/* How long a request to the store may take to notice that it is to end. */
#define END_NS	 5000000000LL
#define TICK_NS	 10000000LL

/* A store that answers has all that was acknowledged. */
bool rj_save_needed(const struct rj_daemon *d)
{
	struct rj_pipeline_stat st;

	rj_pipeline_stat(d->pipeline, &st);
	return !d->opts.raw && (st.state == RJ_STATE_WAITING || st.state == RJ_STATE_FULL);
}

/* Else errno is ENOTEMPTY, or says why it cannot be looked at. */
static bool is_empty(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;

	while (dir && (e = readdir(dir)) && (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")))
		;
	if (!dir)
		return false;
	closedir(dir);
	errno = ENOTEMPTY;
	return !e;
}

/* DIR and the folders above it; only root may read DIR, which is new or empty. */
static int make_dirs(const char *dir, struct rj_error *err)
{
	char path[RJ_SAVE_DIR_BYTES + 1], *slash = path;

	snprintf(path, sizeof(path), "%s", dir);
	while ((slash = strchr(slash + 1, '/'))) {
		*slash = 0;
		if (mkdir(path, 0755) && errno != EEXIST)
			return rj_fail_errno(err, errno, "%s", path);
		*slash = '/';
	}
	if (!mkdir(path, 0700) || (errno == EEXIST && is_empty(path)))
		return 0;
	return rj_fail_errno(err, errno, "%s", path);
}

int rj_save_prepare(const struct rj_daemon *d, const char *dir, char path[RJ_SAVE_DIR_BYTES + 1],
	struct rj_error *err)
{
	uint64_t bytes = rj_seed_bytes(&d->loaded) + OVERHEAD;
	char uuid[RJ_UUID_TEXT], when[16], url[RJ_SBX_URL_BYTES];
	time_t now = time(NULL);
	struct statvfs fs;
	struct tm tm;
	int rc;

	strftime(when, sizeof(when), "%Y%m%dT%H%M%S", gmtime_r(&now, &tm));
	if (dir)
		snprintf(path, RJ_SAVE_DIR_BYTES + 1, "%s", dir);
	else
		snprintf(path, RJ_SAVE_DIR_BYTES + 1, "%s/saved/%s-%s", rj_state_dir(),
			rj_uuid_text(d->loaded.facts.uuid, uuid), when);
	rc = make_dirs(path, err);
	snprintf(url, sizeof(url), "file://%s", path);
	if (!rc && (rc = rj_store_check_url(url, err)))
		rmdir(path); /* rj.conf does not allow it there */
	if (rc)
		return rc;
	if (statvfs(path, &fs))
		return rj_fail_errno(err, errno, "%s", path);
	if ((uint64_t)fs.f_bavail * fs.f_frsize >= bytes)
		return 0;
	rmdir(path);
	return rj_fail(err, RJ_E_NOSPACE, "%s: no space for %llu bytes of the journal", path,
		(unsigned long long)bytes);
}

int rj_save(struct rj_daemon *d, const char *path, struct rj_error *err)
{
	int64_t until = rj_monotonic_ns() + END_NS;
	char url[RJ_SBX_URL_BYTES];
	int rc;

	/* what no request is in does not change any more */
	d->loaded.stop_waiting = d->loaded.link_down = true;
	while (!rj_pipeline_failure(d->pipeline) && rj_monotonic_ns() < until)
		rj_sleep_ns(TICK_NS);
	snprintf(url, sizeof(url), "file://%s", path);
	rc = rj_move_save(&d->loaded, url, err);
	if (rc)
		rj_log(RJ_LOG_ERROR, "the journal of %s could not be saved: %s",
			d->loaded.device, err->msg);
	else
		rj_log(RJ_LOG_ERROR,
			"the journal of %s is saved: unmount the volume, then rjrecover --from=%s %s",
			d->loaded.device, path, d->loaded.device);
	return rc;
}
