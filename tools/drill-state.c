// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/drill-state.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "store/conf.h"
#include "util/environ.h"

#define NS_PER_S 1000000000LL

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

/* "2026-11-25 22:41:03 (3 d ago)", local time. */
static const char *ago(int64_t s, char out[96])
{
	int64_t age = now_s() - s;
	time_t t = (time_t)s;
	struct tm tm;
	size_t n = localtime_r(&t, &tm) ? strftime(out, 64, "%Y-%m-%d %H:%M:%S", &tm) : 0;

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

	json_object_object_add(o, "state", json_object_new_string("unknown"));
	json_object_object_add(o, "text", json_object_new_string(err->msg));
	json_object_object_add(o, "well", json_object_new_boolean(false));
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
		json_object_object_add(o, "state", json_object_new_string(names[state]));
		json_object_object_add(
			o, "text", json_object_new_string((char *)text.data));
		json_object_object_add(o, "well",
			json_object_new_boolean(state != FAILED && !overdue));
		if (n.success_s)
			json_object_object_add(o, "age_seconds",
				json_object_new_int64(now_s() - n.success_s));
	}
	rj_buf_free(&text);
	return o;
}
