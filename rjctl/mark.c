// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A mark names the last segment at the store after all was committed and shipped: the same
 * order as in a base (lib/history/make.c). The store is opened here, as rjbackup does it;
 * rjournald knows nothing of marks.
 */
#include "mark.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "freeze.h"
#include "history/base.h"
#include "log/past/point.h"
#include "os/mountinfo.h"
#include "os/rundir.h"
#include "tools/ask-daemon.h"
#include "tools/json.h"
#include "util/environ.h"

#define SYNC_MS	  300000
#define FREEZE_MS 30000
#define LOOK_NS	  50000000LL

struct marking {
	const struct rj_ctl_options *o;
	int dir_fd;
	struct rj_base_facts volume;
	struct rj_base_log log;
	uint64_t segment; /* the last one at the store */
	struct rj_point point;
};

/* Which volume is it, and does all that is written pass its log? */
static int look(struct marking *m, struct rj_error *err)
{
	const char *dir = m->o->volume;
	char device[4096], at[4096], name[32];
	const struct rj_volume_facts *f;
	struct rj_volume *v = NULL;
	dev_t dev;
	int rc;

	m->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (m->dir_fd < 0)
		return rj_fail_errno(err, errno, "%s: cannot open", dir);
	if (!rj_mountinfo_source(dir, device, sizeof(device)))
		return rj_fail(err, RJ_E_NOTFOUND, "%s: nothing is mounted there", dir);
	if (!rj_mountinfo_of_volume(device, at, sizeof(at), &dev) ||
		!rj_mountinfo_device_name(dev, name, sizeof(name)))
		return rj_fail(err, RJ_E_INVAL, "%s: %s is no ext3 or ext4 volume", dir, device);
	if (!rj_mountinfo_ext4_option(name, "data=journal"))
		return rj_fail(err, RJ_E_REFUSED,
			"%s: not mounted with data=journal, so that no moment of it can be restored",
			dir);
	rc = rj_volume_open(device, 0, NULL, &v, err);
	if (rc)
		return rc;
	f = rj_volume_facts(v);
	if (!f->has_sbx || f->sbx.placement != RJ_PLACE_REMOTE)
		rc = rj_fail(err, RJ_E_REFUSED, "%s: its journal is not remote", device);
	memcpy(m->volume.uuid, f->uuid, RJ_UUID_BYTES);
	m->volume.sbx = f->sbx;
	rj_volume_close(v, NULL); /* it was only read */
	return rc;
}

/* The store has all that was acknowledged; where does its log end? */
static int find_end(struct marking *m, int limit_ms, struct rj_error *err)
{
	struct rj_listing l = {0};
	int rc = shipped_wait(m->volume.uuid, limit_ms, err);

	if (!rc)
		rc = rj_listing_end(m->log.store, &m->log.id, false, 0, &l, err);
	if (!rc && !l.last)
		rc = rj_fail(err, RJ_E_NOTFOUND, "%s: the log is empty", m->log.store->url);
	m->segment = l.last;
	rj_listing_free(&l);
	return rc;
}

/* Also that the journal is empty now, which no commit waits for. */
static int flush(struct marking *m, struct rj_error *err)
{
	int64_t end = rj_monotonic_ns() + FREEZE_MS * 1000000LL;
	struct rj_buf text = {0};
	bool busy = false;
	int rc;

	do {
		if (busy)
			rj_sleep_ns(LOOK_NS);
		text.len = 0;
		rc = rj_rundir_ask(m->volume.uuid, "flush", FREEZE_MS, &text, err);
		busy = !rc && !strncmp((char *)text.data, "busy: ", 6);
	} while (busy && rj_monotonic_ns() < end);
	if (!rc && strcmp((char *)text.data, "ok"))
		rc = rj_fail(err, RJ_E_UNREACHABLE, "%s: %s", m->o->volume, (char *)text.data);
	rj_buf_free(&text);
	return rc;
}

static int find_frozen_end(struct marking *m, struct rj_error *err)
{
	struct freeze f;
	int rc = freeze_begin(&f, m->dir_fd, m->o->volume, FREEZE_MS, err), rc2;

	if (rc)
		return rc;
	rc = flush(m, err);
	if (!rc)
		rc = find_end(m, FREEZE_MS, err);
	rc2 = freeze_end(&f, rc ? NULL : err);
	return rc ? rc : rc2;
}

static int put(struct marking *m, struct rj_error *err)
{
	int rc = look(m, err);

	if (!rc)
		rc = rj_base_log_open(&m->volume, NULL, NULL, &m->log, err);
	if (rc)
		return rc;
	/* a name that is bad or used is told before anything waits */
	rc = rj_point_check(m->log.store, &m->log.id, m->o->name, err);
	if (!rc && m->o->freeze)
		rc = find_frozen_end(m, err);
	else if (!rc)
		rc = syncfs(m->dir_fd) ? rj_fail_errno(err, errno, "%s: syncfs", m->o->volume)
				       : find_end(m, SYNC_MS, err);
	return rc ? rc
		  : rj_point_put(m->log.store, &m->log.id, m->o->name, m->segment, "rjctl",
			    &m->point, err);
}

static void print_json(const struct marking *m, const char *error)
{
	struct json_object *o = json_object_new_object();

	add_text(o, "mark", m->o->name);
	if (error)
		add_text(o, "error", error);
	else
		add_u64(o, "segment", m->point.segment);
	if (!error)
		add_i64(o, "time", m->point.time);
	json_show(o, JSON_C_TO_STRING_PLAIN);
}

static bool is_dir(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

int mark(const struct rj_ctl_options *o)
{
	struct marking m = {.o = o, .dir_fd = -1};
	struct rj_error err = {0};
	int rc;

	if (is_dir(o->name) && !is_dir(o->volume)) {
		fprintf(stderr, "rjctl: mark: the name comes first: rjctl mark %s %s\n",
			o->volume, o->name);
		return 2;
	}
	rc = put(&m, &err);
	if (m.dir_fd >= 0)
		close(m.dir_fd);
	rj_base_log_close(&m.log);
	if (rc)
		fprintf(stderr, "rjctl: %s\n", err.msg);
	if (o->json)
		print_json(&m, rc ? err.msg : NULL);
	else if (!rc && !o->quiet)
		printf("mark %s: segment %" PRIu64 " of %s\n", o->name, m.point.segment,
			m.volume.sbx.url);
	return rc ? 1 : 0;
}
