// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rjlog rm: fence the log off, then delete every segment with blocks. What stays
 * are the fences and the claims, some hundred bytes: they hold off a writer that
 * slept through all of this. So a cut leaves a log that no host writes to, and
 * that the next run finishes.
 */
#include "rm.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "log/hold.h"
#include "log/trim.h"
#include "print.h"
#include "store/conf.h"
#include "text/when.h"
#include "tools/plan.h"
#include "util/error-class.h"

#define CLAIM_BYTES 4096

int rm_check_words(
	const struct options *o, const struct target *t, struct rj_error *err)
{
	uint8_t uuid[RJ_UUID_BYTES];

	if (!t->named)
		return rj_fail(err, RJ_E_INVAL,
			"%s: say which log: URL/<journal uuid> (see rjlog ls)",
			t->store->url);
	if (o->force && (!rj_uuid_parse(o->force, uuid) ||
				!rj_uuid_equal(uuid, t->id.journal_uuid)))
		return rj_fail(err, RJ_E_INVAL,
			"--force %s: not the UUID of the log that the URL names",
			o->force);
	return 0;
}

/* The hold that rj_log_trim() will obey. */
static int look_at_hold(struct target *t, const struct rj_listing *l, struct rm_log *out,
	struct rj_error *err)
{
	const struct rj_range *r = (const void *)l->ranges.data;
	const uint32_t *bytes = (const void *)l->bytes.data;
	size_t count = l->ranges.len / sizeof(*r), i;
	uint64_t first, n, left;
	int rc = rj_hold_lowest(t->store, &t->id, 0, 0, &first, &out->hold, err);

	for (i = 0; !rc && i < count; i++) {
		n = r[i].first;
		for (left = r[i].last - n + 1; left; left--, n++, bytes++) {
			if (n < first || *bytes <= RJ_LOG_FENCE_BYTES)
				continue;
			out->held++;
			out->held_bytes += *bytes;
		}
	}
	if (!out->held)
		out->hold.number = 0;
	return rc;
}

/* Fill OUT. Changes nothing. */
static int look(struct target *t, struct rm_log *out, struct rj_error *err)
{
	struct rj_listing l = {0};
	const uint32_t *bytes;
	struct rj_seghdr h;
	size_t i;
	int rc;

	memset(out, 0, sizeof(*out));
	rc = rj_listing_log(t->store, &t->id, 0, 0, &l, err);
	if (!rc)
		rc = rj_listing_epoch(t->store, &t->id, 0, &out->epoch, err);
	bytes = (const void *)l.bytes.data;
	for (i = 0; !rc && i < l.bytes.len / sizeof(*bytes); i++) {
		out->fences += bytes[i] <= RJ_LOG_FENCE_BYTES;
		out->data += bytes[i] > RJ_LOG_FENCE_BYTES;
		out->bytes += bytes[i] > RJ_LOG_FENCE_BYTES ? bytes[i] : 0;
	}
	out->first = l.first;
	out->last = l.last;
	if (!rc && l.last &&
		!rj_log_fetch_header(t->store, &t->id, l.last, &h, NULL)) {
		out->closed = h.kind == RJ_SEG_FENCE;
		out->left = out->closed && h.flags & RJ_SEG_F_CLEAN;
		out->written_s = h.time_ns / 1000000000;
	}
	if (!rc)
		rj_log_claimed_by(t->store, &t->id, out->epoch, out->host);
	if (!rc)
		rc = look_at_hold(t, &l, out, err);
	rj_listing_free(&l);
	return rc;
}

/* From here on no earlier writer gets anything acknowledged. FENCE is the segment
 * of our fence. */
static int shut(struct target *t, const struct rm_log *l, uint64_t *fence,
	struct rj_error *err)
{
	struct rj_log_claim_opts o = {0};
	struct rj_log_writer *w = NULL;
	int rc = rj_log_claim(t->store, &t->id, &o, &w, err);

	/* damaged, or begun to be removed by an earlier run */
	o.allow_break = true;
	if (rj_code_damage(rc))
		rc = rj_log_claim(t->store, &t->id, &o, &w, err);
	if (rc)
		return rc;
	*fence = rj_log_writer_tail(w)->sequence;
	rj_log_writer_free(w);
	if (*fence == l->last + 1)
		return 0;
	return rj_fail(err, RJ_E_REFUSED,
		"%s: another host wrote segments %" PRIu64 " to %" PRIu64
		" at this moment: nothing was deleted; that writer is fenced now, and its volume needs rjrecover",
		t->text, l->last + 1, *fence - 1);
}

static int delete(const struct options *o, struct target *t, uint64_t fence,
	struct rj_log_trim_report *r, struct rj_error *err)
{
	struct rj_log_trim_opts opts = {.below = fence};
	struct rj_conf *conf = NULL;
	int rc = rj_conf_load(t->store->url, &conf, err);

