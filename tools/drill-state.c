// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/drill-state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "store/conf.h"
#include "text/when.h"
#include "tools/json.h"
#include "util/environ.h"

#define NS_PER_S 1000000000LL
#define EARLY_S	 86400 /* to say that a base is not kept for long any more */

enum state { NEVER, VERIFIED, STALE, FAILED };

static int64_t now_s(void)
{
	return rj_realtime_ns() / NS_PER_S;
}

/* OVERDUE: nothing was proved for longer than rj.conf allows. */
static enum state judge(const struct drill_note *n, bool *overdue)
{
	int64_t since = n->success_s ? n->success_s : n->base_s;
	uint64_t most = RJ_DRILL_MAX_AGE;
	struct rj_conf_local local;

	if (!rj_conf_local_load(&local, NULL))
		most = local.drill_max_age_s;
	rj_conf_local_free(&local);
	*overdue = now_s() > since && (uint64_t)(now_s() - since) > most;
	if (n->error[0])
		return FAILED;
	if (!n->success_s)
		return NEVER;
	return *overdue ? STALE : VERIFIED;
}

/* "2026-11-25 22:41:03Z (3 d ago)" */
static const char *ago(int64_t s, char out[96])
{
	int64_t age = now_s() - s;
	size_t n = strlen(rj_when_seconds(s, out));

	if (age >= 172800)
		snprintf(out + n, 96 - n, " (%" PRId64 " d ago)", age / 86400);
	else if (age >= 7200)
		snprintf(out + n, 96 - n, " (%" PRId64 " h ago)", age / 3600);
	else
		snprintf(out + n, 96 - n, " (%" PRId64 " min ago)", age / 60);
	return out;
}

static int put_text(const struct drill_note *n, enum state state, struct rj_buf *out)
{
	char when[96], success[96];

	switch (state) {
	case NEVER:
		return rj_buf_printf(out, "never verified, base of %s", ago(n->base_s, when));
	case VERIFIED:
		return rj_buf_printf(out, "verified at %s", ago(n->success_s, when));
	case STALE:
		return rj_buf_printf(out, "stale, verified at %s", ago(n->success_s, when));
	case FAILED:
		break;
	}
	return rj_buf_printf(out, "failed at %s, %s%s: %s", ago(n->attempt_s, when),
		n->success_s ? "verified at " : "never verified",
		n->success_s ? ago(n->success_s, success) : "", n->error);
}

static struct json_object *unknown(const struct rj_error *err)
{
	struct json_object *o = json_object_new_object();

	add_text(o, "state", "unknown");
	add_text(o, "text", err->msg);
	add_bool(o, "well", false);
	return o;
}

struct json_object *drill_state(const uint8_t volume[RJ_UUID_BYTES])
{
	static const char *const names[] = {"never", "verified", "stale", "failed"};
	struct json_object *o = NULL;
	struct rj_buf text = {0};
	struct drill_note n;
	struct rj_error err;
	enum state state;
	bool overdue;
	int rc = drill_note_load(volume, &n, &err);

	if (rc)
		return rc == -RJ_E_NOTFOUND ? NULL : unknown(&err);
	state = judge(&n, &overdue);
	if (!put_text(&n, state, &text))
		o = drill_note_json(&n);
	if (o) {
		add_text(o, "state", names[state]);
		add_text(o, "text", (char *)text.data);
		add_bool(o, "well", state != FAILED && !overdue);
		if (n.success_s)
			add_i64(o, "age_seconds", now_s() - n.success_s);
	}
	rj_buf_free(&text);
	return o;
}

/* ---- the base ---- */

enum kept { KEPT, EXPIRING, EXPIRED, UNKEPT, ENDED };

/* How long what the base needs is kept, by its hold or by retain of rj.conf; 0: it is not. *FOR_S:
 * for how long in all. */
static int64_t kept_until(const struct drill_note *n, const char *store, int64_t *for_s)
{
	int64_t retained = 0, until = n->until_s;
	struct rj_conf *conf = NULL;

	*for_s = n->until_s - n->hold_s;
	if (store && !rj_conf_load(store, &conf, NULL) && conf->retain_s < INT32_MAX)
		retained = (int64_t)conf->retain_s;
	rj_conf_release(conf);
	if (retained && n->place_s + retained > until) {
		until = n->place_s + retained;
		*for_s = retained;
	}
	return until;
}

static enum kept judge_base(const struct drill_note *n, int64_t until, int64_t for_s)
{
	int64_t early = for_s / 4 < EARLY_S ? for_s / 4 : EARLY_S;

	return n->ended_s	      ? ENDED
	       : !until		      ? UNKEPT
	       : now_s() >= until     ? EXPIRED
	       : now_s() >= until - early ? EXPIRING
				      : KEPT;
}

static int put_base(const struct drill_note *n, enum kept state, int64_t until,
	struct rj_buf *out)
{
	char made[96], when[96];
	int rc = rj_buf_printf(out, "%s of %s: ", n->own, ago(n->base_s, made));

	if (rc)
		return rc;
	switch (state) {
	case KEPT:
		return rj_buf_printf(out, "its log is kept until %s", rj_when_seconds(until, when));
	case EXPIRING:
		return rj_buf_printf(out, "its log is kept until %s only: make a new base",
			rj_when_seconds(until, when));
	case EXPIRED:
		return rj_buf_printf(out,
			"its log was kept until %s, and may be gone: make a new base",
			rj_when_seconds(until, when));
	case UNKEPT:
		return rj_buf_printf(out,
			"neither a hold nor retain keeps its log: make a new base, with --hold");
	case ENDED:
		break;
	}
	return rj_buf_printf(out, "its history has ended, as found at %s: %s: make a new base",
		rj_when_seconds(n->ended_s, when), n->ended_why);
}

static void add_number(struct json_object *o, const char *key, int64_t v)
{
	if (v)
		add_i64(o, key, v);
}

struct json_object *base_state(const uint8_t volume[RJ_UUID_BYTES], const char *store)
{
	static const char *const names[] = {"kept", "expiring", "expired", "unkept", "ended"};
	struct json_object *o = NULL;
	struct rj_buf text = {0};
	int64_t until, for_s;
	struct drill_note n;
	enum kept state;

	/* that the note cannot be read the state of the drill says */
	if (drill_note_load(volume, &n, NULL) || !n.own[0])
		return NULL;
	until = kept_until(&n, store, &for_s);
	state = judge_base(&n, until, for_s);
	if (!put_base(&n, state, until, &text))
		o = json_object_new_object();
	if (o) {
		add_text(o, "base", n.own);
		add_number(o, "made", n.base_s);
		add_number(o, "hold", n.hold);
		add_number(o, "kept_until", until);
		add_text(o, "state", names[state]);
		add_text(o, "text", (char *)text.data);
		add_bool(o, "well", state == KEPT);
	}
	rj_buf_free(&text);
	return o;
}
