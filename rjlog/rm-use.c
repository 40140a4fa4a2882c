// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find the volume that a log belongs to, and whether it may still need the log. A
 * store cannot tell: a volume that is not mounted for months writes nothing. So it
 * is the volume that is asked, here and on every device of this machine.
 */
#include <stdio.h>
#include <string.h>

#include "ext4/journal.h"
#include "ext4/volume.h"
#include "os/rundir.h"
#include "rm.h"
#include "util/environ.h"
#include "xfs/xfs.h"

#define ASK_MS 5000
/* A log without a fence at its end that grew so lately may be growing still. */
#define LATELY_S 600

struct asked {
	const struct target *t;
	const struct rm_log *log;
	const char *device;
	bool same; /* it is the volume that wrote the log */
	struct rj_error *err;
};

static bool named(const struct rj_volume_facts *f, const uint8_t *uuid)
{
	return (f->has_journal && rj_uuid_equal(f->journal_uuid, uuid)) ||
	       (f->has_sbx && (rj_uuid_equal(f->sbx.journal_uuid, uuid) ||
				      rj_uuid_equal(f->sbx.intent_uuid, uuid)));
}

/* Did rjctl move take the journal, with its UUID, from this log to the one that F names? */
static bool moved_on(const struct asked *a, const struct rj_volume_facts *f)
{
	return a->log->left && f->has_sbx && !f->sbx.intent_op &&
	       f->sbx.placement == RJ_PLACE_REMOTE && strcmp(f->sbx.url, a->t->store->url) != 0;
}

/* RJ_E_REFUSED: the volume on A->device may need the log. */
static int ask_volume(struct asked *a, const struct rj_volume_facts *f)
{
	const struct rj_log_id *id = &a->t->id;

	a->same = rj_uuid_equal(f->uuid, id->volume_uuid);
	if (moved_on(a, f))
		return 0;
	if (named(f, id->journal_uuid))
		return rj_fail(a->err, RJ_E_REFUSED,
			"%s: is the journal of %s: move that first (rjtune -J)",
			a->t->text, a->device);
	if (a->same && f->super == RJ_SUPER_STALE)
		return rj_fail(a->err, RJ_E_REFUSED,
			"%s: may be the journal of %s, where an older superblock was put back: run rjrecover first",
			a->t->text, a->device);
	if (a->same && f->has_sbx && f->sbx.intent_op)
		return rj_fail(a->err, RJ_E_REFUSED,
			"%s: a move of the journal of %s is half done: run rjtune --resume first",
			a->t->text, a->device);
	if (a->same && !f->has_sbx && f->sbx_error.code != RJ_E_NOTRJ)
		return rj_fail(a->err, RJ_E_REFUSED,
			"%s: may be the journal of %s: %s", a->t->text,
			a->device, f->sbx_error.msg);
	return 0;
}

static int ask_device(struct asked *a)
{
	struct rj_volume *v = NULL;
	uint8_t uuid[RJ_UUID_BYTES];
	int rc;

	if (rj_xfs_uuid(a->device, uuid)) {
		a->same = rj_uuid_equal(uuid, a->t->id.volume_uuid);
		return !a->same ? 0
				: rj_fail(a->err, RJ_E_REFUSED,
					  "%s: is the log of the XFS volume on %s, which may need it",
					  a->t->text, a->device);
	}
	rc = rj_volume_open(
		a->device, RJ_VOLUME_FORCE | RJ_VOLUME_MMP, NULL, &v, a->err);
	if (rc)
		return rc;
	rc = ask_volume(a, rj_volume_facts(v));
	rj_volume_close(v, NULL);
	return rc;
}

static int ask_found(void *arg, const char *path)
{
	struct asked *a = arg;
	int rc;

	a->device = path;
	rc = ask_device(a);
	if (rc && rc != -RJ_E_REFUSED)
		return rj_fail(a->err, RJ_E_REFUSED,
			"%s: may be the journal of %s, which cannot be read",
			a->t->text, path);
	return rc;
}

/* An rjournald of this machine that serves the volume from this log. */
static int ask_daemon(const struct target *t, const struct rm_log *l, struct rj_error *err)
{
	char uuid[RJ_UUID_TEXT], store[sizeof(t->store->url) + 2];
	struct rj_buf answer = {0};
	struct rj_error why;
	bool other;

	if (!rj_rundir_served(t->id.volume_uuid))
		return 0;
	rj_uuid_text(t->id.journal_uuid, uuid);
	snprintf(store, sizeof(store), "\"%s\"", t->store->url);
	other = !rj_rundir_ask(t->id.volume_uuid, "status", ASK_MS, &answer,
			&why) &&
		(!strstr((const char *)answer.data, uuid) ||
			(l->left && !strstr((const char *)answer.data, store)));
	rj_buf_free(&answer);
	return other ? 0
		     : rj_fail(err, RJ_E_REFUSED,
			       "%s: an rjournald of this machine serves its volume from it, or cannot be asked (see rjctl status, as root)",
			       t->text);
}

static int check_written(const struct options *o, const struct target *t,
	const struct rm_log *l, struct rj_error *err)
{
	uint64_t now = (uint64_t)rj_realtime_ns() / 1000000000;
	char uuid[RJ_UUID_TEXT];

	if (o->force || l->closed || l->written_s + LATELY_S < now)
		return 0;
	return rj_fail(err, RJ_E_REFUSED,
		"%s: segment %llu was written %llu seconds ago, by %s: that host may still write there; if it does not, say --force %s",
		t->text, (unsigned long long)l->last,
		(unsigned long long)(now > l->written_s ? now - l->written_s
							: 0),
		l->host[0] ? l->host : "an unknown host",
		rj_uuid_text(t->id.journal_uuid, uuid));
}

int rm_check_use(const struct options *o, const struct target *t,
	const struct rm_log *l, bool *proved, struct rj_error *err)
{
	struct asked a = {.t = t, .log = l, .device = o->volume, .err = err};
	bool known = !rj_uuid_is_null(t->id.volume_uuid);
	int rc = 0;

	*proved = false;
	if (o->volume)
		rc = ask_device(&a);
	if (rc)
		return rc;
	*proved = o->volume && known && a.same;
	if (o->volume && !*proved && !o->force)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: %s is not the volume whose journal it was",
			t->text, o->volume);
	if (known)
		rc = ask_daemon(t, l, err);
	if (!rc && known)
		rc = rj_volume_each(t->id.volume_uuid, ask_found, &a);
	return rc ? rc : check_written(o, t, l, err);
}