	if (rc)
		return rc;
	if (!o->force)
		opts.retain_s = conf->retain_s;
	rj_conf_release(conf);
	return rj_log_trim(t->store, &t->id, &opts, r, err);
}

static void print_log(const struct target *t, const struct rm_log *l)
{
	char volume[RJ_UUID_TEXT], when[64], until[RJ_WHEN_TEXT];

	printf("%s: %" PRIu64 " segment%s, %" PRIu64 " bytes; volume %s\n",
		t->text, l->data, plural(l->data), l->bytes,
		rj_uuid_is_null(t->id.volume_uuid)
			? "not known"
			: rj_uuid_text(t->id.volume_uuid, volume));
	if (l->written_s)
		printf("last %s %s, in epoch %" PRIu64 " of %s\n",
			l->closed ? "fenced" : "written",
			plan_time_text((int64_t)l->written_s * 1000000000, when),
			l->epoch, l->host[0] ? l->host : "an unknown host");
	if (l->hold.number)
		printf("hold %" PRIu64 " of %s keeps %" PRIu64 " segment%s of it, %" PRIu64 " bytes, from segment %" PRIu64 " on until %s\n",
			l->hold.number, l->hold.program, l->held, plural(l->held),
			l->held_bytes, l->hold.first, rj_when_seconds(l->hold.until, until));
}

static void print_text(const struct options *o, const struct target *t,
	const struct rm_log *l, const struct rj_log_trim_report *r, bool dry)
{
	char uuid[RJ_UUID_TEXT];

	if (!l->data) {
		printf("%s: nothing is left to remove; %" PRIu64
		       " %s\n",
			t->text, l->fences,
			l->fences == 1 ? "fence stays" : "fences stay");
		return;
	}
	if (!dry) {
		printf("%s: %" PRIu64 " segment%s removed", t->text,
			r->segments, plural(r->segments));
		if (r->segments < l->data && r->hold.number)
			printf(", %" PRIu64 " kept by hold %" PRIu64 " (rjbackup expire)",
				l->data - r->segments, r->hold.number);
		else if (r->segments < l->data)
			printf(", %" PRIu64 " kept by \"retain\" in rj.conf",
				l->data - r->segments);
		printf("; %" PRIu64 " fences stay\n", l->fences + 1);
		return;
	}
	print_log(t, l);
	printf("nothing was removed%s", o->dry_run ? " (-n)\n" : "");
	if (!o->dry_run)
		printf(": name the volume that has another journal now, --volume DEVICE; or, if there is no such volume any more, --force %s\n",
			rj_uuid_text(t->id.journal_uuid, uuid));
}

static void print_as_json(const struct target *t, const struct rm_log *l,
	const struct rj_log_trim_report *r, bool removed, const char *error)
{
	struct json_object *top = json_object_new_object();
	char uuid[RJ_UUID_TEXT];

	add_text(top, "url", t->text);
	add_text(top, "volume", rj_uuid_text(t->id.volume_uuid, uuid));
	add_u64(top, "segments", l->data);
	add_u64(top, "bytes", l->bytes);
	add_u64(top, "fences", l->fences);
	add_u64(top, "epoch", l->epoch);
	add_u64(top, "written", l->written_s);
	if (l->hold.number) {
		add_u64(top, "hold", l->hold.number);
		add_u64(top, "held", l->held);
		add_u64(top, "held_bytes", l->held_bytes);
	}
	add_bool(top, "closed", l->closed);
	add_bool(top, "removing", removed);
	add_u64(top, "removed", r->segments);
	if (error)
		add_text(top, "error", error);
	json_show(top, JSON_C_TO_STRING_PRETTY);
}

enum status run_rm(const struct options *o, struct target *t)
{
	struct rj_log_trim_report r = {0};
	bool proved = false, dry = true;
	struct rm_log l = {0};
	uint64_t fence = 0;
	struct rj_error err;
	int rc;

	rc = look(t, &l, &err);
	if (!rc && l.data)
		rc = rm_check_use(o, t, &l, &proved, &err);
	dry = o->dry_run || !(proved || o->force);
	if (!rc && !dry && l.data) {
		rc = shut(t, &l, &fence, &err);
		if (!rc)
			rc = delete(o, t, fence, &r, &err);
	}
	if (rc)
		complain(err.msg);
	if (o->json)
		print_as_json(t, &l, &r, !dry && l.data, rc ? err.msg : NULL);
	else if (!rc && !o->quiet)
		print_text(o, t, &l, &r, dry);
	return rc == -RJ_E_REFUSED ? STATUS_REFUSED : status_of(rc);
}
