// SPDX-License-Identifier: GPL-2.0-or-later
/* What rjctl and Prometheus are told of bases and drills. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "drill.h"
#include "log/past/drill.h"
#include "os/fileio.h"
#include "print.h"
#include "tools/drill-note.h"
#include "tools/prometheus.h"
#include "util/environ.h"

#define NS_PER_S 1000000000LL

struct change {
	const struct drill *drill; /* NULL: a base was made */
	char base[PATH_MAX];
	int64_t now_s;
};

/* Without realpath(): the base may be gone, and its name has to be that of before. */
static void begin(struct change *c, const char *base)
{
	size_t n = 0;

	c->now_s = rj_realtime_ns() / NS_PER_S;
	if (base[0] != '/' && getcwd(c->base, sizeof(c->base) - 1)) {
		n = strlen(c->base);
		c->base[n++] = '/';
	}
	snprintf(c->base + n, sizeof(c->base) - n, "%s", base);
}

static void change(void *arg, struct drill_note *n)
{
	const struct change *c = arg;
	const struct drill *d = c->drill;

	memcpy(n->base, c->base, sizeof(n->base));
	if (!d) {
		n->base_s = c->now_s;
		n->url[0] = 0;
		return;
	}
	snprintf(n->url, sizeof(n->url), "%s", d->o->url ? d->o->url : d->facts.sbx.url);
	n->attempt_s = c->now_s;
	snprintf(n->error, sizeof(n->error), "%s", d->rc ? d->err.msg : "");
	if (d->rc)
		return;
	n->success_s = c->now_s;
	n->segment = (int64_t)d->report.reached.segment;
	n->commit_ns = d->report.reached.time_ns;
	n->earliest_ns = d->report.earliest.time_ns;
	n->latest_ns = d->latest_ns;
	n->rpo_ns = d->rpo_ns < 0 ? 0 : d->rpo_ns;
	n->rto_ns = d->rto_ns;
	n->bytes = (int64_t)d->bytes;
}

static int metric(struct rj_buf *out, const char *name, const char *help, const char *labels,
	double value)
{
	char full[64];

	snprintf(full, sizeof(full), "rjbackup_drill_%s", name);
	return prometheus_head(out, full, "gauge", help) ||
	       rj_buf_printf(out, "%s{%s} %.15g\n", full, labels, value);
}

/* Of what was never restored there is no number: 0 would be the best of ages. */
static int metrics(const struct drill_note *n, const char *labels, struct rj_buf *out)
{
	int64_t from = n->earliest_ns;
	int rc = metric(out, "success", "Whether the last drill succeeded.", labels,
		n->error[0] == 0);

	rc = rc || metric(out, "last_attempt_timestamp_seconds",
		"When the last drill ended, since 1970.", labels, (double)n->attempt_s);
	rc = rc || metric(out, "last_success_timestamp_seconds",
		"When the last one that succeeded ended, since 1970; 0: none did.", labels,
		(double)n->success_s);
	if (rc || !n->success_s)
		return rc;
	if (n->commit_ns)
		rc = metric(out, "rpo_seconds",
			"Age of the last commit of what was restored; 0: the log had no later one.", labels,
			(double)n->rpo_ns / NS_PER_S);
	rc = rc || metric(out, "rto_seconds",
		"Time until it was restored, checked and mounted.", labels,
		(double)n->rto_ns / NS_PER_S);
	rc = rc || metric(out, "bytes", "Space that what was restored takes.", labels,
		(double)n->bytes);
	if (!rc && from && n->latest_ns >= from)
		rc = metric(out, "window_seconds",
			"From the first to the last moment that could be restored.", labels,
			(double)(n->latest_ns - from) / NS_PER_S);
	return rc;
}

/* UUID: of the volume; "": not known. */
static int write_metrics(const char *path, const struct drill_note *n, const char *uuid,
	struct rj_error *err)
{
	struct rj_buf labels = {0}, text = {0};
	int rc = rj_buf_printf(&labels, "volume=\"%s\",", uuid) ||
		 prometheus_label(&labels, "base", n->base) ||
		 metrics(n, (char *)labels.data, &text);

	rc = rc ? rj_fail(err, RJ_E_NOMEM, "out of memory")
		/* another user's node_exporter reads it */
		: rj_replace_file(path, 0644, text.data, text.len, err);
	rj_buf_free(&labels);
	rj_buf_free(&text);
	return rc;
}

/* What fails here is no reason to forget what failed before. */
static void blame(struct drill *d, int rc, const struct rj_error *err)
{
	if (!rc)
		return;
	if (d->rc) {
		complain(err->msg);
		return;
	}
	d->rc = rc;
	d->err = *err;
}

/* For the page of rjserver: that the store cannot be told is no failure of the drill. */
static void tell_store(const struct drill *d)
{
	struct rj_base_log log;
	struct rj_error err;
	int rc = rj_base_log_open(&d->facts, d->o->url, d->o->keyfile, &log, &err);

	if (!rc)
		rc = rj_drill_put(log.store, &log.id, (uint64_t)(rj_realtime_ns() / NS_PER_S),
			d->report.reached.segment, &err);
	rj_base_log_close(&log);
	if (rc) {
		rj_fail_prefix(&err, "the log's store is not told of this drill");
		complain(err.msg);
	}
}

void note_drill(struct drill *d)
{
	struct change c = {.drill = d};
	struct drill_note n = {.base = ""};
	uint8_t volume[RJ_UUID_BYTES];
	char uuid[RJ_UUID_TEXT] = "";
	struct rj_error err;
	int rc = 0;

	begin(&c, d->o->base);
	memcpy(volume, d->facts.uuid, sizeof(volume));
	/* of a base that cannot be read the note knows the volume */
	if (d->facts.record.whole || drill_note_find(c.base, volume)) {
		rj_uuid_text(volume, uuid);
		rc = drill_note_change(volume, change, &c, &n, &err);
	}
	if (rc || !uuid[0])
		change(&c, &n);
	blame(d, rc, &err);
	if (!d->rc)
		tell_store(d);
	if (d->o->metrics)
		blame(d, write_metrics(d->o->metrics, &n, uuid, &err), &err);
}

void note_base(const char *base, const uint8_t volume[RJ_UUID_BYTES])
{
	struct change c = {.drill = NULL};
	struct rj_error err;

	begin(&c, base);
	if (drill_note_change(volume, change, &c, NULL, &err)) {
		rj_fail_prefix(&err, "rjctl will not know of this base");
		complain(err.msg);
	}
}
